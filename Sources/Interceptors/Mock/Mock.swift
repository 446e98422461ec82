import RPCurlChain
import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtocols

/// Responds to one call with the first matching stub.
///
/// The first message decides, or the half-close of a stream without messages. The response to a client stream
/// is sent at the half-close; for a bidirectional stream, its messages are sent at once, and those of `each`
/// in response to each request message.
final class Mock: StagedInterceptor {
  static let stages: Stages = [.requestStart, .requestMessage, .requestEnd]

  var stages: Stages { Self.stages }
  let messages = MessageAccesses(.readTyped)
  private let factory: MockFactory
  private let stubs: [PreparedStub]
  private let call: CallFacts
  private let context: CallContext
  private let responder: LocalResponder
  private var values: RequestValues
  private typealias Answer = (stub: PreparedStub, response: Stub.Response)
  /// The selected stub and response.
  private var answer: Answer?

  init(_ factory: MockFactory, _ stubs: [PreparedStub], _ call: CallFacts, _ context: CallContext) {
    self.factory = factory
    self.stubs = stubs
    self.call = call
    self.context = context
    responder = LocalResponder(context, call.kind)
    values = factory.values(for: call)
    values.secrets = context.secrets
  }

  func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) {
    values.headers = start.headers
    responder.take(start, token)
  }

  func requestMessage(_ value: MessageValue, _ token: consuming RequestToken<MessageValue>) throws {
    let message = try value.typed
    values.request = message
    values.count += 1
    let isFirst = responder.isUndecided
    responder.take(value, token)
    guard isFirst || call.kind == .bidiStreaming else { return }
    respond(selecting: isFirst) { (mock, answer) throws(LanguageError) in
      switch mock.call.kind {
      case .bidiStreaming: try (isFirst ? mock.begin(answer.response) : []) + mock.answered(by: answer)
      case .clientStreaming: []
      case .unary, .serverStreaming: try mock.begin(answer.response) + mock.end(answer.response)
      }
    }
  }

  func requestEnd(_ token: consuming RequestToken<Void>) {
    responder.takeEnd(token)
    let isFirst = responder.isUndecided
    guard isFirst || call.kind.clientStreams else { return }
    respond(selecting: isFirst) { (mock, answer) throws(LanguageError) in
      guard mock.call.kind.clientStreams else { return [] }
      let begins = isFirst || mock.call.kind == .clientStreaming
      return try (begins ? mock.begin(answer.response) : []) + mock.end(answer.response)
    }
  }

  // MARK: Selecting the stub

  /// The result of one step of the call.
  private enum Outcome {
    case steps([ResponseScript.Step])
    case pass
    case failure(RPCError)
  }

  /// Continues the response, after selecting it if that is due.
  private func respond(
    selecting isFirst: Bool,
    _ steps: (Mock, Answer) throws(LanguageError) -> [ResponseScript.Step]
  ) {
    guard isFirst || answer != nil else { return }
    // Events are sent after the step: they can cause other calls.
    var outcome = Outcome.pass
    factory.step { variables, next in
      swap(&variables, &values.variables)
      outcome = self.outcome(selecting: isFirst, next, steps)
      swap(&variables, &values.variables)
    }
    if isFirst, answer != nil { responder.answer() }
    switch outcome {
    case .steps(let steps): responder.run(steps)
    case .pass: responder.pass()
    case .failure(let error): responder.fail(error)
    }
  }

  /// - Parameter next: Returns the next response of a stub.
  private func outcome(
    selecting isFirst: Bool, _ next: (PreparedStub) -> Stub.Response?,
    _ steps: (Mock, Answer) throws(LanguageError) -> [ResponseScript.Step]
  ) -> Outcome {
    if isFirst { answer = select(next) }
    guard let answer else {
      guard !factory.letsMissesPass else { return .pass }
      return .failure(RPCError(.unimplemented, miss(), origin: .interceptor(context.name)))
    }
    do throws(LanguageError) {
      if isFirst { try set(answer.response.sets) }
      return .steps(try steps(self, answer))
    } catch {
      let place = answer.stub.stub.place
      return .failure(RPCError(.internal, "\(place): \(error.text)", origin: .interceptor(context.name)))
    }
  }

  private func select(_ next: (PreparedStub) -> Stub.Response?) -> Answer? {
    for stub in stubs where stub.differences(from: values).isEmpty {
      if let response = next(stub) { return (stub, response) }
    }
    return nil
  }

  private func set(_ sets: [Stub.Assignment]) throws(LanguageError) {
    for set in sets {
      do throws(LanguageError) {
        guard case .variable(let path) = try values.reference(set.target) else { continue }
        try values.variables.set(path, to: set.value.filled(values))
      } catch {
        throw error.at(set.path)
      }
    }
  }

  private func miss() -> String {
    let shown = values.request.flatMap { try? $0.json() }.map {
      " \(String(decoding: $0, as: UTF8.self).shortened)"
    }
    let what = "no stub matches \(call.method)\(shown ?? "")"
    let candidates = stubs.map { ($0.stub.place, $0.differences(from: values)) }
    guard let (place, differences) = candidates.min(by: { $0.1.count < $1.1.count }) else {
      let nearest = DescriptorPool.nearestNames(to: call.method.description, among: factory.methods, limit: 1)
      return what + (nearest.first.map { "; the closest is for \($0)" } ?? "; no stub has this method")
    }
    guard !differences.isEmpty else { return "\(what): \(place) has no responses left" }
    return "\(what); the closest is \(place): \(differences.joined(separator: "; "))"
  }

  // MARK: The response

  private func begin(_ response: Stub.Response) throws(LanguageError) -> [ResponseScript.Step] {
    if !call.kind.serverStreams, response.pieces.count > 1 {
      throw LanguageError("\(call.method) responds with one message, not \(response.pieces.count)")
    }
    let wait = ResponseScript.Step.wait(response.delay)
    // A server that has nothing to send yet starts the response later, or fails without one.
    guard !response.headers.isEmpty || !response.pieces.isEmpty else { return [wait] }
    let start = ResponseStart(headers: try metadata(response.headers))
    return [wait, .event(.responseStart(start))] + (try steps(response.pieces))
  }

  private func end(_ response: Stub.Response) throws(LanguageError) -> [ResponseScript.Step] {
    [end(try response.status.map(error), try metadata(response.trailers))]
  }

  private func end(_ error: RPCError?, _ trailers: Headers) -> ResponseScript.Step {
    .event(.responseEnd(ResponseEnd(error: error, trailers: trailers)))
  }

  /// The steps of the first rule of `each` that matches the message.
  private func answered(
    by answer: Answer
  ) throws(LanguageError) -> [ResponseScript.Step] {
    for rule in answer.response.rules {
      guard answer.stub.rules[rule.path]?.differences(from: values).isEmpty == true else {
        continue
      }
      try set(rule.sets)
      let steps = [ResponseScript.Step.wait(rule.delay)] + (try self.steps(rule.pieces))
      guard let status = rule.status else { return steps }
      return steps + [end(try error(status), try metadata(answer.response.trailers))]
    }
    return []
  }

  private func steps(_ pieces: [Stub.Piece]) throws(LanguageError) -> [ResponseScript.Step] {
    var steps: [ResponseScript.Step] = []
    for piece in pieces {
      steps.append(.wait(piece.delay))
      let json = try filled(piece.message, at: piece.path)
      guard let type = call.responseType else {
        throw LanguageError("\(piece.path): the schema of the response is unknown")
      }
      do throws(MessageParseError) {
        let message = try Message(type, json: Array(json.text.utf8))
        steps.append(.event(.responseMessage(.typed(message))))
      } catch {
        let hint = piece.message.quotedExpression.map { "; without quotes, ${\($0)} is JSON" } ?? ""
        throw LanguageError("\(piece.path): \(error.withoutPlace)\(hint)")
      }
    }
    return steps
  }

  private func metadata(_ fields: [(name: String, value: Template)]) throws(LanguageError) -> Headers {
    var headers = Headers()
    for field in fields {
      let value = try field.value.text(values)
      guard HeaderSyntax.isValue(value) else {
        throw LanguageError("the value of \(field.name) contains control characters")
      }
      headers.add(field.name, value)
    }
    return headers
  }

  private func error(_ status: Stub.Status) throws(LanguageError) -> RPCError {
    var details: [StatusDetail] = []
    for (index, detail) in status.details.enumerated() {
      let place = "\(status.path).details[\(index)]"
      let json = try filled(detail, at: place)
      do throws(LanguageError) {
        details.append(try StatusDetail(json, schemaOf: call.responseType))
      } catch {
        throw error.at(place)
      }
    }
    // Attributed to the server, which the stub replaces.
    return RPCError(
      status.code, try status.message.text(values), details: details, origin: .server)
  }

  private func filled(_ template: StubTemplate, at place: String) throws(LanguageError) -> JSONValue {
    do throws(LanguageError) { return try template.filled(values) } catch { throw error.at(place) }
  }
}
