import RPCurlBase
/// Reads, writes and replaces files.
package enum FileContents {
  /// Reads the file at `path`, or standard input for `-`, until its end.
  package static func read(_ path: String) throws(SystemError) -> [UInt8] {
    let descriptor = try open(path)
    defer { close(descriptor) }
    var contents: [UInt8] = []
    while true {
      let piece = try readPiece(descriptor, limitBytes: 1 << 16)
      guard !piece.isEmpty else { return contents }
      contents.append(contentsOf: piece)
    }
  }

  /// The limit for a file that an option names, in bytes; not for data and schemas.
  package static let optionLimitBytes = 16 << 20
  /// The limit for cassettes, scripts, and schemas from a pipe, in bytes.
  package static let dataLimitBytes = 256 << 20

  /// Reads the file at `path`, or standard input for `-`, until its end.
  ///
  /// Stops waiting for a pipe at SIGINT and SIGTERM.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - limitBytes: The largest accepted file.
  ///   - waitLimit: How long to wait for data from a pipe (`--max-time`); nil for no limit.
  ///   - isShared: Whether other processes may write the file, which is then read between two writes.
  /// - Throws: `SystemError` if the file cannot be read, is too large, or has no data in time.
  package static func read(
    _ path: String, limitBytes: Int, waitLimit: Duration? = nil, isShared: Bool = false
  ) throws(SystemError) -> [UInt8] {
    let file = try InputFile(path, waitLimit: waitLimit)
    if isShared { file.lock() }
    defer { file.close() }
    return try read(file, limitBytes: limitBytes)
  }

  /// Reads a file until its end.
  static func read(_ file: InputFile, limitBytes: Int) throws(SystemError) -> [UInt8] {
    var contents: [UInt8] = []
    while let piece = try file.next() {
      contents += piece
      guard contents.count <= limitBytes else {
        throw SystemError("the file is larger than \(limitBytes >> 20) MiB, the limit for such a file")
      }
    }
    return contents
  }

  /// Opens the file at `path`, or standard input for `-`, for reading.
  ///
  /// It does not wait for the writer of a pipe: before the first one, only `poll` distinguishes a pipe without data from its end.
  package static func open(_ path: String) throws(SystemError) -> Int32 {
    let descriptor = path == "-" ? 0 : RPCurlPlatform.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw .last }
    return descriptor
  }

  /// Closes a descriptor that `open` returned, except standard input.
  package static func close(_ descriptor: Int32) {
    if descriptor != 0 { RPCurlPlatform.close(descriptor) }
  }

  /// Reads the next bytes, at most `limitBytes`; returns none at the end of the file. Does not wait for those of a descriptor
  /// that does not block: that is an error.
  package static func readPiece(_ descriptor: Int32, limitBytes: Int) throws(SystemError) -> [UInt8] {
    if let piece = try readAvailable(descriptor, limitBytes: limitBytes) { return piece }
    throw SystemError(number: EAGAIN)
  }

  /// Whether a path names a regular file, or a link to one.
  package static func isRegularFile(_ path: String) -> Bool { FileFacts(path)?.isRegular == true }

  /// The number of bytes that a regular file has from the present place on; nil for other files.
  package static func remainingBytes(_ descriptor: Int32) -> Int? {
    guard let file = FileFacts(descriptor), file.isRegular else { return nil }
    return max(file.sizeBytes - max(lseek(descriptor, 0, SEEK_CUR), 0), 0)
  }

  /// The size of a file in bytes; zero if it is not regular.
  package static func size(_ descriptor: Int32) -> Int {
    FileFacts(descriptor).map { $0.isRegular ? $0.sizeBytes : 0 } ?? 0
  }

  /// Reads the next bytes, at most `limitBytes`; returns none at the end of the file, and nil if there are none yet.
  package static func readAvailable(_ descriptor: Int32, limitBytes: Int) throws(SystemError) -> [UInt8]? {
    while true {
      var failure: Int32 = 0
      let piece = [UInt8](unsafeUninitializedCapacity: limitBytes) { buffer, count in
        let result = RPCurlPlatform.read(descriptor, buffer.baseAddress, limitBytes)
        count = max(result, 0)
        if result < 0 { failure = errno }
      }
      switch failure {
      case 0: return piece
      case EINTR: continue
      case EAGAIN: return nil
      default: throw SystemError(number: failure)
      }
    }
  }

  /// Writes all of `bytes`. Returns nil, or why they could not be written.
  ///
  /// Waits for the reader of a pipe if the descriptor does not block; after a signal, only while the reader continues.
  ///
  /// - Parameter waitLimit: How long to wait for the reader (`--max-time`); nil for no limit.
  package static func write(
    _ bytes: [UInt8], to descriptor: Int32, waitLimit: Duration? = nil
  ) -> SystemError? {
    bytes.withUnsafeBytes { write($0, to: descriptor, waitLimit: waitLimit) }
  }

  /// Writes all of `bytes`, as the function for an array does.
  package static func write(
    _ bytes: UnsafeRawBufferPointer, to descriptor: Int32, waitLimit: Duration? = nil
  ) -> SystemError? {
    var rest = bytes[...]
    // A file is written without a look at the clock.
    var deadline: MonotonicClock.Instant?
    while !rest.isEmpty {
      let count = RPCurlPlatform.write(
        descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        deadline = deadline ?? waitLimit.map { .now + $0 }
        if let problem = waitUntilWritable(descriptor, until: deadline) { return problem }
      } else if errno != EINTR {
        return .last
      }
    }
    return nil
  }

  /// Waits until a write would accept bytes or fail. Returns nil, or why that takes too long: 200 ms after a signal, or longer
  /// than until the deadline.
  private static func waitUntilWritable(
    _ descriptor: Int32, until deadline: MonotonicClock.Instant?
  ) -> SystemError? {
    while true {
      let isEnding = Interrupt.isPending
      if let deadline, deadline <= .now { return SystemError("its reader took longer than --max-time") }
      var waits = [
        pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0),
        pollfd(fd: isEnding ? -1 : Interrupt.descriptor, events: Int16(POLLIN), revents: 0),
      ]
      let count = poll(&waits, nfds_t(waits.count), isEnding ? 200 : deadline?.pollMilliseconds ?? -1)
      if waits[0].revents != 0 { return nil }
      if isEnding, count == 0 { return SystemError(Interrupt.reason) }
    }
  }

  /// Opens the file at `path` for writing, or creates it. Waits for the reader of a pipe, until a signal arrives. The descriptor
  /// does not block. A file that another process writes is not opened, except for appending.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - mode: The permissions of a file that is created.
  ///   - isAppending: Whether to write at the end of the old content, instead of removing it.
  ///   - waitLimit: How long to wait for the reader (`--max-time`); nil for no limit.
  /// - Throws: `SystemError` if the file cannot be opened, another process writes it, or it has no reader in time.
  package static func openForWriting(
    _ path: String, mode: mode_t, isAppending: Bool = false, waitLimit: Duration?
  ) throws(SystemError) -> Int32 {
    let deadline = waitLimit.map { MonotonicClock.now + $0 }
    let flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (isAppending ? O_APPEND : 0)
    while true {
      let descriptor = RPCurlPlatform.open(path, flags, mode)
      if descriptor >= 0 {
        reportSizeLimit()
        if !isAppending, remainingBytes(descriptor) != nil, let problem = problemOfClearing(descriptor) {
          _ = closeWriter(descriptor)
          throw problem
        }
        return descriptor
      }
      let problem = SystemError.last
      guard errno == ENXIO, FileFacts(path)?.kind == .pipe else { throw problem }
      // Nothing reports that a pipe has got a reader.
      if let deadline, deadline <= .now { throw SystemError("the pipe got no reader within --max-time") }
      var wait = pollfd(fd: Interrupt.descriptor, events: Int16(POLLIN), revents: 0)
      poll(&wait, 1, min(20, deadline?.pollMilliseconds ?? 20))
      if Interrupt.isPending { throw SystemError(Interrupt.reason) }
    }
  }

  /// Closes a descriptor that `openForWriting` has returned, without its locks: a child process that is about to start another program
  /// has a copy of it. Returns nil, or why that failed.
  package static func closeWriter(_ descriptor: Int32) -> SystemError? {
    FileLock.release(descriptor)
    return RPCurlPlatform.close(descriptor) == 0 ? nil : .last
  }

  /// Whether writing a file in place removes what is read from another path, or from standard input for `-`.
  package static func isInput(_ path: String, of input: String) -> Bool {
    guard let written = FileFacts(path), written.isRegular else { return false }
    if input == "-" { return StandardStreams.contain(written, among: 0...0) }
    return FileFacts(input)?.identity == written.identity
  }

  /// Removes the content of a regular file that is written in place. Returns nil, or why it is still there.
  private static func problemOfClearing(_ descriptor: Int32) -> SystemError? {
    guard FileLock.registerWriter(descriptor) else { return SystemError("another process writes the file") }
    return ftruncate(descriptor, 0) == 0 ? nil : .last
  }

  /// Makes a write past the limit of the size of files (`ulimit -f`) an error, as one to a full disk. Its signal would otherwise end the
  /// process, and the file would end within a line. Programs that this one starts have the signal as before.
  static func reportSizeLimit() { _ = handlesSizeLimit }

  private static let handlesSizeLimit: Bool = {
    var action = sigaction()
    guard sigaction(SIGXFSZ, nil, &action) == 0,
      unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
        == unsafeBitCast(SIG_DFL, to: Int.self)
    else { return false }
    action = sigaction()
    action.__sigaction_handler.sa_handler = { _ in }
    return sigaction(SIGXFSZ, &action, nil) == 0
  }()

  /// Replaces the file at `path`, or that of a symbolic link, atomically: of several processes that do so, the last one takes effect.
  /// Returns nil, or why that failed.
  ///
  /// A path that exists and is not a regular file (a pipe, a terminal), and the file of standard output or standard error, is opened
  /// and written to, as is a file in a directory that cannot be written.
  ///
  /// - Parameters:
  ///   - bytes: The new contents.
  ///   - newMode: The permissions of a file that does not exist; nil for those of a new file.
  ///   - isPrivate: Whether only the user may read the file; the mode of the replaced file does not apply then.
  ///   - waitLimit: How long to wait for the reader of a pipe (`--max-time`); nil for no limit.
  package static func replace(
    _ path: String, with bytes: [UInt8], newMode: mode_t? = 0o600, isPrivate: Bool = false,
    waitLimit: Duration? = nil
  ) -> SystemError? {
    do throws(SystemError) {
      // A new file may hold confidential data.
      if let file = try ReplacementFile.make(replacing: path, newMode: newMode, isPrivate: isPrivate) {
        return file.complete { write(bytes, to: $0) }
      }
      let descriptor = try openForWriting(path, mode: 0o600, waitLimit: waitLimit)
      let problem = write(bytes, to: descriptor, waitLimit: waitLimit)
      let problemOfClosing = closeWriter(descriptor)
      return problem ?? problemOfClosing
    } catch {
      return error
    }
  }

  /// Why a file cannot be written or created, as far as this can be found out without a change; nil if it can.
  package static func problemOfWriting(_ path: String) -> SystemError? {
    guard let file = FileFacts(path) else { return errno == ENOENT ? problemOfFolder(path) : .last }
    guard !file.isDirectory else { return SystemError(number: EISDIR) }
    return access(path, W_OK) == 0 ? nil : .last
  }

  /// Why ``replace(_:with:newMode:isPrivate:waitLimit:)`` would fail, as far as this can be found out without a change; nil if it would
  /// not.
  package static func problemOfReplacing(_ path: String) -> SystemError? {
    // Another file of its name replaces a regular one, so only the directory has to be writable.
    isRegularFile(path) && problemOfFolder(targetPath(path)) == nil ? nil : problemOfWriting(path)
  }

  /// Why no file can be created in the directory of `path`; nil if one can.
  private static func problemOfFolder(_ path: String) -> SystemError? {
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    return access(folder, W_OK | X_OK) == 0 ? nil : .last
  }

  /// The path of the file that opening `path` for writing opens or creates: the target of a symbolic link.
  package static func targetPath(_ path: String) -> String { canonicalPath(path) ?? createdPath(path) }

  /// A text that is the same for all paths of a file, also before it exists, and has no line feed.
  package static func identity(of path: String) -> String {
    let target = targetPath(path)
    let slash = target.lastIndex(of: "/")
    let folder = canonicalPath(slash.map { String(target[...$0]) } ?? ".") ?? ""
    let name = slash.map { target[target.index(after: $0)...] } ?? target[...]
    let scalars = "\(folder)/\(name)".unicodeScalars.map { $0 == "\n" ? "\0" : $0 }
    return String(String.UnicodeScalarView(scalars))
  }

  /// The path of the file that does not exist yet and that opening `path` creates: the target of a dangling link.
  package static func createdPath(_ path: String) -> String {
    var path = path
    // The limit of the kernel.
    for _ in 0..<40 {
      guard let target = target(ofLink: path) else { break }
      let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
      path = target.utf8.first == UInt8(ascii: "/") ? target : "\(folder)\(target)"
    }
    return path
  }

  /// The target of a symbolic link; nil if it cannot be read.
  package static func target(ofLink path: String) -> String? {
    let target = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
      guard let address = buffer.baseAddress else { return }
      count = address.withMemoryRebound(to: CChar.self, capacity: buffer.count) {
        max(readlink(path, $0, buffer.count), 0)
      }
    }
    return target.isEmpty ? nil : String(decoding: target, as: UTF8.self)
  }

  /// The absolute path without links; nil, and `errno` is set, if it does not exist or cannot be resolved.
  package static func canonicalPath(_ path: String) -> String? {
    guard let found = realpath(path, nil) else { return nil }
    defer { free(found) }
    return String(cString: found)
  }

  /// The working directory, without links; nil if it was removed.
  package static var workingDirectory: String? {
    guard let found = getcwd(nil, 0) else { return nil }
    defer { free(found) }
    return String(cString: found)
  }

  /// The description of `errno`.
  package static func lastError() -> String {
    SystemError.last.reason
  }
}

extension [UInt8] {
  /// The bytes of a text, without the byte order mark of UTF-8 that some editors write.
  package var withoutByteOrderMark: [UInt8] {
    starts(with: [0xEF, 0xBB, 0xBF]) ? Array(dropFirst(3)) : self
  }
}
