import RPCurlChain
import RPCurlProtobuf
import RPCurlProtocols

/// Checks one call against conditions. It forwards everything, and reports failures at the end.
final class Assertions: StagedInterceptor {
  let stages: Stages
  let messages = MessageAccesses(.readTyped)
  private let conditions: ResponseConditions
  private let name: String?
  private let call: CallFacts
  private let context: CallContext
  private let report: ReportFile<AssertReport.Case>?
  private let startedAt: Int64

  private var progress: ResponseProgress
  private var end: ResponseEnd?

  init(
    _ conditions: ResponseConditions, named name: String?, of call: CallFacts, _ context: CallContext,
    _ report: ReportFile<AssertReport.Case>?, startedAt: Int64
  ) {
    self.conditions = conditions
    self.name = name
    self.call = call
    self.context = context
    self.report = report
    self.startedAt = startedAt
    progress = ResponseProgress(conditions, of: call, context.secrets)
    stages = conditions.stages
  }

  func responseStart(_ start: ResponseStart, _ token: consuming ResponseToken<ResponseStart>) {
    progress.receive(start)
    token.proceed(start)
  }

  func responseMessage(_ message: MessageValue, _ token: consuming ResponseToken<MessageValue>) throws {
    progress.receive(try message.typed)
    token.proceed(message)
  }

  func responseEnd(_ end: ResponseEnd, _ token: consuming ResponseToken<ResponseEnd>) {
    self.end = end
    if end.error != nil, progress.expects(statusOf: end) {
      // Before the end is forwarded, so that it is not reported as a failure.
      context.report(.expectedStatus, "\(end.code.name) is the expected status")
    }
    token.proceed(end)
  }

  func finish(_ outcome: Outcome) {
    let failures = progress.failures(end ?? outcome.end, latency: outcome.metrics.total)
    for failure in failures { context.report(.failure, label(failure.line)) }
    guard let report else { return }
    do {
      try report.add(
        AssertReport.Case(
          name: name ?? call.method.description, className: call.method.service,
          startedAt: startedAt, duration: outcome.metrics.total, failures: failures,
          error: conditions.isAboutStatus ? nil : (end ?? outcome.end).error.map(Self.text)))
    } catch {
      context.report(.failure, "cannot write the report \(report.path): \(error.reason)")
    }
  }

  /// An error as text: `unavailable (14): try later`.
  private static func text(_ error: RPCError) -> String {
    let text = "\(error.code.name) (\(error.code.rawValue))"
    return error.message.isEmpty ? text : "\(text): \(error.message)"
  }

  private func label(_ failure: String) -> String { name.map { "\($0): \(failure)" } ?? failure }
}
