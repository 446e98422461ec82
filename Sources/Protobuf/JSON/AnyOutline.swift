/// The keys of an Any's object that must be known before the rest can be read.
struct AnyOutline {
  var count = 0
  var url: String?
  var urlOffset = 0
  /// Where the value of `value` starts.
  var valuePosition: Int?
  /// Where the value of `@value` starts.
  var encodedPosition: Int?

  var isEmpty: Bool { count == 0 }

  /// Walks over the object at which `scanner` stands.
  mutating func read(
    _ scanner: JSONScanner, depth: Int, scratch: inout OutputBuffer
  ) throws(JSONFailure) {
    var scanner = scanner
    try scanner.openObject()
    while try scanner.nextKey(after: count) {
      count += 1
      let keyOffset = scanner.position
      let key = try scanner.string(scratch: &scratch)
      let isType = key.elementsEqual("@type".utf8)
      let isValue = key.elementsEqual("value".utf8)
      let isEncoded = key.elementsEqual("@value".utf8)
      try scanner.expectColon()
      scanner.skipSpace()
      if isType {
        guard url == nil else { throw scanner.failure(.duplicateKey("@type"), at: keyOffset) }
        urlOffset = scanner.position
        url = String(decoding: try scanner.string(scratch: &scratch), as: UTF8.self)
        continue
      }
      if isValue { valuePosition = scanner.position }
      if isEncoded { encodedPosition = scanner.position }
      try scanner.skipValue(depth: depth + 1, scratch: &scratch)
    }
  }

  /// The full name in a type URL: what follows the last slash.
  static func typeName(_ url: String) -> String {
    url.lastIndex(of: "/").map { String(url[url.index(after: $0)...]) } ?? url
  }
}
