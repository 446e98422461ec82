import RPCurlPlatform

/// Files as the benchmark reads and writes them: mapped, and whole.
enum Files {
  static func map(_ path: String) throws -> UnsafeRawBufferPointer {
    let descriptor = open(path, O_RDONLY)
    guard descriptor >= 0 else { throw Failure(what: "\(path) cannot be opened") }
    defer { close(descriptor) }
    var information = stat()
    fstat(descriptor, &information)
    let size = Int(information.st_size)
    guard size > 0, let start = mmap(nil, size, PROT_READ, MAP_PRIVATE, descriptor, 0), start != MAP_FAILED
    else {
      throw Failure(what: "\(path) cannot be mapped")
    }
    return UnsafeRawBufferPointer(start: start, count: size)
  }

  static func write(_ path: String, _ bytes: UnsafeRawBufferPointer) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
    guard descriptor >= 0 else { throw Failure(what: "\(path) cannot be written") }
    defer { close(descriptor) }
    var rest = bytes
    while !rest.isEmpty {
      let written = RPCurlPlatform.write(descriptor, rest.baseAddress, rest.count)
      guard written > 0 else { throw Failure(what: "\(path) cannot be written") }
      rest = UnsafeRawBufferPointer(rebasing: rest[written...])
    }
  }
}

/// A line of `/proc/self/status` in kB.
func memory(_ key: String) -> Int {
  guard let file = fopen("/proc/self/status", "r") else { return 0 }
  defer { fclose(file) }
  var line = [CChar](repeating: 0, count: 256)
  while fgets(&line, 256, file) != nil {
    let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    if text.hasPrefix(key + ":") { return Int(text.filter(\.isNumber)) ?? 0 }
  }
  return 0
}
