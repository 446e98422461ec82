import Protobuf
import RPCProtocols

/// Writes one JSON object on one line.
struct LineObject {
  private var text = "{"

  /// Adds a member with a string.
  mutating func add(_ name: String, _ value: String) { add(name, raw: JSONValue.quoted(value)) }

  /// Adds a member with a whole number.
  mutating func add(_ name: String, _ value: Int) { add(name, raw: "\(value)") }

  /// Adds a member with metadata: a list of `[name, value]`, with secrets redacted.
  mutating func add(_ name: String, _ headers: Headers, _ redaction: Redaction) {
    let pairs = headers.fields.map {
      "[\(JSONValue.quoted($0.name)),\(JSONValue.quoted(redaction.value(of: $0)))]"
    }
    add(name, raw: "[\(pairs.joined(separator: ","))]")
  }

  /// Adds the details of a status.
  mutating func add(_ name: String, _ details: [StatusDetail]) {
    let objects = details.map { detail in
      var object = LineObject()
      object.add("type", detail.typeName)
      object.add("value", Base64.encode(detail.value))
      return object.object
    }
    add(name, raw: "[\(objects.joined(separator: ","))]")
  }

  /// Adds a member whose value is JSON already.
  mutating func add(_ name: String, raw json: String) {
    if text.utf8.count > 1 { text += "," }
    text += "\(JSONValue.quoted(name)):\(json)"
  }

  /// The finished object.
  var object: String { text + "}" }

  /// The finished object and a line feed.
  var line: [UInt8] { Array("\(text)}\n".utf8) }
}
