/// Writes one JSON object on one line.
package struct JSONObject {
  private var text: [UInt8] = [UInt8(ascii: "{")]

  package init() {}

  /// Adds a member with a string value.
  package mutating func add(_ name: String, _ value: String) {
    addName(name)
    appendQuoted(value)
  }

  /// Adds a member with an integer.
  package mutating func add(_ name: String, _ value: Int) { add(name, raw: "\(value)") }

  /// Adds a member whose value is JSON already.
  package mutating func add(_ name: String, raw json: String) {
    addName(name)
    text.append(contentsOf: json.utf8)
  }

  /// Adds a member whose value is JSON already.
  package mutating func add(_ name: String, raw json: [UInt8]) {
    addName(name)
    text.append(contentsOf: json)
  }

  /// Adds a member whose value is the base64 of bytes.
  package mutating func add(_ name: String, base64 bytes: [UInt8]) {
    addName(name)
    text.append(UInt8(ascii: "\""))
    Base64.append(bytes, to: &text)
    text.append(UInt8(ascii: "\""))
  }

  /// Adds the members of another object.
  package mutating func add(membersOf other: JSONObject) {
    guard other.text.count > 1 else { return }
    if text.count > 1 { text.append(UInt8(ascii: ",")) }
    text.append(contentsOf: other.text[1...])
  }

  /// Makes room for more bytes, so that large values are copied once.
  package mutating func reserve(_ bytes: Int) { text.reserveCapacity(text.count + bytes) }

  private mutating func addName(_ name: String) {
    if text.count > 1 { text.append(UInt8(ascii: ",")) }
    appendQuoted(name)
    text.append(UInt8(ascii: ":"))
  }

  private mutating func appendQuoted(_ value: String) {
    var value = value
    // Almost all names and values are written as they are.
    let isPlain = value.withUTF8 { bytes in
      for byte in bytes where byte < 0x20 || byte > 0x7E || byte == 0x22 || byte == 0x5C { return false }
      text.append(UInt8(ascii: "\""))
      text.append(contentsOf: bytes)
      text.append(UInt8(ascii: "\""))
      return true
    }
    if !isPlain { text.append(contentsOf: JSONValue.quoted(value).utf8) }
  }

  /// The finished object.
  package var object: String { String(decoding: text + [UInt8(ascii: "}")], as: UTF8.self) }

  /// The finished object and a line feed.
  package var line: [UInt8] { finish() }

  /// Ends the object; returns it and a line feed, without a copy.
  package consuming func finish() -> [UInt8] {
    text.append(UInt8(ascii: "}"))
    text.append(UInt8(ascii: "\n"))
    return text
  }
}
