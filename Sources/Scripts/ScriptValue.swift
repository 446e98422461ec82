import RPCurlBase
import RPCurlChain
import RPCurlProtobuf
import RPCurlProtocols

/// The lines that a script receives of a call.
struct ScriptValue {
  /// The number of the call.
  let call: Int
  /// What the first line says about it.
  let facts: JSONObject
  /// What is masked.
  var redaction: Redaction

  /// The first line of all: what this program is.
  static func greeting(_ name: String) -> [UInt8] {
    var line = JSONObject()
    line.add("rpcurl", ScriptHello.version)
    line.add("name", name)
    return line.finish()
  }

  /// The line of a value.
  ///
  /// - Parameters:
  ///   - value: The number of the value.
  ///   - attributes: The attributes of the call, for the first line of it; nil for later ones.
  /// - Throws: An error if a message cannot be written as JSON.
  mutating func line(
    _ stage: Stage, _ value: Int, _ event: CallEvent<MessageValue>, attributes: CallAttributes?
  ) throws -> [UInt8] {
    var line = head(stage.description, value, attributes)
    switch redaction.event(event) {
    case .requestStart(let start):
      line.add("headers", start.headers)
      if let deadline = start.deadline { line.add("timeout_ms", milliseconds: max(.zero, deadline - .now)) }
    case .requestMessage(let message), .responseMessage(let message): try add(message, to: &line)
    case .requestEnd: break
    case .responseStart(let start): line.add(start)
    case .responseEnd(let end): line.add(end)
    case .metrics(let metrics): line.add(metrics)
    }
    return line.finish()
  }

  /// The line of what has no value.
  func line(_ observation: Observation, attributes: CallAttributes?) -> [UInt8] {
    var line = head(observation.stage.description, nil, attributes)
    line.add(observation)
    return line.finish()
  }

  /// The line of the end of the call.
  func finish(_ outcome: Outcome, attributes: CallAttributes?) -> [UInt8] {
    var line = head("finish", nil, attributes)
    line.add(redaction.end(outcome.end))
    return line.finish()
  }

  /// The line of the response to a call of the script.
  ///
  /// - Parameters:
  ///   - id: The script's number of it.
  ///   - body: The member of the message, with its JSON; nil if the call failed.
  func called(_ id: Int, _ response: SubrequestResponse, body: (name: String, json: [UInt8])?) -> [UInt8] {
    var line = head("called", nil)
    line.add("id", id)
    line.add("headers", redaction.headers(response.headers))
    if let body { line.add(body.name, raw: body.json) }
    var status = JSONObject()
    status.add(redaction.end(response.end))
    line.add("status", raw: status.object)
    return line.finish()
  }

  /// The line of the reply of a person.
  func asked(_ id: Int, _ reply: String?) -> [UInt8] {
    var line = head("asked", nil)
    line.add("id", id)
    line.add("reply", raw: reply.map { JSONValue.quoted($0) } ?? "null")
    return line.finish()
  }

  /// - Parameters:
  ///   - value: The number of the value; nil for what needs no reply.
  ///   - attributes: The attributes of the call, for the first line of it; nil for later ones.
  private func head(_ stage: String, _ value: Int?, _ attributes: CallAttributes? = nil) -> JSONObject {
    var line = JSONObject()
    line.add("stage", stage)
    line.add("call", call)
    if let value { line.add("value", value) }
    if let attributes {
      line.add(membersOf: facts)
      line.add(attributes: redaction.attributes(attributes))
    }
    return line
  }

  private func add(_ message: MessageValue, to line: inout JSONObject) throws {
    switch message.content {
    case .typed(let message)?: line.add("message", raw: try redaction.message(message).json())
    case .bytes(let bytes)?: line.add("bytes", base64: bytes)
    case nil: break
    }
  }
}

/// The facts of calls as members of a line. Most calls of a run have those of the call before, which are kept.
struct ScriptFacts {
  private var last: CallFacts?
  private var members = JSONObject()

  /// The facts of a call.
  mutating func members(of facts: CallFacts) -> JSONObject {
    if let last, last.reads(as: facts) { return members }
    var line = JSONObject()
    line.add("method", facts.method.description)
    line.add("kind", facts.kind.rawValue)
    line.add("protocol", facts.protocolName.rawValue)
    line.add("codec", facts.codec.rawValue)
    line.add("target", facts.target.withoutUserInfo)
    line.add("attempt", facts.attempt)
    if !facts.isOpaque, let request = facts.requestType, let response = facts.responseType {
      line.add("request_type", request.name)
      line.add("response_type", response.name)
    }
    if facts.isSubrequest { line.add("subrequest", raw: "true") }
    (last, members) = (facts, line)
    return line
  }
}

extension CallFacts {
  /// Whether a script reads the same of both.
  fileprivate func reads(as other: CallFacts) -> Bool {
    method == other.method && kind == other.kind && protocolName == other.protocolName && codec == other.codec
      && target == other.target && attempt == other.attempt && isOpaque == other.isOpaque
      && requestType?.name == other.requestType?.name && responseType?.name == other.responseType?.name
      && isSubrequest == other.isSubrequest
  }
}
