/// How those who write share a terminal with a line that is being typed on it, and a transcript of what they write.
///
/// Both belong to the main thread, on which all of them write while there is a session.
package enum TerminalMultiplexer {
  /// Runs what writes, with the line out of the way; `nil` when no line is being typed.
  package nonisolated(unsafe) static var aside: ((() -> Void) -> Void)?
  /// Takes what was written; `nil` when nobody asks for it.
  package nonisolated(unsafe) static var transcript: (([UInt8]) -> Void)?
  nonisolated(unsafe) private static var isAside = false
  /// Whether another program has the terminal, so that what is to be shown waits.
  nonisolated(unsafe) package private(set) static var isLent = false

  /// Runs `body` while another program has the terminal; shows then what has waited.
  package static func lend<Result, E: Error>(_ body: () throws(E) -> Result) throws(E) -> Result {
    _ = StandardOutput.flushWhatFits()
    isLent = true
    defer {
      isLent = false
      StandardOutput.flush()
    }
    return try body()
  }

  /// Runs `body`, which writes.
  package static func write(_ body: () -> Void) {
    guard let aside, !isAside else { return body() }
    isAside = true
    defer { isAside = false }
    aside(body)
  }

  /// Says what was written.
  package static func note(_ bytes: some Sequence<UInt8>) {
    if let transcript { transcript(Array(bytes)) }
  }
}
