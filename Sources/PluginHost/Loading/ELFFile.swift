import RPCurlPlatform

/// The checks of a shared object before any of its code runs.
///
/// It parses the file, because the dynamic loader would run constructors first.
struct ELFFile {
  typealias ABIVersion = PluginFileFacts.Version

  /// The version in the ABI note; `nil` if there is no note.
  let version: ABIVersion?
  private let header: Fields

  private static let headerBytes = 64
  private static let segmentBytes = 56
  private static let loadSegment: UInt32 = 1
  private static let noteSegment: UInt32 = 4
  private static let sharedObject: UInt16 = 3
  private static let noteName = Array("rpcurl\0".utf8)
  private static let noteType: UInt32 = 1

  /// Reads and checks a file.
  init(_ file: borrowing FileReader, path: String) throws(PluginError) {
    let header = Fields(file.read(at: 0, count: Self.headerBytes))
    guard header.bytes.starts(with: [0x7f, UInt8(ascii: "E"), UInt8(ascii: "L"), UInt8(ascii: "F")]) else {
      throw .notSharedObject(path: path, reason: "not an ELF file")
    }
    guard header.bytes.count == Self.headerBytes, let machine = header.u16(18), let type = header.u16(16)
    else {
      throw .notSharedObject(path: path, reason: Self.truncated)
    }
    let (is64Bit, isLittleEndian) = (header.bytes[4] == 2, header.bytes[5] == 1)
    guard is64Bit, isLittleEndian, machine == Self.machine else {
      let name = Self.machineName(isLittleEndian ? machine : machine.byteSwapped)
      throw .otherMachine(
        path: path, found: "\(is64Bit ? "" : "32-bit ")\(isLittleEndian ? "" : "big-endian ")\(name)",
        expected: Self.machineName(Self.machine))
    }
    guard type == Self.sharedObject else {
      throw .notSharedObject(path: path, reason: "an ELF file of another kind (link it with -shared)")
    }
    guard let segments = Self.segments(file, header) else {
      throw .notSharedObject(path: path, reason: Self.truncated)
    }
    // Accessing data beyond the end of a mapped file raises SIGBUS, even in the dynamic loader.
    let sizeBytes = UInt64(clamping: FileFacts(file.descriptor)?.sizeBytes ?? 0)
    for segment in segments where segment.type == Self.loadSegment {
      let (end, isTooLarge) = segment.offset.addingReportingOverflow(segment.sizeBytes)
      guard !isTooLarge, end <= sizeBytes else { throw .notSharedObject(path: path, reason: Self.truncated) }
    }
    version = Self.findVersion(file, segments)
    self.header = header
  }

  // MARK: - Symbols

  private static let sectionBytes = 64
  private static let symbolBytes = 24
  /// STT_OBJECT, STT_COMMON and STT_TLS.
  private static let dataTypes: Set<UInt8> = [1, 5, 6]
  private static let dynamicSymbols: UInt32 = 11
  /// Larger than in any plugin; more means a damaged file.
  private static let mostTableBytes: UInt64 = 1 << 26

  /// The kind of a symbol.
  enum Symbol {
    case missing, function, data
  }

  /// Looks up a symbol that the file exports; `nil` if the file has no symbol table, as after `sstrip`.
  func symbol(_ name: String, _ file: borrowing FileReader) -> Symbol? {
    guard let offset = header.u64(40), offset > 0, header.u16(58) == UInt16(Self.sectionBytes),
      let count = header.u16(60)
    else { return nil }
    let sections = Fields(file.read(at: offset, count: Int(count) * Self.sectionBytes))
    for section in stride(from: 0, to: Int(count) * Self.sectionBytes, by: Self.sectionBytes)
    where sections.u32(section + 4) == Self.dynamicSymbols {
      guard let link = sections.u32(section + 40), link < UInt32(count),
        let symbols = table(sections, section, file),
        let names = table(sections, Int(link) * Self.sectionBytes, file)
      else { return nil }
      return Self.symbol(name, symbols, names)
    }
    return nil
  }

  private func table(_ sections: Fields, _ section: Int, _ file: borrowing FileReader) -> Fields? {
    guard let offset = sections.u64(section + 24), let size = sections.u64(section + 32),
      size <= Self.mostTableBytes
    else { return nil }
    return Fields(file.read(at: offset, count: Int(size)))
  }

  private static func symbol(_ name: String, _ symbols: Fields, _ names: Fields) -> Symbol {
    let wanted = Array(name.utf8) + [0]
    for symbol in stride(from: 0, to: symbols.bytes.count, by: symbolBytes) {
      // Section 0: used, but not defined here.
      guard let start = symbols.u32(symbol), let section = symbols.u16(symbol + 6), section != 0 else {
        continue
      }
      if names.slice(Int(start), wanted.count) == wanted[...] {
        return dataTypes.contains(symbols.bytes[symbol + 4] & 0xf) ? .data : .function
      }
    }
    return .missing
  }

  private static let truncated = "the file is truncated"

  // MARK: - Segments

  /// A segment of the file, from its program header.
  private struct Segment {
    let type: UInt32
    let offset: UInt64
    let sizeBytes: UInt64
  }

  /// Reads the program headers; `nil` if the file ends within them.
  private static func segments(_ file: borrowing FileReader, _ header: Fields) -> [Segment]? {
    guard let offset = header.u64(32), header.u16(54) == UInt16(segmentBytes), let count = header.u16(56)
    else { return [] }
    let table = Fields(file.read(at: offset, count: Int(count) * segmentBytes))
    var segments: [Segment] = []
    for segment in stride(from: 0, to: Int(count) * segmentBytes, by: segmentBytes) {
      guard let type = table.u32(segment), let offset = table.u64(segment + 8),
        let sizeBytes = table.u64(segment + 32)
      else { return nil }
      segments.append(Segment(type: type, offset: offset, sizeBytes: sizeBytes))
    }
    return segments
  }

  private static func findVersion(_ file: borrowing FileReader, _ segments: [Segment]) -> ABIVersion? {
    for segment in segments where segment.type == noteSegment && segment.sizeBytes <= 1 << 20 {
      let notes = Fields(file.read(at: segment.offset, count: Int(segment.sizeBytes)))
      if let version = version(in: notes) { return version }
    }
    return nil
  }

  private static func version(in notes: Fields) -> ABIVersion? {
    var position = 0
    while let nameBytes = notes.u32(position), let contentBytes = notes.u32(position + 4),
      let type = notes.u32(position + 8)
    {
      let name = position + 12
      let content = name + padded(nameBytes)
      if type == noteType, notes.slice(name, Int(nameBytes)) == noteName[...], contentBytes >= 12,
        let major = notes.u32(content), let minor = notes.u32(content + 4),
        let hostMinor = notes.u32(content + 8)
      {
        return ABIVersion(major: major, minor: minor, hostMinor: hostMinor)
      }
      position = content + padded(contentBytes)
    }
    return nil
  }

  /// Names and contents of notes are padded to four bytes.
  private static func padded(_ count: UInt32) -> Int { (Int(count) + 3) & ~3 }

  // MARK: - Machines

  private static var machine: UInt16 {
    #if arch(x86_64)
      62
    #elseif arch(arm64)
      183
    #elseif arch(riscv64)
      243
    #else
      0
    #endif
  }

  private static let machineNames: [UInt16: String] = [
    3: "x86", 40: "arm", 62: "x86_64", 183: "aarch64", 243: "riscv",
  ]

  private static func machineName(_ machine: UInt16) -> String {
    machineNames[machine] ?? "machine \(machine)"
  }
}

/// Reads little-endian numbers at offsets; `nil` beyond the end.
private struct Fields {
  let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  func u16(_ offset: Int) -> UInt16? { number(offset) }
  func u32(_ offset: Int) -> UInt32? { number(offset) }
  func u64(_ offset: Int) -> UInt64? { number(offset) }

  func slice(_ offset: Int, _ count: Int) -> ArraySlice<UInt8>? {
    guard offset >= 0, count >= 0, offset <= bytes.count, count <= bytes.count - offset else { return nil }
    return bytes[offset..<(offset + count)]
  }

  private func number<Number: FixedWidthInteger>(_ offset: Int) -> Number? {
    guard let slice = slice(offset, MemoryLayout<Number>.size) else { return nil }
    return slice.reversed().reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
  }
}
