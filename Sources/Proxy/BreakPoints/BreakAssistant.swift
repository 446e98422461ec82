import RPCurlBase
import RPCurlLanguage
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlSchemaTools

/// Completes the commands of `--interactive`, and shows their forms.
final class BreakAssistant: LineAssistant {
  private let controller: BreakController

  init(_ controller: BreakController) { self.controller = controller }

  private var points: BreakPoints { controller.points }

  func mustLearn(toComplete head: String) -> Bool { false }
  func learn(_ completion: @escaping () -> Void) { completion() }
  func needsMore(after lines: String, isNew: Bool) -> Bool { false }

  func hint(_ head: String) -> String {
    let name = LineWords(head).first
    return name.isEmpty ? "" : BreakCommand.named(name)?.usage ?? ""
  }

  func complete(_ head: String) -> Completion {
    var words = LineWords(head)
    let name = words.next()
    guard head.contains(" "), let command = BreakCommand.named(name) else {
      return Self.words(name, BreakCommand.allCases.map { ($0.name, $0.summary) })
    }
    // What follows the name, with the blanks at its end.
    let typed = String(head.drop { $0 == " " }.dropFirst(name.count).drop { $0 == " " })
    var completion = complete(command, typed)
    completion.candidates.removeAll { TerminalText.escape($0.text) != $0.text }
    return completion
  }

  private func complete(_ command: BreakCommand, _ typed: String) -> Completion {
    switch command {
    case .add: return breakPoint(typed)
    case .delete: return Self.words(typed, points.points.map { ("\($0.number)", "\($0.point)") })
    case .help: return Self.words(typed, BreakCommand.allCases.map { ($0.name, $0.summary) })
    case .calls, .quit: return Completion()
    case .show, .edit, .set, .proceed, .fail, .respond: break
    }
    var words = LineWords(typed)
    let number = words.nextNumber()
    guard number == nil || typed.contains(" ") else { return calls(typed) }
    let value = number.map { number in points.held.first { $0.call == number } } ?? points.held.first
    let rest = number == nil ? typed : String(typed.drop { $0 != " " }.drop { $0 == " " })
    switch command {
    case .set:
      guard let message = try? value?.message() else { return Completion() }
      var scope = Self.scope
      scope.types = [message.type]
      return Self.completion(LanguageCompletion(rest, at: .assignment, in: scope))
    case .fail:
      return Self.words(rest, StatusCode.allCases.filter { $0 != .ok }.map { ($0.name, "") })
    case .respond:
      guard let type = value?.responseType else { return Completion() }
      let cursor = JSONCursor(rest, of: type)
      return Completion(
        replaced: String(Substring(rest.utf8.dropFirst(cursor.start))),
        candidates: cursor.suggestions(typeNames: []).map {
          Completion.Candidate(label: $0.label, text: $0.text, note: $0.note)
        })
    default: return calls(typed)
    }
  }

  private func calls(_ typed: String) -> Completion {
    Self.words(typed, points.held.map { ("\($0.call)", "\($0.method)") })
  }

  /// Completes `[request|response] METHOD [where CONDITION]`.
  private func breakPoint(_ typed: String) -> Completion {
    var words = LineWords(typed)
    var rest = typed
    var side = BreakPoint.Side.request
    if typed.contains(" "), let given = BreakPoint.Side(rawValue: words.first) {
      side = given
      rest = String(typed.dropFirst(given.rawValue.count).drop { $0 == " " })
      _ = words.next()
    }
    guard let space = rest.firstIndex(of: " ") else {
      let sides = typed == rest ? BreakPoint.Side.allCases.map { ($0.rawValue, "") } : []
      return Self.words(rest, sides + points.schema.keys.map(\.description).sorted().map { ($0, "") })
    }
    let name = String(rest[..<space])
    rest = String(rest[space...].drop { $0 == " " })
    guard rest.hasPrefix("where ") else { return Self.words(rest, [("where", "")]) }
    var scope = Self.scope
    let methods = (try? BreakPoint(parsing: name))?.methods
    scope.types = points.schema.filter { methods?.matches($0.key) == true }
      .map { side == .request ? $0.value.input : $0.value.output }
    return Self.completion(
      LanguageCompletion(String(rest.dropFirst(6).drop { $0 == " " }), at: .condition, in: scope))
  }

  private static var scope: LanguageScope { LanguageScope(statuses: .codes, environment: []) }

  private static func words(_ typed: String, _ all: [(name: String, note: String)]) -> Completion {
    Completion(
      replaced: typed,
      candidates: NameMatch.indices(of: typed, in: all.map(\.name)).map {
        Completion.Candidate(label: all[$0].name, text: "\(all[$0].name) ", note: all[$0].note)
      })
  }

  private static func completion(_ found: LanguageCompletion) -> Completion {
    Completion(
      replaced: found.replaced,
      candidates: found.candidates.map {
        Completion.Candidate(label: $0.text.filter { $0 != " " }, text: $0.text, note: $0.note)
      })
  }
}
