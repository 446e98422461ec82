/// The keys of an Any's object that are needed before the rest can be read.
package struct AnyOutline {
  var count = 0
  var url: String?
  var urlOffset = 0
  /// The position of the value of `value`.
  var valuePosition: Int?
  /// The position of the value of `@value`.
  var encodedPosition: Int?

  var isEmpty: Bool { count == 0 }

  /// Scans the object at the position of `scanner`.
  mutating func read(
    _ scanner: JSONScanner, depth: Int, scratch: inout OutputBuffer
  ) throws(ReadFailure) {
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

  /// The full name in a type URL: the part after the last slash.
  package static func typeName(_ url: String) -> String {
    url.lastIndex(of: "/").map { String(url[url.index(after: $0)...]) } ?? url
  }
}
