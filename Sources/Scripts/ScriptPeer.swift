import RPCurlBase
import RPCurlPlatform

/// The other end of a script's lines: a process that this one has started, or a socket. It belongs to the loop's thread.
final class ScriptPeer {
  /// The longest line of a script, in bytes.
  static let longestLine = 128 << 20
  /// How many bytes are read before other work is done.
  private static let readLimit = 1 << 20
  /// How many lines of standard error are kept for an error.
  private static let errorLineCount = 10
  /// The longest part of a line of standard error, in bytes.
  private static let longestErrorLine = 2048

  /// Where lines are read from.
  let output: Int32
  /// Where standard error is read from; -1 for a socket, and after its end.
  private(set) var errors: Int32 = -1
  /// Where lines are written to; -1 after its end.
  private(set) var input: Int32
  private let group: ProcessGroup?
  private var unsent: [UInt8] = []
  private var sentCount = 0
  private var lines = LineBuffer()
  private var errorLines = LineBuffer()
  /// The last lines of standard error.
  private(set) var lastErrors: [String] = []
  /// Receives the lines of standard error, also those from before it was set.
  var log: ((String) -> Void)? {
    didSet {
      for line in unlogged { log?(line) }
      unlogged = []
    }
  }
  private var unlogged: [String] = []
  private var hasEnded = false

  /// Starts a script, or connects with one.
  init(_ place: ScriptSettings.Place) throws(SystemError) {
    switch place {
    case .socket(let path):
      group = nil
      output = try UnixSocket.connect(path)
      input = output
    case .command(let words):
      let pipes = (0..<3).compactMap { _ in Pipe() }
      guard pipes.count == 3 else {
        defer { for pipe in pipes { [pipe.readEnd, pipe.writeEnd].forEach { close($0) } } }
        throw .last
      }
      let (toScript, toUs, ofErrors) = (pipes[0], pipes[1], pipes[2])
      let group = ProcessGroup()
      let problem = group.start(
        words, giving: [(toScript.readEnd, 0), (toUs.writeEnd, 1), (ofErrors.writeEnd, 2)],
        environment: Installation.environmentOfScripts)
      for descriptor in [toScript.readEnd, toUs.writeEnd, ofErrors.writeEnd] { close(descriptor) }
      self.group = group
      (input, output, errors) = (toScript.writeEnd, toUs.readEnd, ofErrors.readEnd)
      if let problem {
        end()
        throw problem
      }
    }
    // A script that has ended is found by the end of its output, and must not end a program that handles no SIGPIPE.
    signal(SIGPIPE, SIG_IGN)
    for descriptor in [input, output, errors] { _ = fcntl(descriptor, F_SETFL, O_NONBLOCK) }
  }

  /// The other end of two descriptors, which it closes.
  init(input: Int32, output: Int32) {
    (self.input, self.output) = (input, output)
    group = nil
    for descriptor in [input, output] { _ = fcntl(descriptor, F_SETFL, O_NONBLOCK) }
  }

  deinit { end() }

  // MARK: Writing

  /// Whether something waits to be written.
  var isWriting: Bool { sentCount < unsent.count }

  /// Keeps a line for ``flush()``.
  func append(_ line: [UInt8]) { unsent += line }

  /// Writes what the script takes now. That it reads no more is found by the end of its output.
  func flush() {
    while isWriting {
      let count = unsent.withUnsafeBytes { bytes in
        write(input, bytes.baseAddress.map { $0 + sentCount }, bytes.count - sentCount)
      }
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN { return }
      sentCount = count < 0 ? unsent.count : sentCount + count
    }
    unsent.removeAll(keepingCapacity: unsent.count < Self.readLimit)
    sentCount = 0
  }

  /// Ends the script's input: no more lines follow.
  func closeInput() {
    guard input >= 0 else { return }
    if input == output { shutdown(input, Int32(SHUT_WR)) } else { close(input) }
    input = -1
    unsent = []
    sentCount = 0
  }

  // MARK: Reading

  /// Reads what is there, up to a limit. Returns false at the end.
  func read() -> Bool {
    var total = 0
    while total < Self.readLimit {
      switch lines.read(output) {
      case .bytes(let count): total += count
      case .nothing: return true
      case .end: return false
      }
    }
    return true
  }

  /// Takes the next whole line, without its end; nil if there is none.
  ///
  /// - Throws: `SystemError` for a line that is too long.
  func nextLine() throws(SystemError) -> [UInt8]? {
    if let line = lines.line() { return line }
    guard lines.restCount <= Self.longestLine else {
      throw SystemError("a line of more than \(Self.longestLine) bytes")
    }
    return nil
  }

  /// Reads standard error to the log.
  ///
  /// - Parameter ended: Called at its end, before the descriptor is closed.
  func readErrors(_ ended: () -> Void = {}) {
    guard errors >= 0 else { return }
    let found = errorLines.read(errors)
    while let line = errorLines.line() { note(line) }
    switch found {
    case .nothing: break
    case .bytes: if errorLines.restCount > Self.longestErrorLine, let rest = errorLines.rest() { note(rest) }
    case .end:
      if let rest = errorLines.rest() { note(rest) }
      ended()
      close(errors)
      errors = -1
    }
  }

  private func note(_ line: [UInt8]) {
    let text = String(decoding: line.prefix(Self.longestErrorLine), as: UTF8.self)
    // Node ends an error with its version.
    if !["", "}"].contains(text), !text.hasPrefix("Node.js v") {
      lastErrors = lastErrors.suffix(Self.errorLineCount - 1) + [text]
    }
    if let log { log(text) } else if unlogged.count < 1000 { unlogged.append(text) }
  }

  /// Waits until there are lines to read. Returns false at the deadline, or if a signal has arrived.
  func wait(until deadline: MonotonicClock.Instant) -> Bool {
    while MonotonicClock.now < deadline, !Interrupt.isPending {
      var polls = [output, errors].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      // A signal may be handled on another thread.
      guard poll(&polls, nfds_t(polls.count), 50) > 0 else { continue }
      if polls[1].revents != 0 { readErrors() }
      if polls[0].revents != 0 { return true }
    }
    return false
  }

  // MARK: The end

  /// Whether the process has ended; false for a socket.
  var isOver: Bool { group?.isOver ?? false }

  /// Ends the connection, and the process with those that it has started, if they still run.
  ///
  /// - Parameters:
  ///   - grace: How long the process has before SIGTERM.
  ///   - patience: How long it has after it, before it is killed.
  /// - Returns: How it ended, such as `exit code 1`; nil for a socket.
  @discardableResult
  func end(grace: Duration = .milliseconds(300), patience: Duration = .milliseconds(300)) -> String? {
    guard !hasEnded else { return nil }
    hasEnded = true
    closeInput()
    let status = group?.end(grace: grace, patience: patience)
    // Its last lines; a process that it has started may keep the other end open.
    for _ in 0..<16 where errors >= 0 { readErrors() }
    if errors >= 0 { close(errors) }
    errors = -1
    close(output)
    return status.map { $0 & 0x7f == 0 ? "exit code \($0 >> 8 & 0xff)" : "signal \($0 & 0x7f)" }
  }
}
