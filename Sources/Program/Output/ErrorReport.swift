import RPCurlBase
import RPCurlProtobuf
import RPCurlProtocols

/// An error to print on standard error.
package struct ErrorReport {
  private var message: Failure.Message
  /// The exit status that this error causes; nil if it causes none.
  private let status: ExitStatus?
  /// The number of the call in a batch.
  private let call: Int?
  /// The name of the call in the text; nil if there is only one.
  private let title: String?
  /// The status of a failed call, and the printer of its details.
  private let error: RPCError?
  private let details: DetailPrinter?

  package init(
    _ message: Failure.Message, _ status: ExitStatus?, call: Int? = nil, title: String? = nil,
    error: RPCError? = nil,
    details: DetailPrinter? = nil
  ) {
    self.message = message
    self.status = status
    self.call = call
    self.title = title ?? call.map { "call \($0)" }
    self.error = error
    self.details = details
  }

  /// The text for standard error; empty if errors are not shown.
  ///
  /// - Parameters:
  ///   - diagnostics: What is shown, and in which form.
  ///   - colors: The colours of text.
  package func rendered(
    _ diagnostics: Diagnostics, _ colors: TextColors = TextColors(areOn: false)
  ) -> String {
    guard diagnostics.showsErrors else { return "" }
    var report = self
    if diagnostics.isOfSession { report.message.hint = message.hint.map(SessionHint.of) }
    return switch diagnostics.format {
    case .text: report.text(colors)
    case .json: report.json
    }
  }

  /// One JSON object on one line, without empty members.
  private var json: String {
    var object = JSONObject()
    if !message.what.isEmpty { object.add("what", message.what) }
    object.add("why", message.why)
    if let hint = message.hint { object.add("hint", hint) }
    if let status { object.add("exit", Int(status.rawValue)) }
    if let call { object.add("call", call) }
    if let error {
      object.add("code", error.code.name)
      object.add("code_number", error.code.rawValue)
      object.add("message", error.message)
      object.add("details", details == nil ? [] : error.details) { details?.debug($0) }
      if let response = error.response { object.add(response) }
      switch error.origin {
      case .interceptor(let name), .configuration(let name): object.add("interceptor", name)
      default: break
      }
    }
    if let place = message.place {
      object.add("line", place.position.line)
      object.add("column", place.position.column)
      object.add("byte", place.position.byteOffset)
      object.add("path", place.fieldPath)
      if let excerpt = place.excerpt { object.add("excerpt", excerpt.line) }
    }
    if let excerpt = message.excerpt { object.add("excerpt", excerpt.line) }
    if !message.others.isEmpty {
      let others = message.others.map { JSONValue.quoted("\($0.what): \($0.why)") }
      object.add("others", raw: "[\(others.joined(separator: ","))]")
    }
    return "{\"error\":\(Self.harmless(object.object))}\n"
  }

  /// Escapes characters that can control a terminal; in JSON from this program they only occur in strings.
  private static func harmless(_ json: String) -> String {
    json.unicodeScalars.reduce(into: "") { text, scalar in
      guard scalar.steersReader else { return text.unicodeScalars.append(scalar) }
      text += TerminalText.jsonEscape(scalar)
    }
  }

  private func text(_ colors: TextColors) -> String {
    var message = message
    if let title { message.what = title + (message.what.isEmpty ? "" : ": \(message.what)") }
    var text = message.rendered(colors)
    for detail in error?.details ?? [] {
      if let line = details?.line(detail) { text += "  \(TerminalText.escape(line))\n" }
    }
    return text
  }
}
