/// The output of one call of a batch: written to the standard streams directly, or buffered until it is the call's
/// turn.
package final class CallOutput {
  private enum Piece {
    case output([UInt8])
    case remark(String)
  }

  private let destination: StandardOutput
  private var isDirect: Bool
  private var pieces: [Piece] = []
  /// The prefix of each piece of output; distinguishes calls whose output is interleaved.
  package var mark: () -> String = { "" }
  /// The number of buffered bytes.
  package private(set) var waitingBytes = 0

  /// Creates an output that writes directly, or one that buffers until `beginTurn`.
  package init(_ destination: StandardOutput, isDirect: Bool) {
    self.destination = destination
    self.isDirect = isDirect
  }

  /// Writes what `body` appends to standard output; nothing if it throws.
  package func write<E: Error>(_ body: (inout [UInt8]) throws(E) -> Void) throws(E) {
    guard !isDirect else {
      let mark = mark()
      guard !mark.isEmpty else { return try destination.write(body) }
      return try destination.write { (out) throws(E) in
        out.append(contentsOf: mark.utf8)
        let count = out.count
        try body(&out)
        if out.count == count { out.removeLast(mark.utf8.count) }
      }
    }
    var bytes: [UInt8] = []
    try body(&bytes)
    waitingBytes += bytes.count
    pieces.append(.output(bytes))
  }

  /// Writes `text` to standard error, after the output so far.
  package func remark(_ text: String) {
    guard !isDirect else { return destination.remark(text) }
    waitingBytes += text.utf8.count
    pieces.append(.remark(text))
  }

  /// Prints an error on standard error, after the output so far.
  package func report(_ report: ErrorReport) {
    remark(report.rendered(destination.error.diagnostics))
  }

  /// Whether the output is a terminal.
  package var isTerminal: Bool { destination.isTerminal }

  /// Writes what is buffered, and from now on writes directly.
  package func beginTurn() {
    guard !isDirect else { return }
    isDirect = true
    waitingBytes = 0
    for piece in pieces {
      switch piece {
      case .output(let bytes): destination.write(bytes)
      case .remark(let text): destination.remark(text)
      }
    }
    pieces = []
  }
}
