import RPCurlBase
import RPCurlLanguage
import RPCurlProtobuf

/// Notes about request data that is valid, but probably not what the user meant. Each kind is printed once.
package final class DataNotes: Equatable {
  private let print: (String) -> Void
  /// The names of the typed sources; nil if all are.
  private let typed: [String]?
  /// Whether text in bytes fields is still to be noted.
  private(set) var refusesText = true
  private var isTemplateNoted = false

  /// Creates notes.
  ///
  /// - Parameters:
  ///   - typed: The names of the sources that are typed; nil if all are. Data of files and pipes is not noted.
  ///   - print: Prints a note.
  package init(typed: [String]? = nil, print: @escaping (String) -> Void) {
    self.typed = typed
    self.print = print
  }

  /// Whether a source is typed.
  func cover(_ source: String) -> Bool { typed?.contains(source) ?? true }

  /// Notes the base64 of a field that is probably text. Returns false for any other error.
  ///
  /// - Parameters:
  ///   - error: The error of the parser.
  ///   - field: The field.
  ///   - form: The form of the data.
  ///   - alternative: A further way to send the text on the command line.
  func noteText(_ error: MessageParseError, of field: String, _ form: RequestForm, or alternative: String)
    -> Bool
  {
    guard case .textAsBase64(let text, let count) = error.reason else { return false }
    refusesText = false
    let quoted = JSONValue.quoted(text)
    // In a string of JSON, the quotes of a text are escaped.
    let inString = JSONValue.quoted(quoted).dropFirst().dropLast()
    var hint = "to send this text, write ${base64(\(field.hasPrefix("--set ") ? quoted : String(inString)))}"
    if form.acceptsFiles {
      hint += form.expansion != nil || form.isExpanded ? "" : " with --expand"
      hint += ", or use \(alternative)"
    }
    note("\(field): \(MessageParseError.readAsBase64(text, byteCount: count))", hint)
    return true
  }

  /// Notes a template that is sent as text because data is not expanded.
  func noteTemplate(in json: [UInt8], _ form: RequestForm) {
    guard form.acceptsFiles, !form.isExpanded, !isTemplateNoted, json.contains(UInt8(ascii: "$")),
      let expression = try? JSONTemplate(parsing: json).expressions.first
    else { return }
    note(unexpanded: "${\(expression)}")
  }

  /// Notes a file or standard input with templates that are sent as text although those of the command line are replaced.
  func noteTemplates(of source: String, in bytes: [UInt8]) {
    guard !isTemplateNoted,
      bytes.indices.dropLast().contains(where: {
        bytes[$0] == UInt8(ascii: "$") && bytes[$0 + 1] == UInt8(ascii: "{")
      })
    else { return }
    isTemplateNoted = true
    note(
      "${ in \(source) is sent as it is", "--expand=files replaces values in files and in standard input too")
  }

  /// Notes a template that is sent as text.
  func note(unexpanded template: String, hint: String = "add --expand to replace it") {
    guard !isTemplateNoted else { return }
    isTemplateNoted = true
    note("\(template) is sent as text", hint)
  }

  private func note(_ text: String, _ hint: String) {
    print(TerminalText.escape("note: \(text)") + "\n" + TerminalText.escape("hint: \(hint)") + "\n")
  }

  /// Equal only to itself.
  package static func == (a: DataNotes, b: DataNotes) -> Bool { a === b }
}
