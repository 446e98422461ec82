/// The byte order mark at the start of JSON data, which is skipped (RFC 8259, section 8.1).
enum ByteOrderMark {
  case none
  case utf8
  case utf16
  /// More data is needed.
  case incomplete

  /// The length of the mark of UTF-8.
  static let count = 3

  /// The mark at the start of the data; if `isLast`, no more data follows.
  init(_ bytes: some Collection<UInt8>, isLast: Bool) {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    if bytes.starts(with: mark) {
      self = .utf8
    } else if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
      self = .utf16
    } else if !isLast, mark.starts(with: bytes) || bytes.count == 1 && (bytes.first ?? 0) >= 0xFE {
      self = .incomplete
    } else {
      self = .none
    }
  }
}
