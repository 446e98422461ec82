import Terminal

/// Completes and explains the lines of a session.
final class SessionAssistant: LineAssistant {
  private weak var knowledge: (any SessionKnowledge)?

  init(_ knowledge: any SessionKnowledge) {
    self.knowledge = knowledge
  }

  func mustLearn(toComplete head: String) -> Bool {
    guard let knowledge, knowledge.pool == nil else { return false }
    return Completer(knowledge, files: FileNames.entries).needsSchema(head)
  }

  func learn(_ completion: @escaping () -> Void) {
    knowledge?.learn(completion)
  }

  func complete(_ head: String) -> Completion {
    knowledge.map { Completer($0, files: FileNames.entries).complete(head) } ?? Completion()
  }

  func hint(_ head: String) -> String {
    knowledge.map { Hints($0).hint(head) } ?? ""
  }
}
