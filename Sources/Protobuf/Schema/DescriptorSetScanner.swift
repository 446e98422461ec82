/// Parses the outlines of serialized descriptors, before any is unpacked.
package enum DescriptorSetScanner {
  package struct Malformed: Error {
    package let what: String
  }

  // MARK: Outlines

  /// What files are found by.
  struct Marks {
    /// The hash of the name.
    let name: UInt32
    let package: UInt32
  }

  /// A number for a package, of its length and its last eight bytes: few packages have the same
  /// unless they are made so.
  @inline(__always)
  static func mark(ofPackage package: UnsafeRawBufferPointer) -> UInt32 {
    guard let start = package.baseAddress, !package.isEmpty else { return mark(word: 0, count: 0) }
    return mark(word: lastWord(start, count: package.count), count: package.count)
  }

  @inline(__always)
  private static func lastWord(_ start: UnsafeRawPointer, count: Int) -> UInt64 {
    _fastPath(count >= 8)
      ? start.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
      : Words.load(start, count: count, fill: 0x2020_2020_2020_2020)
  }

  @inline(__always)
  private static func mark(word: UInt64, count: Int) -> UInt32 {
    UInt32(truncatingIfNeeded: ((word ^ UInt64(truncatingIfNeeded: count)) &* 0x9e37_79b9_7f4a_7c15) &>> 32)
  }

  /// Calls `body` with each file of a FileDescriptorSet.
  @inline(__always)
  static func files(
    of set: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer, Marks) -> Void
  ) throws(Malformed) {
    var reader = WireReader(set)
    guard try nextFile(reader) != nil else { throw Malformed(what: "it contains no files") }
    while true {
      let file: UnsafeRawBufferPointer
      if let next = reader.shortField(1) {
        file = next
      } else {
        // By value, so that the reader above stays in registers.
        guard let next = try nextFile(reader) else { return }
        (file, reader) = next
      }
      if let marks = plainMarks(of: file) {
        body(file, marks)
      } else {
        body(file, try marks(of: file, in: set))
      }
    }
  }

  /// The next file of a FileDescriptorSet, and the reader behind it.
  @inline(never)
  private static func nextFile(
    _ reader: WireReader
  ) throws(Malformed) -> (file: UnsafeRawBufferPointer, reader: WireReader)? {
    var reader = reader
    do throws(DecodeError) {
      while !reader.isAtEnd {
        let tag = try reader.tag()
        if tag == Tag(1, .lengthDelimited) { return (try reader.lengthDelimited(), reader) }
        try reader.skip(tag, depth: 0)
      }
    } catch {
      throw Malformed(what: error.description)
    }
    return nil
  }

  /// The marks of a file that begins with name and package, as nearly every one does, both short and of ASCII.
  @inline(__always)
  private static func plainMarks(of file: UnsafeRawBufferPointer) -> Marks? {
    guard file.count >= 4, let start = file.baseAddress else { return nil }
    // Tag and length in one number; the length is from 1 to 127.
    let nameHead = UInt16(bigEndian: start.loadUnaligned(as: UInt16.self)) &- 0x0a01
    let nameCount = Int(nameHead) &+ 1
    guard nameHead < 0x7f, file.count >= nameCount &+ 4 else { return nil }
    let packageHead =
      UInt16(bigEndian: start.loadUnaligned(fromByteOffset: nameCount &+ 2, as: UInt16.self)) &- 0x1201
    let packageCount = Int(packageHead) &+ 1
    guard packageHead < 0x7f, file.count >= nameCount &+ packageCount &+ 4 else { return nil }
    var check = PlainCheck()
    let name = NameTable.hash(UnsafeRawBufferPointer(start: start + 2, count: nameCount)) { check.add($0) }
    let package = start + (nameCount &+ 4)
    let word = lastWord(package, count: packageCount)
    if _fastPath(packageCount >= 16) {
      let last = package + (packageCount &- 16)
      var position = package
      while position < last {
        check.add(position.loadUnaligned(as: SIMD16<UInt8>.self))
        position += 16
      }
      check.add(last.loadUnaligned(as: SIMD16<UInt8>.self))
    } else {
      if packageCount >= 8 { check.add(package.loadUnaligned(as: UInt64.self)) }
      check.add(word)
    }
    guard check.isPlain else { return nil }
    return Marks(name: NameTable.fold(name), package: mark(word: word, count: packageCount))
  }

  /// Checks that no byte is a control character or not ASCII.
  private struct PlainCheck {
    /// The greatest distances from a space: 0x5e for `~`, more for what is not plain.
    private var greatest = SIMD16<UInt8>()
    /// The highest bit of a byte is set where one was not plain, and perhaps in those above.
    private var marks: UInt64 = 0

    @inline(__always)
    init() {}

    @inline(__always)
    mutating func add(_ bytes: SIMD16<UInt8>) {
      let distances = bytes &- SIMD16(repeating: 0x20)
      greatest.replace(with: distances, where: distances .> greatest)
    }

    @inline(__always)
    mutating func add(_ word: UInt64) {
      marks |= word | (word &- 0x2020_2020_2020_2020) | (word &+ 0x0101_0101_0101_0101)
    }

    @inline(__always)
    var isPlain: Bool {
      let words = unsafeBitCast(greatest | (greatest &+ SIMD16(repeating: 0x21)), to: SIMD2<UInt64>.self)
      return (words[0] | words[1] | marks) & 0x8080_8080_8080_8080 == 0
    }
  }

  /// The marks of any file of a set.
  @inline(never)
  static func marks(
    of file: UnsafeRawBufferPointer, in set: UnsafeRawBufferPointer
  ) throws(Malformed) -> Marks {
    let (name, package) = try nameAndPackage(of: file)
    guard let name, !name.isEmpty else {
      throw Malformed(what: "its file \(try number(of: file, in: set)) has no name")
    }
    guard isText(name) else {
      let number = try number(of: file, in: set)
      throw Malformed(what: "the name of its file \(number) contains control characters or is not UTF-8")
    }
    guard package.map({ $0.isEmpty || isText($0) }) ?? true else {
      throw Malformed(what: "its file \(try number(of: file, in: set)) has an invalid package name")
    }
    return Marks(
      name: NameTable.fold(NameTable.hash(name)),
      package: mark(ofPackage: package ?? UnsafeRawBufferPointer(start: nil, count: 0)))
  }

  /// The number of a file among those of a set, from 1 on.
  private static func number(
    of file: UnsafeRawBufferPointer, in set: UnsafeRawBufferPointer
  ) throws(Malformed) -> Int {
    var reader = WireReader(set)
    var number = 0
    while let next = try nextFile(reader) {
      number += 1
      if next.file.baseAddress == file.baseAddress { break }
      reader = next.reader
    }
    return number
  }

  /// A file that has marks.
  static func knownFile(_ bytes: UnsafeRawBufferPointer, source: Int) -> SchemaIndex.File {
    let none = UnsafeRawBufferPointer(start: bytes.baseAddress, count: 0)
    let found = try? nameAndPackage(of: bytes)
    return SchemaIndex.File(
      source: source, bytes: bytes, name: found?.name ?? none, package: found?.package ?? none)
  }

  private static func nameAndPackage(
    of file: UnsafeRawBufferPointer
  ) throws(Malformed) -> (name: UnsafeRawBufferPointer?, package: UnsafeRawBufferPointer?) {
    var reader = WireReader(file)
    if let name = reader.shortField(1), let package = reader.shortField(2) { return (name, package) }
    var name: UnsafeRawBufferPointer?
    var package: UnsafeRawBufferPointer?
    try fields(of: file) { (tag, value) throws(Malformed) in
      switch tag {
      case Tag(1, .lengthDelimited): name = value
      case Tag(2, .lengthDelimited): package = value
      default: break
      }
      return name == nil || package == nil
    }
    return (name, package)
  }

  /// The top-level declarations of a file.
  static func symbols(
    of file: SchemaIndex.File, number: Int, _ body: (SchemaIndex.Symbol) -> Void
  ) throws(Malformed) {
    try fields(of: file.bytes) { (tag, value) throws(Malformed) in
      guard tag.wireType == .lengthDelimited,
        let kind = SchemaIndex.Kind(rawValue: UInt8(truncatingIfNeeded: tag.number)), tag.number < 8
      else { return true }
      if let name = try firstName(of: value) {
        body(SchemaIndex.Symbol(file: number, kind: kind, name: name, bytes: value))
      }
      return true
    }
  }

  /// The part of an extension that is needed to find it.
  struct Extension {
    let fullName: String
    /// The names of the messages around the declaration, from the outermost.
    let scope: [String]
    let extendee: String
    let number: UInt32
  }

  /// All extensions in a file, at the top level or within messages.
  static func extensions(of file: SchemaIndex.File) throws(Malformed) -> [Extension] {
    var found: [Extension] = []
    let package = String(decoding: file.package, as: UTF8.self)
    try collectExtensions(
      in: file.bytes, extensionField: 7, messageField: 4, prefix: package, scope: [], into: &found)
    return found
  }

  private static func collectExtensions(
    in bytes: UnsafeRawBufferPointer, extensionField: UInt32, messageField: UInt32, prefix: String,
    scope: [String], into found: inout [Extension]
  ) throws(Malformed) {
    guard scope.count < nestingLimit else { return }
    try fields(of: bytes) { (tag, value) throws(Malformed) in
      guard tag.wireType == .lengthDelimited else { return true }
      if tag.number == extensionField {
        var name = ""
        var extendee = ""
        var number: UInt32 = 0
        try fields(of: value, varint: { if $0 == 3 { number = UInt32(truncatingIfNeeded: $1) } }) {
          (tag, value) throws(Malformed) in
          if tag.number == 1 { name = String(decoding: value, as: UTF8.self) }
          if tag.number == 2 { extendee = String(decoding: value, as: UTF8.self) }
          return true
        }
        found.append(
          Extension(
            fullName: prefix.isEmpty ? name : prefix + "." + name, scope: scope,
            extendee: extendee.hasPrefix(".") ? String(extendee.dropFirst()) : extendee, number: number))
      } else if tag.number == messageField, try contains(value, extensionsIn: scope.count) {
        guard let nameBytes = try firstName(of: value) else { return true }
        let name = String(decoding: nameBytes, as: UTF8.self)
        try collectExtensions(
          in: value, extensionField: 6, messageField: 3, prefix: prefix.isEmpty ? name : prefix + "." + name,
          scope: scope + [name], into: &found)
      }
      return true
    }
  }

  /// Whether a message declares extensions, or nested messages, which may declare some.
  private static func contains(
    _ message: UnsafeRawBufferPointer, extensionsIn depth: Int
  ) throws(Malformed) -> Bool {
    var found = false
    try fields(of: message) { (tag, _) throws(Malformed) in
      found = tag.number == 6 || tag.number == 3
      return !found
    }
    return found
  }

  /// The nesting depth of messages in a file: protobuf-c recurses without a limit.
  ///
  /// Rejects messages without a name: a file could contain very many of them, and protobuf-c makes each a
  /// hundred times larger.
  static func nesting(ofFile bytes: UnsafeRawBufferPointer) throws(Malformed) -> Int {
    try nesting(of: bytes, messageField: 4, depth: 0)
  }

  private static func nesting(
    of bytes: UnsafeRawBufferPointer, messageField: UInt32, depth: Int
  ) throws(Malformed) -> Int {
    guard depth <= nestingLimit else { return depth }
    var deepest = depth
    try fields(of: bytes) { (tag, value) throws(Malformed) in
      if tag == Tag(messageField, .lengthDelimited) {
        guard try firstName(of: value)?.isEmpty == false else {
          throw Malformed(what: "a message without a name")
        }
        deepest = max(deepest, try nesting(of: value, messageField: 3, depth: depth + 1))
      }
      return deepest <= nestingLimit
    }
    return deepest
  }

  /// The file names that a file imports.
  package static func dependencies(of file: UnsafeRawBufferPointer) throws(Malformed)
    -> [UnsafeRawBufferPointer]
  {
    var found: [UnsafeRawBufferPointer] = []
    try fields(of: file) { (tag, value) throws(Malformed) in
      if tag == Tag(3, .lengthDelimited) { found.append(value) }
      return true
    }
    return found
  }

  // MARK: Scanning

  package static func firstName(of bytes: UnsafeRawBufferPointer) throws(Malformed) -> UnsafeRawBufferPointer?
  {
    var name: UnsafeRawBufferPointer?
    try fields(of: bytes) { (tag, value) throws(Malformed) in
      if tag == Tag(1, .lengthDelimited) { name = value }
      return name == nil
    }
    return name
  }

  /// Whether a message is the entry type of a map, according to its options.
  package static func isMapEntry(_ message: UnsafeRawBufferPointer) throws(Malformed) -> Bool {
    var found = false
    try fields(of: message) { (tag, options) throws(Malformed) in
      guard tag == Tag(7, .lengthDelimited) else { return true }
      try fields(of: options, varint: { if $0 == 7 { found = $1 != 0 } }) { (_, _) in true }
      return true
    }
    return found
  }

  /// Calls `body` for each field, with the bytes of length-delimited ones, until it returns false.
  package static func fields(
    of bytes: UnsafeRawBufferPointer, varint: (UInt32, UInt64) -> Void = { _, _ in },
    _ body: (Tag, UnsafeRawBufferPointer) throws(Malformed) -> Bool
  ) throws(Malformed) {
    var reader = WireReader(bytes)
    while !reader.isAtEnd {
      let tag: Tag
      var value = UnsafeRawBufferPointer(start: nil, count: 0)
      do throws(DecodeError) {
        tag = try reader.tag()
        switch tag.wireType {
        case .lengthDelimited: value = try reader.lengthDelimited()
        case .varint: varint(tag.number, try reader.varint())
        default: try reader.skip(tag, depth: 0)
        }
      } catch {
        throw Malformed(what: error.description)
      }
      guard try body(tag, value) else { return }
    }
  }

  private static func isText(_ bytes: UnsafeRawBufferPointer) -> Bool {
    bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7f } && UTF8Validation.isValid(bytes)
  }

  // MARK: Detection of other formats

  /// The probable format of bytes that are not a descriptor set; nil if unknown.
  static func guess(_ bytes: UnsafeRawBufferPointer) -> String? {
    let head = bytes.prefix(4096)
    for (magic, what) in magics where head.starts(with: magic) { return what }
    let isText = head.allSatisfy { $0 >= 0x20 && $0 != 0x7f || (9...13).contains($0) }
    guard isText else { return nil }
    let start = head.first { $0 > 0x20 }
    if start == UInt8(ascii: "{") || start == UInt8(ascii: "[") { return "this is JSON" }
    let text = String(decoding: head, as: UTF8.self)
    for line in text.split(whereSeparator: \.isNewline).prefix(100) {
      let word = line.split(separator: " ").first ?? ""
      if ["syntax", "edition", "package", "import", "message", "service"].contains(word) {
        return "this is a .proto source file"
      }
      if word == "file" || word == "file:" || word == "file{" {
        return "this is a descriptor set in text form"
      }
    }
    return "this is text"
  }

  private static let magics: [([UInt8], String)] = [
    ([0x1f, 0x8b], "this is gzip-compressed; decompress it first"),
    ([0x28, 0xb5, 0x2f, 0xfd], "this is zstd-compressed; decompress it first"),
    ([0xfd, 0x37, 0x7a, 0x58, 0x5a], "this is xz-compressed; decompress it first"),
    ([0x7f, 0x45, 0x4c, 0x46], "this is an ELF file"),
    ([0x50, 0x4b, 0x03, 0x04], "this is a zip file"),
  ]
}
