import Protobuf
import RPCProtocols

/// An error as it is told on standard error.
struct ErrorReport {
  private let words: Failure.Words
  /// How the process ends for it; `nil` when it ends as it would have without.
  private let status: ExitStatus?
  /// The place of the call in a batch.
  private let call: Int?
  /// The status of a call that failed, with what shows its details.
  private let error: RPCError?
  private let details: DetailPrinter?

  init(
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
  var rendered: String {
    Diagnostics.current.showsErrors ? text : ""
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
