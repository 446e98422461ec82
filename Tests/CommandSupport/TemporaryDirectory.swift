import RPCurlPlatform

/// A directory that exists as long as this object.
public final class TemporaryDirectory: Sendable {
  /// The path, without a final slash.
  public let path: String

  /// Creates a directory in `/tmp`; returns nil if that fails.
  public init?() {
    var template = Array("/tmp/rpcurl-test.XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { return nil }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { remove() }

  /// Removes the directory now. For a directory that no object owns at the end of the process.
  public func remove() { Self.remove(path) }

  /// Writes a file. Returns its path.
  ///
  /// - Parameters:
  ///   - name: The path below the directory.
  ///   - bytes: The contents.
  ///   - mode: The permissions, independent of the umask.
  @discardableResult
  public func write(_ name: String, _ bytes: some Sequence<UInt8>, mode: mode_t = 0o600) -> String {
    let file = "\(path)/\(name)"
    let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    let contents = Array(bytes)
    _ = RPCurlPlatform.write(descriptor, contents, contents.count)
    fchmod(descriptor, mode)
    close(descriptor)
    return file
  }

  /// Creates a directory below this one. Returns its path.
  ///
  /// - Parameter mode: The permissions, independent of the umask.
  @discardableResult
  public func makeDirectory(_ name: String, mode: mode_t = 0o700) -> String {
    let directory = "\(path)/\(name)"
    mkdir(directory, 0o700)
    chmod(directory, mode)
    return directory
  }

  /// The names in the directory, sorted.
  public var names: [String] { Self.entries(path).sorted() }

  private static func entries(_ path: String) -> [String] {
    guard let directory = opendir(path) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      // The name where it is: an entry ends with its name, before the end of the type's array.
      guard let place = MemoryLayout<dirent>.offset(of: \.d_name) else { break }
      let name = String(cString: (UnsafeRawPointer(entry) + place).assumingMemoryBound(to: CChar.self))
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  private static func remove(_ path: String) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      unlink(path)
      return
    }
    for name in entries(path) { remove("\(path)/\(name)") }
    rmdir(path)
  }
}
