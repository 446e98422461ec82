import RPCurlBase
import RPCurlChain
import RPCurlPlatform

/// Questions of scripts on the controlling terminal, one at a time. It belongs to the loop's thread.
final class QuestionQueue {
  private struct Question {
    let call: Int
    let text: String
    let network: FactoryNetwork
    let completion: (String?) -> Void
  }

  private var questions: [Question] = []
  /// The terminal, while the first question is on it; -1 otherwise.
  private var terminal: Int32 = -1
  private var typed = LineBuffer()

  /// Asks a question, after those before it.
  func add(_ text: String, of call: Int, _ network: FactoryNetwork, _ completion: @escaping (String?) -> Void)
  {
    questions.append(Question(call: call, text: text, network: network, completion: completion))
    if questions.count == 1 { ask() }
  }

  /// Removes the questions of a call that is over.
  func cancel(of call: Int) {
    guard let first = questions.first else { return }
    let isAsked = first.call == call
    questions.removeAll { $0.call == call }
    guard isAsked else { return }
    write("\n")
    leave(first.network)
    ask()
  }

  private func ask() {
    guard let question = questions.first else { return }
    terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    guard terminal >= 0 else { return reply(nil) }
    // What was typed before the question is no reply to it.
    tcflush(terminal, TCIFLUSH)
    write(TerminalText.escape(question.text))
    question.network.watch(terminal, .reading) { [weak self] in self?.read() }
  }

  private func read() {
    let found = typed.read(terminal)
    if let line = typed.line() { return reply(String(decoding: line, as: UTF8.self)) }
    if case .end = found { reply(nil) }
  }

  private func reply(_ text: String?) {
    let question = questions.removeFirst()
    leave(question.network)
    question.completion(text)
    if terminal < 0 { ask() }
  }

  private func leave(_ network: FactoryNetwork) {
    typed = LineBuffer()
    guard terminal >= 0 else { return }
    network.watch(terminal, .reading, nil)
    close(terminal)
    terminal = -1
  }

  private func write(_ text: String) {
    guard terminal >= 0 else { return }
    let bytes = Array(text.utf8)
    _ = Glibc.write(terminal, bytes, bytes.count)
  }
}
