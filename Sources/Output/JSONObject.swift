import Protobuf

/// Writes one JSON object on one line, for events that scripts read.
package struct JSONObject {
  private var text = "{"

  package init() {}

  /// Adds a member with a string value.
  package mutating func add(_ name: String, _ value: String) {
    add(name, raw: JSONValue.quoted(value))
  }

  /// Adds a member with an integer.
  package mutating func add(_ name: String, _ value: Int) {
    add(name, raw: "\(value)")
  }

  /// Adds a member with a duration in milliseconds, to the microsecond.
  package mutating func add(_ name: String, milliseconds duration: Duration) {
    let (seconds, attoseconds) = duration.components
    let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    let fraction = String(microseconds % 1000)
    let zeros = String(repeating: "0", count: 3 - fraction.count)
    add(name, raw: "\(microseconds / 1000).\(zeros)\(fraction)")
  }

  /// Adds a member whose value is JSON already.
  package mutating func add(_ name: String, raw json: String) {
    if text.utf8.count > 1 { text += "," }
    text += "\(JSONValue.quoted(name)):\(json)"
  }

  /// The finished object and a line feed.
  package consuming func line() -> [UInt8] {
    text += "}\n"
    return Array(text.utf8)
  }

  /// The finished object.
  package consuming func object() -> String {
    text + "}"
  }
}
