import Interception
import Protobuf
import RPCClient

/// One request message as it was given, still JSON.
struct RequestMessage {
  /// Where it was given, for errors.
  let source: String
  /// Where it starts there.
  let start: JSONPosition
  let json: [UInt8]
  let allowsUnknownFields: Bool

  /// The message in the form that the call's chain and codec want.
  func encode(for call: Call) throws(Failure) -> Payload {
    let options = JSONDecodingOptions(allowUnknownFields: allowsUnknownFields)
    do {
      return try call.encode(json: json, options: options)
    } catch {
      throw Failure(.input, source, error.moved(to: start).description, hint: error.hint)
    }
  }
}

/// Where request messages come from.
enum RequestSource {
  /// Messages that are there before the call starts.
  case messages([RequestMessage])
  /// A file, or standard input for `-`, that is read while the call runs: each message is sent when it is
  /// complete.
  case stream(path: String)
}

/// The request messages that `-d` gives.
enum RequestData {
  /// The sources of the messages for `method`, in order. Where it takes one message, that is read now, unless each
  /// message is for a call of its own.
  static func sources(
    _ arguments: [String], for method: MethodDescriptor, isBatch: Bool, allowsUnknownFields: Bool
  ) throws(Failure) -> [RequestSource] {
    guard method.clientStreaming || isBatch else {
      let messages = try messages(arguments, for: method, allowsUnknownFields: allowsUnknownFields)
      return [.messages(messages)]
    }
    var sources: [RequestSource] = []
    for argument in arguments.isEmpty ? ["@-"] : arguments {
      if argument.hasPrefix("@") {
        sources.append(.stream(path: String(argument.dropFirst())))
      } else {
        let items = try split(Array(argument.utf8), "-d")
        sources.append(
          .messages(
            items.map {
              RequestMessage(
                source: "-d", start: $0.start, json: $0.json, allowsUnknownFields: allowsUnknownFields)
            }))
      }
    }
    return sources
  }

  /// The one message for `method`; its fields are checked when it is encoded.
  private static func messages(
    _ arguments: [String], for method: MethodDescriptor, allowsUnknownFields: Bool
  ) throws(Failure) -> [RequestMessage] {
    var messages: [RequestMessage] = []
    for argument in arguments {
      let (source, text) = try read(argument)
      let items = try split(text, source)
      guard !items.isEmpty else {
        throw Failure(
          .input, source, "the data is empty", hint: "leave out -d to send an empty message, or write {}")
      }
      messages += items.map {
        RequestMessage(
          source: source, start: $0.start, json: $0.json, allowsUnknownFields: allowsUnknownFields)
      }
    }
    if messages.count > 1 {
      let second = messages[1]
      let place = "line \(second.start.line), column \(second.start.column)"
      throw Failure(
        .input, second.source, "a second message (\(place)), but \(method.name) takes one message")
    }
    guard messages.isEmpty else { return messages }
    let empty = Array("{}".utf8)
    return [RequestMessage(source: "-d", start: JSONPosition(), json: empty, allowsUnknownFields: false)]
  }

  /// The JSON values that follow each other in `text`.
  private static func split(_ text: [UInt8], _ source: String) throws(Failure) -> [JSONValueReader.Item] {
    var reader = JSONValueReader()
    reader.append(text)
    reader.finish()
    var items: [JSONValueReader.Item] = []
    do {
      while let item = try reader.next() { items.append(item) }
    } catch {
      throw Failure(.input, source, error.description, hint: error.hint)
    }
    return items
  }

  private static func read(_ argument: String) throws(Failure) -> (source: String, text: [UInt8]) {
    guard argument.hasPrefix("@") else { return ("-d", Array(argument.utf8)) }
    let path = String(argument.dropFirst())
    do {
      return (path == "-" ? "standard input" : path, try FileContents.read(path))
    } catch {
      throw Failure(.input, path == "-" ? "standard input" : path, error.why)
    }
  }
}
