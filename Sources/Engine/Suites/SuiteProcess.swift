import RPCurlBase
import RPCurlLanguage
import RPCurlPlatform
import RPCurlProgram
import RPCurlReports

/// A process that runs a suite, and writes its events to a pipe.
final class SuiteProcess {
  /// What was read.
  enum Item {
    case event(SuiteEvent)
    /// Why the process does not write events.
    case problem(String)
    /// The end of the pipe.
    case end
  }

  /// The longest line of an event, in bytes.
  private static let limitBytes = SuiteEvent.maximumLength

  let file: String
  let process: pid_t
  /// The end of the pipe to read from, which does not block.
  let descriptor: Int32
  /// The pipe that says which tests run; nil if each runs once, and after the last order.
  private var orders: Int32?
  private var lines = LineBuffer()
  /// Whether the end of the file was reported.
  var hasEnded = false

  /// Starts a process.
  ///
  /// - Parameters:
  ///   - file: The suite; `-` for standard input.
  ///   - arguments: The program and its arguments.
  ///   - runFiles: The files that the processes write; nil if each may replace those of the others.
  ///   - takesOrders: Whether its standard input says which tests run.
  /// - Throws: Why it cannot be started.
  init(
    _ file: String, _ arguments: [String], _ runFiles: RunFiles?, takesOrders: Bool = false
  ) throws(SystemError) {
    var pipes: [Pipe] = []
    func problem(_ why: String) -> SystemError {
      for end in pipes.flatMap({ [$0.readEnd, $0.writeEnd] }) { close(end) }
      return SystemError(why)
    }
    for _ in 0..<(takesOrders ? 2 : 1) {
      guard let pipe = Pipe() else { throw problem(FileContents.lastError()) }
      pipes.append(pipe)
    }
    var descriptors = [(own: pipes[0].writeEnd, its: Int32(1))]
    if takesOrders { descriptors.append((pipes[1].readEnd, 0)) }
    if let runFiles { descriptors.append((runFiles.descriptor, RunFiles.inheritedDescriptor)) }
    // Without a terminal a prompt fails, which several processes at a time could not share.
    let started = ChildProcess.start(
      arguments, hasInput: takesOrders || file == "-", giving: descriptors, leadsSession: true)
    switch started {
    case .success(let process): self.process = process
    case .failure(let error): throw problem("cannot start a process: \(error.reason)")
    }
    self.file = file
    close(pipes[0].writeEnd)
    descriptor = pipes[0].readEnd
    if takesOrders {
      close(pipes[1].readEnd)
      orders = pipes[1].writeEnd
    }
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
  }

  /// Orders the run of a test. A process that has ended reports that by its events.
  func order(_ order: SuiteOrders.Order) {
    if let orders { _ = FileContents.write(Array(order.line.utf8), to: orders) }
  }

  /// Lets the process run its teardown and end, after the test that runs.
  func endOrders() {
    if let orders { close(orders) }
    orders = nil
  }

  /// Reads what there is. Blocks if there is nothing. A process whose events are too long is killed.
  func read() -> [Item] {
    guard case .bytes = lines.read(descriptor) else { return [.end] }
    var items: [Item] = []
    while let line = lines.line() { items.append(Self.item(line)) }
    if lines.restCount > Self.limitBytes {
      kill(-process, SIGKILL)
      items.append(.problem("an event is longer than \(Self.limitBytes >> 20) MiB"))
      lines = LineBuffer()
    }
    return items
  }

  private static func item(_ line: [UInt8]) -> Item {
    do throws(LanguageError) {
      return .event(try SuiteEvent(parsing: line))
    } catch {
      return .problem("an event is invalid: \(error.reason)")
    }
  }

  /// Waits for the process, whose events have ended. Returns why it ended without a report of its end, and the signal that
  /// ended it, which may be 0; nil if it has reported.
  func conclude() -> (why: String, signal: Int32)? {
    endOrders()
    close(descriptor)
    let status = ChildProcess.wait(for: process)
    guard !hasEnded else { return nil }
    let signal = status & 0x7F
    return (
      signal != 0 ? "the process was ended by signal \(signal)" : "the process ended with \(status >> 8)",
      signal
    )
  }
}
