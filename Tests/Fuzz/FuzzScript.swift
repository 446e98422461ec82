import RPCurlChain
import RPCurlChainSupport
import RPCurlPlatform
import RPCurlProtocols

@testable import RPCurlScripts

/// Reads the lines of a script: its first line, and the others as replies in a call without a network, one after each step of
/// the call.
func fuzzScript(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let input = [UInt8](UnsafeBufferPointer(start: start, count: count))
  let lines = input.split(separator: UInt8(ascii: "\n")).map { Array($0) }
  for line in lines { _ = try? ScriptReply(parsing: line) }
  guard let first = lines.first, let hello = try? ScriptHello(parsing: first), let pipes = ScriptPipes()
  else { return 0 }
  let network = ScriptNetwork()
  let host = ScriptHost(ScriptSettings(.command(["script"])), pipes.peer, hello)
  let factory = ScriptFactory(host, name: "script")
  factory.attach(network.network)
  let call = TestCall(
    CallKind.allCases[lines.count % 4], Journal(),
    [InterceptorRegistration(name: "script", factory: factory)],
    typed: true)
  var replies = lines.dropFirst()
  func step(_ event: () -> Void) {
    event()
    if let line = replies.popFirst() { pipes.feed(line) }
    for _ in 0..<2 {
      network.work()
      call.work()
    }
  }
  step { call.start() }
  step { call.send("one") }
  step { call.close() }
  step { call.receiveHeaders() }
  step { call.receive("two") }
  step { call.receiveEnd() }
  while !replies.isEmpty { step {} }
  // The script ends, and so do the calls that wait for it.
  pipes.end()
  step {}
  call.chain.cancel(RPCError(.canceled, "the end", origin: .client))
  call.clock.advance(by: .seconds(100))
  step {}
  precondition(call.outcome != nil, "the call has ended")
  return 0
}

/// What stands for a script: its end of two pipes.
private final class ScriptPipes {
  /// The most bytes of lines that have room in a pipe.
  private static let room = 1 << 16
  private let input: Pipe
  private let output: Pipe
  private var written = 0
  private var isOpen = true
  let peer: ScriptPeer

  init?() {
    // The host closes its ends when the script has failed.
    signal(SIGPIPE, SIG_IGN)
    guard let input = Pipe() else { return nil }
    guard let output = Pipe() else { return nil }
    (self.input, self.output) = (input, output)
    peer = ScriptPeer(input: input.writeEnd, output: output.readEnd)
  }

  deinit {
    end()
    close(input.readEnd)
  }

  func feed(_ line: [UInt8]) {
    written += line.count + 1
    guard written < Self.room else { return end() }
    _ = write(output.writeEnd, line + [UInt8(ascii: "\n")], line.count + 1)
  }

  func end() {
    if isOpen { close(output.writeEnd) }
    isOpen = false
  }
}

/// A network without a loop: descriptors and posted work are served when the target says so.
private final class ScriptNetwork {
  private var actions: [Int32: () -> Void] = [:]
  private let posted = Posted()

  private final class Posted: @unchecked Sendable {
    var work: [@Sendable () -> Void] = []
  }

  var network: FactoryNetwork {
    let posted = posted
    return FactoryNetwork(
      log: { _ in }, clock: ManualClock(), post: { posted.work.append($0) },
      watch: { [unowned self] descriptor, events, action in
        if events == .reading { actions[descriptor] = action }
      }, fetch: { _, _ in })
  }

  func work() {
    let work = posted.work
    posted.work = []
    for item in work { item() }
    for descriptor in actions.keys.sorted() { actions[descriptor]?() }
  }
}
