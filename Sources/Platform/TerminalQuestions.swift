import RPCurlBase

/// Questions for a person on the controlling terminal, one at a time, without waiting. It belongs to one thread.
package final class TerminalQuestions {
  /// Calls a function whenever a descriptor is readable; nil ends that.
  package typealias Watch = (Int32, (() -> Void)?) -> Void

  private struct Question {
    let group: Int
    let text: String
    let watch: Watch
    let completion: (String?) -> Void
  }

  private var questions: [Question] = []
  /// The terminal, while the first question is on it; -1 otherwise.
  private var terminal: Int32 = -1
  private var typed = LineBuffer()

  package init() {}

  /// Asks a question, after those before it.
  ///
  /// - Parameters:
  ///   - text: The question, which is written without control characters.
  ///   - group: What the question belongs to.
  ///   - watch: Watches the terminal.
  ///   - completion: Receives the line that was typed; nil without a terminal.
  package func add(
    _ text: String, of group: Int, watch: @escaping Watch, _ completion: @escaping (String?) -> Void
  ) {
    questions.append(Question(group: group, text: text, watch: watch, completion: completion))
    if questions.count == 1 { ask() }
  }

  /// Removes the questions of a group.
  package func cancel(of group: Int) {
    guard let first = questions.first else { return }
    let isAsked = first.group == group
    questions.removeAll { $0.group == group }
    guard isAsked else { return }
    write("\n")
    leave(first.watch)
    ask()
  }

  private func ask() {
    guard let question = questions.first else { return }
    terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    guard terminal >= 0 else { return reply(nil) }
    // What was typed before the question is no reply to it.
    tcflush(terminal, TCIFLUSH)
    write(TerminalText.escape(question.text))
    question.watch(terminal) { [weak self] in self?.read() }
  }

  private func read() {
    let found = typed.read(terminal)
    if let line = typed.line() { return reply(String(decoding: line, as: UTF8.self)) }
    if case .end = found {
      write("\n")
      reply(nil)
    }
  }

  private func reply(_ text: String?) {
    let question = questions.removeFirst()
    leave(question.watch)
    question.completion(text)
    if terminal < 0 { ask() }
  }

  private func leave(_ watch: Watch) {
    typed = LineBuffer()
    guard terminal >= 0 else { return }
    watch(terminal, nil)
    close(terminal)
    terminal = -1
  }

  private func write(_ text: String) {
    guard terminal >= 0 else { return }
    let bytes = Array(text.utf8)
    _ = RPCurlPlatform.write(terminal, bytes, bytes.count)
  }
}
