/// Where one call's output goes: to the process's own streams, or into memory until it is the call's turn.
package final class CallOutput {
  private enum Piece {
    case output([UInt8])
    case remark(String)
  }

  private var isDirect: Bool
  private var pieces: [Piece] = []
  /// What stands in front of each piece of output, to tell calls apart whose output is mixed.
  package var mark: () -> String = { "" }
  /// What waits for the call's turn.
  package private(set) var waitingBytes = 0

  /// Makes an output that writes at once, or when it is told that it may.
  package init(isDirect: Bool) {
    self.isDirect = isDirect
  }

  /// Writes what `body` appends to standard output; nothing when it throws.
  package func write<E: Error>(_ body: (inout [UInt8]) throws(E) -> Void) throws(E) {
    guard !isDirect else {
      let mark = mark()
      guard !mark.isEmpty else { return try StandardOutput.write(body) }
      return try StandardOutput.write { (out) throws(E) in
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

  /// Says `text` on standard error, after what was written before.
  package func remark(_ text: String) {
    guard !isDirect else { return StandardOutput.remark(text) }
    waitingBytes += text.utf8.count
    pieces.append(.remark(text))
  }

  /// It is the call's turn: writes what waits, and from now on at once.
  package func takeTurn() {
    guard !isDirect else { return }
    isDirect = true
    waitingBytes = 0
    for piece in pieces {
      switch piece {
      case .output(let bytes): StandardOutput.write(bytes)
      case .remark(let text): StandardOutput.remark(text)
      }
    }
    pieces = []
  }
}
