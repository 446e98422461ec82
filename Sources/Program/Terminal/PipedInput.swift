import RPCurlBase
import RPCurlPlatform
import RPCurlTransport

/// Reads lines from standard input without editing: from a pipe, a file, or a terminal that cannot move the cursor.
package final class PipedInput: LineInput {
  /// The longest line in bytes.
  private static let limitBytes = 64 << 20
  private static let name = "standard input"

  package var onLine: ((InputLine?) -> Void)?
  package private(set) var failure: Failure?
  package var onInterrupt: ((_ hadText: Bool) -> Void)?
  package var onEdit: ((_ text: String) -> Void)?

  private let loop: EventLoop
  /// Where the prompt is printed; nil to print none.
  private let output: StandardOutput?
  private var buffer: [UInt8] = []
  /// The start of the next line in `buffer`, and the first byte that was not searched for a line end.
  private var start = 0
  private var scanned = 0
  private var isAtEnd = false
  private var isFirst = true
  /// Whether the rest of a line that is too long is skipped.
  private var isSkipping = false
  private var isAsking = false
  /// Whether `deliver` is running: a line may ask for the next.
  private var isDelivering = false
  private var isWatching = false

  /// Prepares to read standard input on `loop`.
  ///
  /// - Parameters:
  ///   - loop: The event loop that watches standard input.
  ///   - output: Where to print the prompt; nil to print none.
  package init(_ loop: EventLoop, showingPromptOn output: StandardOutput?) {
    self.loop = loop
    self.output = output
  }

  package func ask(_ prompt: LinePrompt) {
    isAsking = true
    output?.print(prompt.text)
    deliver()
  }

  package func pause() {
    isAsking = false
    setWatching(false)
  }

  package func aside(_ body: () throws -> Void) rethrows {
    try body()
  }

  package func dropPaste() -> Bool { false }

  package func replace(by text: String) {}
  package func remember(_ line: String) {}
  package var history: [String] { [] }
  package func clearScreen() {}

  package func close() {
    pause()
  }

  /// Delivers complete lines until reading pauses, and then waits for more input.
  private func deliver() {
    guard !isDelivering else { return }
    isDelivering = true
    defer { isDelivering = false }
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

  private func nextLine() -> InputLine? {
    while scanned < buffer.count {
      scanned += 1
      guard buffer[scanned - 1] == UInt8(ascii: "\n") else { continue }
      guard isSkipping else { return line(through: scanned, dropping: 1) }
      isSkipping = false
      start = scanned
    }
    guard !isSkipping else {
      start = scanned
      return nil
    }
    guard scanned - start <= Self.limitBytes else {
      isSkipping = true
      start = scanned
      return InputLine(tooLongIn: Self.name, limitBytes: Self.limitBytes)
    }
    return isAtEnd && start < buffer.count ? line(through: buffer.count, dropping: 0) : nil
  }

  private func line(through end: Int, dropping count: Int) -> InputLine {
    defer { (start, isFirst) = (end, false) }
    let line = buffer[start..<(end - count)]
    return InputLine(isFirst ? Array(line).withoutByteOrderMark[...] : line, of: Self.name)
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
    do throws(SystemError) {
      guard let piece = try FileContents.readAvailable(0, limitBytes: 1 << 16) else { return }
      if piece.isEmpty { isAtEnd = true } else { buffer += piece }
    } catch {
      failure = Failure(.input, Self.name, error)
      isAtEnd = true
    }
    deliver()
  }
}
