import RPCurlProgram

/// Provides completion and hints of a session to the line editor.
package final class SessionAssistant: LineAssistant {
  private weak var knowledge: (any SessionKnowledge)?

  package init(_ knowledge: any SessionKnowledge) {
    self.knowledge = knowledge
  }

  package func mustLearn(toComplete head: String) -> Bool {
    guard let knowledge, knowledge.pool == nil else { return false }
    return Completer(knowledge, files: FileNames.entries).needsSchema(head)
  }

  package func learn(_ completion: @escaping () -> Void) {
    knowledge?.learn(completion)
  }

  package func complete(_ head: String) -> Completion {
    knowledge.map { Completer($0, files: FileNames.entries).complete(head) } ?? Completion()
  }

  package func hint(_ head: String) -> String {
    knowledge.map { Hints($0).hint(head) } ?? ""
  }
}
