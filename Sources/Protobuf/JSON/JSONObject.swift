/// Writes one JSON object on one line.
package struct JSONObject {
  private var text = "{"

  package init() {}

  /// Adds a member with a string value.
  package mutating func add(_ name: String, _ value: String) { add(name, raw: JSONValue.quoted(value)) }

  /// Adds a member with an integer.
  package mutating func add(_ name: String, _ value: Int) { add(name, raw: "\(value)") }

  /// Adds a member whose value is JSON already.
  package mutating func add(_ name: String, raw json: String) {
    if text.utf8.count > 1 { text += "," }
    text += "\(JSONValue.quoted(name)):\(json)"
  }

  /// The finished object.
  package var object: String { text + "}" }

  /// The finished object and a line feed.
  package var line: [UInt8] { Array("\(text)}\n".utf8) }
}
