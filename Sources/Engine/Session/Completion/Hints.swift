import RPCurlBase
import RPCurlInterceptors
import RPCurlProtobuf
import RPCurlSchemaTools

/// Describes what is expected at the cursor.
package struct Hints {
  /// Longer lines get no hint: they are read again at each key.
  private static let longestLine = 1 << 16

  private let knowledge: any SessionKnowledge

  package init(_ knowledge: any SessionKnowledge) { self.knowledge = knowledge }

  /// The hint, without control characters; empty if there is none.
  ///
  /// - Parameter head: The text before the cursor.
  package func hint(_ head: String) -> String {
    guard !head.isEmpty, head.utf8.count <= Self.longestLine else { return "" }
    return TerminalText.escape(text(head))
  }

  private func text(_ head: String) -> String {
    let words = CursorPlace(head, knowledge)
    switch words.place {
    case .nothing, .filter, .callOption: return ""
    case .command(let typed):
      let fits = SessionVerb.all.filter { $0.name.hasPrefix(typed) }
      return words.verb?.usage ?? (fits.count == 1 ? fits.first?.usage : nil) ?? ""
    case .message(let type, let text):
      return type.flatMap { JSONCursor(text, of: $0).expectation } ?? ""
    case .argument(.specification, let typed, let verb): return interceptor(typed) ?? verb.usage
    case .argument(_, _, let verb): return verb.usage
    }
  }

  /// The summary of the interceptor key that is being typed.
  private func interceptor(_ typed: String) -> String? {
    let parts = typed.split(separator: ",", omittingEmptySubsequences: false)
    guard parts.count > 1, let last = parts.last,
      let found = BuiltIns.all.first(where: { $0.name == parts[0] })
    else { return nil }
    let name = last.prefix { $0 != "=" }
    return found.keys.first { $0.name == name }.map { "\($0.form)  \($0.summary)" }
  }
}
