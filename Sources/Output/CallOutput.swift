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
  /// The prefix of each line of output; distinguishes calls whose output is interleaved.
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
        if out.count == count { return out.removeLast(mark.utf8.count) }
        Self.mark(linesAfter: count, of: &out, with: mark)
      }
    }
    var bytes: [UInt8] = []
    try body(&bytes)
    waitingBytes += bytes.count
    pieces.append(.output(bytes))
  }

  /// Inserts the mark after each line feed from `start` on, except the last byte.
  private static func mark(linesAfter start: Int, of out: inout [UInt8], with mark: String) {
    let lines = out[start...].dropLast().split(
      separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    guard lines.count > 1, let last = out.last else { return }
    var marked: [UInt8] = []
    for (index, line) in lines.enumerated() {
      if index > 0 { marked += "\n\(mark)".utf8 }
      marked += line
    }
    out.replaceSubrange(start..., with: marked + [last])
  }

  /// Writes a line about the call to standard error, after the output so far; distinguished as output is.
  package func trace(_ line: String) {
    remark(isDirect ? mark() + line : line)
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
