/// The wire format of proto1's MessageSet: each extension is a group of a type number and a message.
enum MessageSet {
  static let itemStart = Tag(1, .startGroup)
  static let itemEnd = Tag(1, .endGroup)
  static let typeID = Tag(2, .varint)
  static let message = Tag(3, .lengthDelimited)

  /// Reads the content of an item; nil if a part is missing. The first number and message count, as in Google's
  /// libraries.
  static func item(_ reader: WireReader, depth: Int) throws(DecodeError) -> (
    number: UInt32, content: WireReader
  )? {
    var reader = reader
    var number: UInt32?
    var content: WireReader?
    while !reader.isAtEnd {
      let tag = try reader.tag()
      switch tag {
      case typeID where number == nil: number = UInt32(truncatingIfNeeded: try reader.varint())
      case message where content == nil: content = try reader.nested()
      default: try reader.skip(tag, depth: depth)
      }
    }
    guard let number, let content else { return nil }
    return (number, content)
  }
}
