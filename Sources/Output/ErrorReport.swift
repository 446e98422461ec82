import Interceptors
import Protobuf
import RPCProtocols

/// An error as it is told on standard error.
package struct ErrorReport {
  private let words: Failure.Words
  /// How the process ends for it; `nil` when it ends as it would have without.
  private let status: ExitStatus?
  /// The place of the call in a batch.
  private let call: Int?
  /// The status of a call that failed, with what shows its details.
  private let error: RPCError?
  private let details: DetailPrinter?

  package init(
    _ words: Failure.Words, _ status: ExitStatus?, call: Int? = nil, error: RPCError? = nil,
    details: DetailPrinter? = nil
  ) {
    self.words = words
    self.status = status
    self.call = call
    self.error = error
    self.details = details
  }

  /// The text for standard error; empty when errors are not to be told.
  package var rendered: String {
    guard StandardError.showsErrors else { return "" }
    return switch StandardError.errorFormat {
    case .text: text
    case .json: json
    }
  }

  /// One object on one line. A member that has nothing to say is left out.
  private var json: String {
    var object = JSONObject()
    object.add("what", words.what)
    object.add("why", words.why)
    if let hint = words.hint { object.add("hint", hint) }
    if let status { object.add("exit", Int(status.rawValue)) }
    if let call { object.add("call", call) }
    if let error {
      object.add("code", error.code.name)
      object.add("code_number", error.code.rawValue)
      object.add("message", error.message)
      object.add("details", details == nil ? [] : error.details) { details?.debug($0) }
      if case .interceptor(let name) = error.origin { object.add("interceptor", name) }
    }
    if let place = words.place {
      object.add("line", place.position.line)
      object.add("column", place.position.column)
      object.add("byte", place.position.byteOffset)
      object.add("path", place.fieldPath)
      if let excerpt = place.excerpt { object.add("excerpt", excerpt.line) }
    }
    return "{\"error\":\(Self.harmless(object.object))}\n"
  }

  /// JSON in which nothing steers a terminal: such characters are in strings only, where they can be escaped.
  private static func harmless(_ json: String) -> String {
    json.unicodeScalars.reduce(into: "") { text, scalar in
      guard scalar.steersReader else { return text.unicodeScalars.append(scalar) }
      text += TerminalText.jsonEscape(scalar)
    }
  }

  private var text: String {
    var words = words
    if let call { words.what = "call \(call)" + (words.what.isEmpty ? "" : ": \(words.what)") }
    var text = words.rendered
    for detail in error?.details ?? [] {
      if let line = details?.line(detail) { text += "  \(TerminalText.escape(line))\n" }
    }
    return text
  }
}
