/// Moves the line being edited aside while output is written, and copies output to the transcript.
///
/// Used on the main thread only: a session writes nothing from other threads.
package enum TerminalMultiplexer {
  /// Runs a closure that writes, with the line being edited removed from the screen; nil if no line is being edited.
  package nonisolated(unsafe) static var aside: ((() -> Void) -> Void)?
  /// Receives a copy of the output; nil if there is no transcript.
  package nonisolated(unsafe) static var transcript: (([UInt8]) -> Void)?
  nonisolated(unsafe) private static var isAside = false
  /// Whether another program uses the terminal. Output is buffered until it ends.
  nonisolated(unsafe) package private(set) static var isLent = false

  /// Runs `body` while another program uses the terminal, then writes the output buffered meanwhile.
  package static func lend<Result, E: Error>(_ body: () throws(E) -> Result) throws(E) -> Result {
    _ = StandardOutput.flushWhatFits()
    isLent = true
    defer {
      isLent = false
      StandardOutput.flush()
    }
    return try body()
  }

  /// Runs `body`, which writes to the terminal.
  package static func write(_ body: () -> Void) {
    guard let aside, !isAside else { return body() }
    isAside = true
    defer { isAside = false }
    aside(body)
  }

  /// Copies `bytes` to the transcript.
  package static func record(_ bytes: some Sequence<UInt8>) {
    if let transcript { transcript(Array(bytes)) }
  }
}
