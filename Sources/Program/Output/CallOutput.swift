import RPCurlBase
import RPCurlProtobuf

/// The output of one call of a batch: written to the standard streams directly, or buffered until it is the call's
/// turn.
package final class CallOutput {
  private enum Piece {
    case output([UInt8])
    case table(head: String?)
    case remark(String)
  }

  private let destination: StandardOutput
  private var isDirect: Bool
  private var pieces: [Piece] = []
  /// The prefix of each line of output; distinguishes calls whose output is interleaved.
  package var mark: (() -> String)?
  /// The number of buffered bytes.
  package private(set) var waitingBytes = 0

  /// Creates an output that writes directly, or one that buffers until `beginTurn`.
  package init(_ destination: StandardOutput, isDirect: Bool) {
    self.destination = destination
    self.isDirect = isDirect
  }

  /// Writes what `body` appends to standard output; nothing if it throws.
  package func write<E: Error>(_ body: (inout OutputBuffer) throws(E) -> Void) throws(E) {
    guard !isDirect else {
      guard let mark = mark?(), !mark.isEmpty else { return try destination.write(body) }
      return try destination.write { (out) throws(E) in
        out.append(mark)
        let count = out.count
        try body(&out)
        if out.count == count { return out.truncate(to: count - mark.utf8.count) }
        Self.mark(linesAfter: count, of: &out, with: mark)
      }
    }
    var bytes = OutputBuffer()
    try body(&bytes)
    waitingBytes += bytes.count
    pieces.append(.output(bytes.copyBytes()))
  }

  /// Begins the rows of a table with the line of the names of its columns, unless the rows before are below the same line.
  ///
  /// - Parameter head: The line; nil for what is no table.
  package func begin(table head: String?) {
    guard isDirect else { return pieces.append(.table(head: head)) }
    if destination.begins(table: head), let head { write { $0.append(head) } }
  }

  /// Inserts the mark after each line feed from `start` on, except the last byte.
  private static func mark(linesAfter start: Int, of out: inout OutputBuffer, with mark: String) {
    let text = out.copyBytes(from: start)
    let lines = text.dropLast().split(
      separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    guard lines.count > 1, let last = text.last else { return }
    out.truncate(to: start)
    for (index, line) in lines.enumerated() {
      if index > 0 { out.append("\n\(mark)") }
      out.append(Array(line))
    }
    out.append(last)
  }

  /// Writes a line about the call to standard error, after the output so far; distinguished as output is.
  package func trace(_ line: String) {
    remark(isDirect ? (mark?() ?? "") + line : line)
  }

  /// Writes `text` to standard error, after the output so far.
  package func remark(_ text: String) {
    guard !isDirect else { return destination.remark(text) }
    waitingBytes += text.utf8.count
    pieces.append(.remark(text))
  }

  /// Prints an error on standard error, after the output so far.
  package func report(_ report: ErrorReport) {
    remark(destination.error.text(of: report))
  }

  /// The colours of what is written to standard error.
  package var errorColors: TextColors { destination.error.colors }

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
      case .table(let head): begin(table: head)
      case .remark(let text): destination.remark(text)
      }
    }
    pieces = []
  }
}
