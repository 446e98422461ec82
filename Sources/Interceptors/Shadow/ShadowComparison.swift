import RPCurlBase
import RPCurlChain
import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtocols

/// The responses to a call and to its copy. Reports their differences when it has both.
final class ShadowComparison {
  /// A response, and its time.
  private struct Response {
    let code: StatusCode
    let text: String
    let message: [UInt8]?
    let latency: Duration
  }

  private let plan: ShadowPlan
  private let call: CallFacts
  private let context: CallContext
  private let target: String
  private let begin: MonotonicClock.Instant
  private var original: Response?
  private var copy: Response?

  /// Starts to measure.
  init(_ plan: ShadowPlan, _ call: CallFacts, _ context: CallContext, target: String) {
    self.plan = plan
    self.call = call
    self.context = context
    self.target = target
    begin = context.now
  }

  /// Receives the end of the call, or of its copy.
  func receive(_ end: ResponseEnd, _ message: [UInt8]?, isCopy: Bool) {
    let response = Response(
      code: end.code, text: end.error?.message ?? "", message: end.error == nil ? message : nil,
      latency: context.now - begin)
    if isCopy { copy = response } else { original = response }
    if let original, let copy { report(original, copy) }
  }

  private func report(_ original: Response, _ copy: Response) {
    let differences = differences(original, copy)
    let times = "\(original.latency.millisecondsText) ms, there \(copy.latency.millisecondsText) ms"
    let count = differences.count
    let counted = count == 0 ? "no difference" : "\(count) difference\(count == 1 ? "" : "s")"
    context.report(.note, "\(counted) from \(target): \(times)")
    if !differences.isEmpty {
      let shown = differences.prefix(3).map(Self.text).joined(separator: "; ")
      let more = count > 3 ? "; and \(count - 3) more" : ""
      context.log(.warning, "\(call.method) differs at \(target): \(shown)\(more)")
    }
    guard let (path, file) = plan.file else { return }
    do {
      try file.write(line(original, copy, differences))
    } catch {
      plan.failure.report { context.log(.error, "cannot write \(path): \(error.reason)") }
    }
  }

  // MARK: Differences

  private func differences(_ original: Response, _ copy: Response) -> [MessageDifference] {
    guard original.code == copy.code else {
      return [
        MessageDifference(
          path: "(status)", value: JSONValue.quoted(Self.status(original)),
          other: JSONValue.quoted(Self.status(copy)))
      ]
    }
    guard original.message != copy.message, let one = original.message, let other = copy.message else {
      return []
    }
    guard let one = parsed(one), let other = parsed(other) else {
      return [
        MessageDifference(
          path: "(bytes)", value: "\"\(one.count) bytes\"", other: "\"\(other.count) bytes\"")
      ]
    }
    return MessageDifference.all(one, other)
  }

  private static func status(_ response: Response) -> String {
    response.text.isEmpty ? response.code.name : "\(response.code.name): \(response.text)"
  }

  /// The message without the fields that are not compared; nil if it cannot be parsed.
  private func parsed(_ bytes: [UInt8]) -> Message? {
    guard let type = call.responseType else { return nil }
    let message: Message?
    switch call.codec {
    case .proto: message = try? Message(type, serialized: bytes)
    case .json:
      message = try? Message(type, json: bytes, options: JSONDecodingOptions(allowUnknownFields: true))
    }
    // A path that the schema does not have must not hide a difference.
    return message.map { message in
      plan.ignored.reduce(into: message) { message, field in field.redact(&message, clearsOpenTypes: false) }
    }
  }

  private static func text(_ difference: MessageDifference) -> String {
    "\(difference.path) is \(difference.value?.shortened ?? "absent"), there "
      + (difference.other?.shortened ?? "absent")
  }

  private func line(
    _ original: Response, _ copy: Response, _ differences: [MessageDifference]
  ) -> [UInt8] {
    let mask = context.secrets.mask
    var line = JSONObject()
    line.add("time", CivilTime.text(nanosecondsSince1970: plan.services.nanosecondsSince1970))
    line.add("method", call.method.description)
    line.add("target", call.target.withoutUserInfo)
    line.add("shadow", target)
    line.add("same", raw: differences.isEmpty ? "true" : "false")
    for (prefix, response) in [("", original), ("shadow_", copy)] {
      line.add("\(prefix)code", response.code.name)
      line.add("\(prefix)message", mask.apply(response.text))
      line.add("\(prefix)ms", milliseconds: response.latency)
    }
    let found = differences.map { difference in
      var object = JSONObject()
      object.add("path", difference.path)
      if let value = difference.value { object.add("value", raw: value) }
      if let other = difference.other { object.add("shadow", raw: other) }
      return object.object
    }
    line.add("differences", raw: "[\(found.joined(separator: ","))]")
    return line.line
  }
}
