import Interception
import Protobuf
import RPCProtocols

/// Validates the messages of one call.
final class Validate: Interceptor {
  /// What a violation causes.
  enum Effect: String, CaseIterable {
    case fail, warn, off
  }

  let stages: Stages
  private let requests: Effect
  private let responses: Effect
  private let kind: CallKind
  private let book: RuleBook
  private let services: any InterceptorServices
  private let context: CallContext
  private var sent = 0
  private var received = 0

  init(
    requests: Effect, responses: Effect, _ kind: CallKind, _ book: RuleBook,
    _ services: any InterceptorServices, _ context: CallContext
  ) {
    self.requests = requests
    self.responses = responses
    self.kind = kind
    self.book = book
    self.services = services
    self.context = context
    stages = Self.stages(requests: requests, responses: responses)
  }

  /// The stages at which messages are validated.
  static func stages(requests: Effect, responses: Effect) -> Stages {
    Stages((requests == .off ? [] : [Stages.requestMessage]) + (responses == .off ? [] : [.responseMessage]))
  }

  func requestMessage(_ message: Message, _ token: consuming RequestToken<Message>) {
    defer { sent += 1 }
    let found = violations(of: message)
    let name = kind.clientStreams ? "request \(sent)" : "request"
    guard !found.isEmpty, let error = report(found, requests, .invalidArgument, name) else {
      return token.proceed(message)
    }
    token.fail(error)
  }

  func responseMessage(_ message: Message, _ token: consuming ResponseToken<Message>) {
    defer { received += 1 }
    let found = violations(of: message)
    let name = kind.serverStreams ? "response \(received)" : "response"
    guard !found.isEmpty, let error = report(found, responses, .internal, name) else {
      return token.proceed(message)
    }
    token.fail(error)
  }

  private func violations(of message: Message) -> [Violation] {
    var validator = MessageValidator(book, now: services.nanosecondsSince1970) { [context] warning in
      context.log(.warning, warning)
    }
    validator.validate(message)
    return validator.violations
  }

  /// Logs violations, or returns the error for them.
  private func report(
    _ found: [Violation], _ effect: Effect, _ code: StatusCode, _ name: String
  ) -> RPCError? {
    guard effect == .fail else {
      for violation in found { context.log(.warning, "invalid \(name): \(violation.text)") }
      return nil
    }
    let first = found[0].text
    let message = found.count == 1 ? first : "\(first) (and \(found.count - 1) more)"
    return RPCError(
      code, "invalid \(name): \(message)", details: [Violation.detail(found)],
      origin: .interceptor(context.name))
  }
}
