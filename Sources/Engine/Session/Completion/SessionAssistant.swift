import RPCurlProgram
import RPCurlProtobuf

/// Provides completion and hints of a session to the line editor.
package final class SessionAssistant: LineAssistant {
  private weak var knowledge: (any SessionKnowledge)?
  /// Reads the statement that is being edited.
  private var reader = SessionStatementReader(endsStrings: true)

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

  package func needsMore(after lines: String, isNew: Bool) -> Bool {
    if isNew { reader.reset() }
    do throws(Failure) {
      for line in lines.split(separator: "\n", omittingEmptySubsequences: false) {
        _ = try reader.add(String(line))
      }
    } catch {
      return false
    }
    return reader.isWithin
  }

  package func hint(_ head: String) -> String {
    knowledge.map { Hints($0).hint(head) } ?? ""
  }
}
