import Language
import RPCProtocols
import Terminal

/// Completes a condition of `expect` from the last call: its fields, its metadata and its details.
struct ConditionCompletion {
  /// The names that may follow a reference and a full stop.
  let members: (_ reference: String) -> [(name: String, note: String)]

  /// The words after which a path follows.
  private static let selections = ["first", "last", "any", "every", "list"]

  /// The completions at the end of a condition.
  func complete(_ condition: String) -> Completion {
    let start =
      condition.lastIndex(where: \.isWhitespace).map(condition.index(after:)) ?? condition.startIndex
    let typed = String(condition[start...])
    let before = condition[..<start].split(whereSeparator: \.isWhitespace).map(String.init)
    guard let first = before.first else {
      return typed.hasPrefix(".") ? path(typed) : words(typed, Condition.words.map { ($0, "") })
    }
    if Self.selections.contains(first) && before.count == 1 || first == "message" && before.count == 2 {
      return path(typed)
    }
    switch (first, before.count) {
    case ("status", 1): return words(typed, StatusCode.allCases.map { ($0.name, "") })
    case ("header", 1), ("trailer", 1), ("detail", 1): return words(typed, members("last.\(first)"))
    case ("header", 2), ("trailer", 2): return words(typed, Condition.operators.map { ($0, "") })
    case _ where before.last?.hasPrefix(".") == true:
      return words(typed, Condition.operators.map { ($0, "") })
    default: return Completion()
    }
  }

  private func words(_ typed: String, _ all: [(name: String, note: String)]) -> Completion {
    let candidates = all.filter { $0.name.hasPrefix(typed) }.map {
      Completion.Candidate(label: $0.name, text: "\($0.name) ", note: $0.note)
    }
    return Completion(replaced: typed, candidates: candidates)
  }

  /// Completes a field after `.` or `.user.`.
  private func path(_ typed: String) -> Completion {
    guard let stop = typed.lastIndex(of: ".") else { return Completion() }
    let name = String(typed[typed.index(after: stop)...])
    let candidates = members("last[-1]\(typed[..<stop])").filter { $0.name.hasPrefix(name) }.map {
      Completion.Candidate(label: $0.name, text: $0.name, note: $0.note)
    }
    return Completion(replaced: name, candidates: candidates)
  }
}
