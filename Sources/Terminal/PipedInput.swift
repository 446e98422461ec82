import Output
import System
import Transport

/// Lines of standard input where no line is edited: of a pipe, a file, or a terminal that edits lines itself.
package final class PipedInput: LineInput {
  /// The longest line that is taken.
  private static let limitBytes = 64 << 20

  package var onLine: ((String?) -> Void)?
  package var onInterrupt: ((_ hadText: Bool) -> Void)?

  private let loop: EventLoop
  private let showsPrompt: Bool
  private var buffer: [UInt8] = []
  /// The start of the next line in `buffer`, and the first byte that has not been looked at.
  private var start = 0
  private var scanned = 0
  private var isAtEnd = false
  private var isAsking = false
  private var isWatching = false

  /// Reads standard input on `loop`.
  package init(_ loop: EventLoop, showsPrompt: Bool) {
    self.loop = loop
    self.showsPrompt = showsPrompt
  }

  package func ask(_ prompt: String) {
    isAsking = true
    if showsPrompt {
      StandardOutput.write(Array(prompt.utf8))
      StandardOutput.flush()
    }
    deliver()
  }

  package func pause() {
    isAsking = false
    setWatching(false)
  }

  package func aside(_ body: () throws -> Void) rethrows {
    try body()
  }

  package func remember(_ line: String) {}

  package func close() {
    pause()
  }

  /// Gives out lines that are there, until it is told to pause; waits for more when there are none.
  private func deliver() {
    while isAsking {
      if let line = nextLine() {
        onLine?(line)
      } else if isAtEnd {
        isAsking = false
        onLine?(nil)
      } else {
        break
      }
    }
    setWatching(isAsking)
  }

  private func nextLine() -> String? {
    while scanned < buffer.count {
      scanned += 1
      if buffer[scanned - 1] == UInt8(ascii: "\n") { return take(through: scanned, dropping: 1) }
    }
    let isTooLong = scanned - start > Self.limitBytes
    return (isAtEnd || isTooLong) && start < buffer.count ? take(through: buffer.count, dropping: 0) : nil
  }

  private func take(through end: Int, dropping count: Int) -> String {
    defer { start = end }
    return Self.text(ofLine: buffer[start..<(end - count)])
  }

  /// The text of a line, whose end may be that of other systems.
  package static func text(ofLine line: ArraySlice<UInt8>) -> String {
    String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
  }

  private func setWatching(_ isWanted: Bool) {
    guard isWanted != isWatching else { return }
    isWatching = isWanted
    if isWanted {
      loop.watch(0) { [weak self] in self?.read() }
    } else {
      loop.unwatch(0)
    }
  }

  private func read() {
    buffer.removeFirst(start)
    scanned -= start
    start = 0
    // Input that cannot be read has ended.
    let piece = (try? FileContents.readPiece(0, limitBytes: 1 << 16)) ?? []
    if piece.isEmpty { isAtEnd = true } else { buffer += piece }
    deliver()
  }
}
