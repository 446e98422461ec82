import Synchronization

/// Moves the line being edited aside while output is written, and copies output to the transcript.
package final class TerminalMultiplexer {
  /// Runs a closure that writes, with the line being edited removed from the screen; nil if no line is being edited.
  package var aside: ((() -> Void) -> Void)? {
    didSet { isEditing.store(aside != nil, ordering: .relaxed) }
  }
  private let isEditing = Atomic(false)
  /// Whether another thread has written below the line being edited since it was drawn.
  private let isDisplaced = Atomic(false)
  /// Receives a copy of the output; nil if there is no transcript.
  package var transcript: (([UInt8]) -> Void)?
  private var isAside = false
  /// The output that waits while another program uses the terminal; nil if none does.
  package private(set) var waitingOutput: StandardOutput?

  /// Whether another program uses the terminal. Output is buffered until it ends.
  package var isLent: Bool { waitingOutput != nil }

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

  /// Notes that another thread is about to write below the line being edited; false if none is. Called on any thread.
  func displaceLine() -> Bool {
    guard isEditing.load(ordering: .relaxed) else { return false }
    isDisplaced.store(true, ordering: .relaxed)
    return true
  }

  /// Whether another thread has written below the line being edited since the last call.
  package func takeDisplacement() -> Bool { isDisplaced.exchange(false, ordering: .relaxed) }

  /// Copies `bytes` to the transcript.
  package func record(_ bytes: some Sequence<UInt8>) {
    if let transcript { transcript(Array(bytes)) }
  }
}
