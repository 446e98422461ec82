import RPCurlProtocols

/// The files of a zip archive (APPNOTE.TXT of PKWARE), stored or deflated; not those of more than 4 GB, nor encrypted ones.
struct ZipArchive {
  struct Entry {
    let name: String
    let isDeflated: Bool
    let checksum: ArraySlice<UInt8>
    let packedBytes: Int
    let size: ArraySlice<UInt8>
    fileprivate let header: Int
  }

  /// The largest comment after the directory.
  private static let commentBytes = 1 << 16
  private static let endBytes = 22
  private static let entryBytes = 46
  private static let headerBytes = 30

  private let bytes: UnsafeRawBufferPointer
  let entries: [Entry]

  /// Reads the directory; nil if there is none.
  init?(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
    let first = max(bytes.count - Self.endBytes - Self.commentBytes, 0)
    guard bytes.count >= Self.endBytes,
      let end = stride(from: bytes.count - Self.endBytes, through: first, by: -1).first(where: {
        Self.number(bytes, $0, 4) == 0x0605_4B50
      })
    else { return nil }
    var place = Self.number(bytes, end + 16, 4)
    var found: [Entry] = []
    for _ in 0..<Self.number(bytes, end + 10, 2) {
      guard place + Self.entryBytes <= bytes.count, Self.number(bytes, place, 4) == 0x0201_4B50 else {
        return nil
      }
      let nameBytes = Self.number(bytes, place + 28, 2)
      let nameEnd = place + Self.entryBytes + nameBytes
      guard nameEnd <= bytes.count else { return nil }
      let method = Self.number(bytes, place + 10, 2)
      if method == 0 || method == 8, Self.number(bytes, place + 8, 2) & 1 == 0 {
        found.append(
          Entry(
            name: String(decoding: bytes[place + Self.entryBytes..<nameEnd], as: UTF8.self),
            isDeflated: method == 8,
            checksum: Array(bytes[place + 16..<place + 20])[...],
            packedBytes: Self.number(bytes, place + 20, 4),
            size: Array(bytes[place + 24..<place + 28])[...], header: Self.number(bytes, place + 42, 4)))
      }
      place = nameEnd + Self.number(bytes, place + 30, 2) + Self.number(bytes, place + 32, 2)
    }
    entries = found
  }

  /// The contents of a file; nil if they are not there, or larger than the limit.
  func contents(_ entry: Entry, limitBytes: Int) -> [UInt8]? {
    guard entry.header + Self.headerBytes <= bytes.count else { return nil }
    let start =
      entry.header + Self.headerBytes + Self.number(bytes, entry.header + 26, 2)
      + Self.number(bytes, entry.header + 28, 2)
    guard start + entry.packedBytes <= bytes.count else { return nil }
    let packed = bytes[start..<start + entry.packedBytes]
    guard entry.isDeflated else { return Array(packed) }
    // The same with the header and the end of gzip.
    let member: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF] + packed + entry.checksum + entry.size
    return try? Compression.gzip.decompress(member, limitBytes: limitBytes)
  }

  /// A number of little-endian bytes; they must exist.
  private static func number(_ bytes: UnsafeRawBufferPointer, _ place: Int, _ count: Int) -> Int {
    (0..<count).reduce(0) { $0 | Int(bytes[place + $1]) << (8 * $1) }
  }
}
