import Synchronization

/// Moves the line being edited aside while output is written, and copies output to the transcript.
package final class TerminalMultiplexer {
  /// Runs a closure that writes, with the line being edited removed from the screen; nil if no line is being edited.
  package var aside: ((() -> Void) -> Void)?
  /// Receives a copy of the output; nil if there is no transcript.
  package var transcript: (([UInt8]) -> Void)?
  private var isAside = false
  /// The output that waits while another program uses the terminal; nil if none does.
  package private(set) var waitingOutput: StandardOutput? {
    didSet { lent.store(waitingOutput != nil, ordering: .relaxed) }
  }
  private let lent = Atomic(false)
  private let showsLine = Atomic(false)
  private let isDisplaced = Atomic(false)

  /// Whether another program uses the terminal. Output is buffered until it ends. For any thread.
  package var isLent: Bool { lent.load(ordering: .relaxed) }

  /// Runs `body` while another program uses the terminal, then writes `output`, which is buffered meanwhile.
  package func lend<Result, E: Error>(
    holding output: StandardOutput, _ body: () throws(E) -> Result
  ) throws(E) -> Result {
    _ = output.flushWhatFits()
    waitingOutput = output
    defer {
      waitingOutput = nil
      output.flush()
    }
    return try body()
  }

  /// Runs `body`, which writes to the terminal.
  package func write(_ body: () -> Void) {
    guard let aside, !isAside else { return body() }
    isAside = true
    defer { isAside = false }
    aside(body)
  }

  /// Notes whether a line that is being edited is on the screen.
  package func note(showsLine: Bool) { self.showsLine.store(showsLine, ordering: .relaxed) }

  /// Whether another thread has written below the line that is on the screen, since the last call.
  package func takeDisplacement() -> Bool { isDisplaced.exchange(false, ordering: .relaxed) }

  /// What another thread writes before its text: it leaves the line that is on the screen, and writes below it. For any thread.
  func startOfLineBesides() -> String {
    guard showsLine.load(ordering: .relaxed) else { return "" }
    isDisplaced.store(true, ordering: .relaxed)
    return "\n"
  }

  /// Copies `bytes` to the transcript.
  package func record(_ bytes: some Sequence<UInt8>) {
    if let transcript { transcript(Array(bytes)) }
  }
}
