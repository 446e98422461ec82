import RPCurlChain
import RPCurlProtobuf
import RPCurlProtocols

/// Validates the messages of one call.
package final class Validate: StagedInterceptor {
  /// What a violation causes.
  package enum Effect: String, CaseIterable, Sendable {
    case fail, warn, off
  }

  package let stages: Stages
  package let messages = MessageAccesses(.readTyped)
  private let requests: Effect
  private let responses: Effect
  private let kind: CallKind
  private let book: RuleBook
  private let time: () -> Int64
  private let context: CallContext
  private var sent = 0
  private var received = 0

  init(
    requests: Effect, responses: Effect, _ kind: CallKind, _ book: RuleBook,
    time: @escaping () -> Int64, _ context: CallContext
  ) {
    self.requests = requests
    self.responses = responses
    self.kind = kind
    self.book = book
    self.time = time
    self.context = context
    stages = Self.stages(requests: requests, responses: responses)
  }

  /// The stages at which messages are validated.
  static func stages(requests: Effect, responses: Effect) -> Stages {
    Stages((requests == .off ? [] : [Stages.requestMessage]) + (responses == .off ? [] : [.responseMessage]))
  }

  package func requestMessage(_ message: MessageValue, _ token: consuming RequestToken<MessageValue>) throws {
    defer { sent += 1 }
    let name = kind.clientStreams ? "request \(sent)" : "request"
    if let error = try validate(message.typed, requests, .invalidArgument, name) { return token.fail(error) }
    token.proceed(message)
  }

  package func responseMessage(
    _ message: MessageValue, _ token: consuming ResponseToken<MessageValue>
  ) throws {
    defer { received += 1 }
    let name = kind.serverStreams ? "response \(received)" : "response"
    if let error = try validate(message.typed, responses, .internal, name) { return token.fail(error) }
    token.proceed(message)
  }

  /// Logs the violations of a message, or returns the error for them; nil without any.
  private func validate(
    _ message: Message, _ effect: Effect, _ code: StatusCode, _ name: String
  ) -> RPCError? {
    var validator = MessageValidator(book, now: time()) { [context] warning in
      context.log(.warning, warning)
    }
    validator.validate(message)
    let found = validator.violations
    guard let first = found.first?.text else { return nil }
    guard effect == .fail else {
      for violation in found { context.log(.warning, "invalid \(name): \(violation.text)") }
      return nil
    }
    let text = found.count == 1 ? first : "\(first) (and \(found.count - 1) more)"
    return RPCError(
      code, "invalid \(name): \(text)", details: [Violation.detail(found)],
      origin: .interceptor(context.name))
  }
}
