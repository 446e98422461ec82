import RPCurlBase
import RPCurlChain
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtocols

/// What a call prints on standard error: errors, findings of interceptors, and the trace of `-v`.
extension CallPrinter {
  /// Prints the findings of interceptors, after the call has ended.
  ///
  /// - Returns: The exit status that the call causes; nil if it succeeded.
  package func conclude() -> ExitStatus? {
    let found = findings.removeAll()
    report(found)
    if found.hasFailure { return .assertion }
    guard let error = end?.error, !found.hasExpectedStatus, !isEndedByLimit(error) else { return nil }
    return .call(error)
  }

  private func report(_ findings: [Finding]) {
    for finding in findings where settings.format == .events {
      var event = event("note")
      event.add("interceptor", finding.interceptor)
      event.add("kind", finding.kind.name)
      event.add("text", finding.text)
      write(event)
    }
    for finding in findings {
      switch finding.kind {
      case .failure:
        report(Failure.Message(what: "assertion failed", why: finding.text), .assertion)
      case .note, .expectedStatus:
        if settings.verbosity > 0 { trace("*", "\(finding.interceptor): \(finding.text)") }
      }
    }
  }

  // MARK: Standard error

  /// Prints the error of a call: its status and its decoded details.
  func report(_ error: RPCError) {
    let why =
      "\(error.code.name) (\(error.code.rawValue))\(error.message.isEmpty ? "" : ": \(error.message)")"
    let message =
      switch error.origin {
      case .connection, .tls, .request:
        Failure.Message(what: plan.settings.target.name, why: error.message, hint: plan.hint(for: error))
      case .proxy(let proxy):
        Failure.Message(what: "proxy \(proxy)", why: error.message, hint: plan.hint(for: error))
      case .server: Failure.Message(what: "\(plan.name)", why: why)
      case .violation, .client: Failure.Message(what: "\(plan.name)", why: why, hint: plan.hint(for: error))
      case .configuration(let name):
        Failure.Message(what: "\(plan.name)", why: "interceptor \(name): \(error.message)")
      case .interceptor(let name):
        Failure.Message(what: "\(plan.name)", why: "interceptor \(name): \(why)")
      }
    report(message, status(error), error)
  }

  /// Whether the call was canceled because enough responses were printed.
  func isEndedByLimit(_ error: RPCError) -> Bool {
    isLimitReached && error.code == .canceled && error.origin == .client && !Interrupt.isPending
  }

  /// The exit status that the error causes.
  private func status(_ error: RPCError) -> ExitStatus {
    if Interrupt.isPending { return Interrupt.status }
    return findings.hasFailure ? .assertion : .call(error)
  }

  private func report(_ message: Failure.Message, _ status: ExitStatus, _ error: RPCError? = nil) {
    output.report(
      ErrorReport(message, status, call: index, title: title, error: error, details: details))
  }

  /// Prefixes `text` with the name of the call, if there are several.
  func named(_ text: String) -> String {
    title.map { "\($0): \(text)" } ?? text
  }

  /// The size of a message as text, for example `17 bytes (22 on the wire)`.
  func describe(_ size: MessageSize) -> String {
    let compression = size.compression.map { ", \($0.rawValue)" } ?? ""
    let way = size.wireBytes.map { "\($0) on the wire" } ?? "in the URL"
    return "\(size.bytes) byte\(size.bytes == 1 ? "" : "s") (\(way)\(compression))"
  }

  func trace(_ mark: String, _ text: String) {
    output.trace("\(mark) \(TerminalText.escape(text))\n")
  }

  func trace(_ mark: String, _ headers: Headers) {
    for field in redaction.headers(headers).fields {
      let name = output.errorColors.paint(.bold, "\(TerminalText.escape(field.name)):")
      output.trace("\(mark) \(name) \(TerminalText.escape(field.value))\n")
    }
    output.trace("\(mark)\n")
  }
}
