import RPCurlPlatform
import RPCurlProtobuf
import RPCurlProtocols

/// The descriptors that generated code puts into programs and libraries: serialized, or compressed with gzip as in older Go programs.
struct EmbeddedDescriptors {
  /// The largest decompressed size of a descriptor and of a file in an archive, in bytes.
  private static let limitBytes = 64 << 20
  /// The largest length of a name.
  private static let nameLimit = 1_000

  /// The serialized set of the files that were found, each name once.
  private(set) var set: [UInt8] = []
  private var names: Set<[UInt8]> = []

  /// The bytes of a set with one file.
  static func entry(_ file: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = [0x0A]
    bytes.append(delimited: file)
    return bytes
  }

  private mutating func add(_ file: UnsafeRawBufferPointer) {
    let entry = Self.entry(Array(file))
    // Bytes that only resemble a descriptor would make the set unreadable.
    guard (try? DescriptorPool().add(SchemaBytes(entry), source: "")) != nil,
      let name = try? DescriptorSetScanner.firstName(of: file), names.insert(Array(name)).inserted
    else { return }
    set += entry
  }

  // MARK: Programs

  /// Adds the descriptors in a program, a library, or another file.
  mutating func addProgram(_ bytes: UnsafeRawBufferPointer) {
    var place = 0
    while let end = Self.endOfName(in: bytes, from: &place) {
      guard let start = Self.start(in: bytes, ofNameBefore: end),
        let count = Self.fileLength(UnsafeRawBufferPointer(rebasing: bytes[start...]))
      else { continue }
      add(UnsafeRawBufferPointer(rebasing: bytes[start..<start + count]))
      place = start + count
    }
    addCompressed(bytes)
  }

  /// The place after the next `.proto`.
  private static func endOfName(in bytes: UnsafeRawBufferPointer, from place: inout Int) -> Int? {
    let suffix = Array(".proto".utf8)
    while let found = firstIndex(of: suffix[0], in: bytes, from: place) {
      place = found + 1
      let end = found + suffix.count
      if end <= bytes.count, bytes[found..<end].elementsEqual(suffix) {
        place = end
        return end
      }
    }
    return nil
  }

  private static func firstIndex(of byte: UInt8, in bytes: UnsafeRawBufferPointer, from place: Int) -> Int? {
    guard place < bytes.count, let start = bytes.baseAddress,
      let found = memchr(start + place, Int32(byte), bytes.count - place)
    else { return nil }
    return UnsafeRawPointer(found) - start
  }

  /// The place of the tag and the length before the name of a file that ends at `end`; nil if they are not there.
  private static func start(in bytes: UnsafeRawBufferPointer, ofNameBefore end: Int) -> Int? {
    var place = end - 1
    while place >= max(end - nameLimit, 0), bytes[place] >= 0x20 { place -= 1 }
    // The last control character is the tag, or the length after it.
    for start in [place, place - 1, place - 2] where start >= 0 && bytes[start] == 0x0A {
      var (count, shift, next) = (0, 0, start + 1)
      while next < end, shift <= 7 {
        count |= Int(bytes[next] & 0x7F) << shift
        shift += 7
        next += 1
        if bytes[next - 1] < 0x80 { break }
      }
      if next + count == end { return start }
    }
    return nil
  }

  /// The length of the descriptor that bytes begin with; nil for other bytes. Other data may follow it.
  private static func fileLength(_ bytes: UnsafeRawBufferPointer) -> Int? {
    var reader = WireReader(bytes)
    var seen: Set<UInt32> = []
    var (length, count) = (0, 0)
    while !reader.isAtEnd, let tag = try? reader.tag(), let field = FileField(rawValue: tag.number) {
      guard seen.insert(tag.number).inserted || field.isRepeated else { break }
      if field.isVarint {
        guard tag.wireType == .varint, let value = try? reader.varint(), field.accepts(value) else { break }
      } else {
        guard tag.wireType == .lengthDelimited, let value = try? reader.lengthDelimited(),
          field.accepts(value)
        else { break }
        // Only an edition follows the syntax, and only that of editions.
        if field == .syntax, !value.elementsEqual("editions".utf8) { return reader.offset }
      }
      length = reader.offset
      count += 1
    }
    // More than a name.
    return count > 1 && seen.contains(FileField.name.rawValue) ? length : nil
  }

  /// Adds the descriptors of older Go programs.
  private mutating func addCompressed(_ bytes: UnsafeRawBufferPointer) {
    let magic: [UInt8] = [0x1F, 0x8B, 0x08]
    var place = 0
    while let found = Self.firstIndex(of: magic[0], in: bytes, from: place) {
      place = found + 1
      guard bytes[found...].starts(with: magic) else { continue }
      let rest = UnsafeRawBufferPointer(rebasing: bytes[found..<min(found + Self.limitBytes, bytes.count)])
      guard let file = Compression.gzip.decompressFirst(rest, limitBytes: Self.limitBytes) else { continue }
      file.withUnsafeBytes { file in
        if Self.fileLength(file) == file.count { add(file) }
      }
    }
  }

  // MARK: Python

  /// Adds the descriptors in the Python code that protoc writes.
  mutating func addPython(_ bytes: UnsafeRawBufferPointer) {
    for part in String(decoding: bytes, as: UTF8.self).split(separator: "AddSerializedFile(").dropFirst() {
      guard let file = Self.literal(part) else { continue }
      file.withUnsafeBytes { add($0) }
    }
  }

  /// The bytes of a literal, `b'…'` or `b"…"`; nil if it is something else, or does not end.
  private static func literal(_ text: Substring) -> [UInt8]? {
    var rest = text.utf8.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
    guard rest.popFirst() == UInt8(ascii: "b"), let quote = rest.popFirst() else { return nil }
    var bytes: [UInt8] = []
    while let byte = rest.popFirst() {
      if byte == quote { return bytes }
      guard byte == UInt8(ascii: "\\"), let next = rest.popFirst() else {
        bytes.append(byte)
        continue
      }
      switch next {
      case UInt8(ascii: "n"): bytes.append(0x0A)
      case UInt8(ascii: "r"): bytes.append(0x0D)
      case UInt8(ascii: "t"): bytes.append(0x09)
      case UInt8(ascii: "x"):
        guard let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else {
          return nil
        }
        bytes.append(value)
        rest = rest.dropFirst(2)
      case UInt8(ascii: "0")...UInt8(ascii: "7"):
        let digits = [next] + rest.prefix(2).prefix { (UInt8(ascii: "0")...UInt8(ascii: "7")).contains($0) }
        guard let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 8) else { return nil }
        bytes.append(value)
        rest = rest.dropFirst(digits.count - 1)
      default: bytes.append(next)
      }
    }
    return nil
  }

  // MARK: Archives

  /// Adds the descriptors in the files of a zip archive, such as a wheel of Python.
  mutating func addArchive(_ bytes: UnsafeRawBufferPointer) {
    guard let archive = ZipArchive(bytes) else { return }
    for entry in archive.entries where Self.mayHaveDescriptors(entry.name) {
      guard let contents = archive.contents(entry, limitBytes: Self.limitBytes) else { continue }
      contents.withUnsafeBytes { contents in
        if entry.name.hasSuffix(".py") { addPython(contents) } else { addProgram(contents) }
      }
    }
  }

  private static func mayHaveDescriptors(_ name: String) -> Bool {
    ["_pb2.py", ".so", ".pyd", ".dll", ".dylib", ".binpb", ".pb", ".desc", ".protoset"].contains(
      where: name.hasSuffix)
      || name.contains(".so.")
  }
}

/// The fields of a file descriptor, and what they may have: data that follows a descriptor in a program looks like none of these.
private enum FileField: UInt32 {
  case name = 1
  case package, dependency, message, enumeration, service, field, options, sourceInfo, publicDependency,
    weakDependency, syntax
  case edition = 14
  case optionDependency = 15

  var isRepeated: Bool {
    switch self {
    case .name, .package, .options, .sourceInfo, .syntax, .edition: false
    default: true
    }
  }

  var isVarint: Bool { self == .publicDependency || self == .weakDependency || self == .edition }

  func accepts(_ value: UInt64) -> Bool {
    self == .edition ? (900...999).contains(value) || (1_000...1_100).contains(value) : value < 1 << 16
  }

  func accepts(_ value: UnsafeRawBufferPointer) -> Bool {
    switch self {
    case .name, .dependency, .optionDependency: Self.isText(value)
    case .package: Self.isName(value)
    case .syntax: ["proto2", "proto3", "editions"].contains { value.elementsEqual($0.utf8) }
    case .message, .enumeration, .service, .field:
      ((try? DescriptorSetScanner.firstName(of: value)) ?? nil).map(Self.isName) ?? false
        && Self.isMessage(value)
    default: Self.isMessage(value)
    }
  }

  private static func isText(_ bytes: UnsafeRawBufferPointer) -> Bool {
    !bytes.isEmpty && bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
  }

  private static func isName(_ bytes: UnsafeRawBufferPointer) -> Bool {
    !bytes.isEmpty
      && bytes.allSatisfy { byte in
        let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        return isLetter || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "_")
          || byte == UInt8(ascii: ".")
      }
  }

  private static func isMessage(_ bytes: UnsafeRawBufferPointer) -> Bool {
    (try? DescriptorSetScanner.fields(of: bytes) { (_, _) in true }) != nil
  }
}
