import RPCurlBase
import RPCurlChain
import RPCurlCommandSupport
import RPCurlPlatform
import RPCurlProtobuf
import Synchronization

@testable import RPCurlScripts

/// A script on a thread of this process, at a Unix socket: one connection after the other, or several at once.
final class FakeScript: Sendable {
  /// What a connection does with a line: the lines that it writes; nil ends the connection.
  typealias Behaviour = @Sendable (_ line: JSONValue, _ name: String) -> [String]?

  let path: String
  private let folder: TemporaryDirectory
  private let thread = Locked<(@Sendable () -> Void)?>(nil)
  private let listener: Int32
  private let behave: Behaviour
  private let hello: @Sendable (_ name: String) -> String
  private let isStopped = Atomic(false)
  private let seed: UInt64

  /// - Parameters:
  ///   - seed: Selects how the replies to lines that arrive together are mixed; nil keeps their order.
  init(seed: UInt64? = nil, hello: @escaping @Sendable (String) -> String, _ behave: @escaping Behaviour)
    throws
  {
    self.seed = seed ?? 0
    self.hello = hello
    self.behave = behave
    guard let folder = TemporaryDirectory() else { throw SystemError.last }
    self.folder = folder
    path = "\(folder.path)/s"
    listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    _ = withUnsafePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, size) }
    }
    listen(listener, 8)
    let wait = startThread { [self] in serve() }
    thread.withLock { $0 = wait }
  }

  /// Ends it.
  func stop() {
    isStopped.store(true, ordering: .relaxed)
    shutdown(listener, Int32(SHUT_RDWR))
    thread.withLock { $0 }?()
  }

  private struct Connection {
    let descriptor: Int32
    var lines = LineBuffer()
    var name: String?
  }

  private func serve() {
    var connections: [Connection] = []
    var generator = SeededGenerator(seed: seed)
    while !isStopped.load(ordering: .relaxed) {
      var polls = connections.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
      polls.append(pollfd(fd: listener, events: Int16(POLLIN), revents: 0))
      guard poll(&polls, nfds_t(polls.count), -1) > 0 else { continue }
      if polls[connections.count].revents != 0 {
        let descriptor = accept(listener, nil, nil)
        guard descriptor >= 0 else { break }
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        connections.append(Connection(descriptor: descriptor))
      }
      for index in connections.indices.reversed() where index < polls.count - 1 && polls[index].revents != 0 {
        if !serve(&connections[index], &generator) {
          end(connections[index])
          connections.remove(at: index)
        }
      }
    }
    for connection in connections { end(connection) }
    close(listener)
  }

  /// Ends a connection, also if a process of another test has inherited it.
  private func end(_ connection: Connection) {
    shutdown(connection.descriptor, Int32(SHUT_RDWR))
    close(connection.descriptor)
  }

  private func serve(_ connection: inout Connection, _ generator: inout SeededGenerator) -> Bool {
    if case .end = connection.lines.read(connection.descriptor) { return false }
    var replies: [[String]] = []
    while let line = connection.lines.line() {
      guard let value = try? JSONValue(parsing: line) else { return false }
      guard let name = connection.name else {
        guard case .string(let name)? = value["name"] else { return false }
        connection.name = name
        replies.append([hello(name)])
        continue
      }
      guard let lines = behave(value, name) else { return false }
      replies.append(lines)
    }
    // An end of the call discards what waits, and `upto` replies to it, so these keep their order.
    let isOrdered = replies.joined().contains { line in
      ["\"fail\"", "\"respond\"", "\"upto\""].contains { line.contains($0) }
    }
    if seed != 0, !isOrdered { replies.shuffle(using: &generator) }
    let text = Array(replies.joined().map { "\($0)\n" }.joined().utf8)
    var sent = 0
    while sent < text.count {
      let count = text.withUnsafeBytes { bytes in
        write(connection.descriptor, bytes.baseAddress.map { $0 + sent }, bytes.count - sent)
      }
      if count > 0 { sent += count }
      if count < 0, errno != EAGAIN, errno != EINTR { return false }
    }
    return true
  }
}

extension JSONValue {
  /// The number of a member; -1 without one.
  func number(_ name: String) -> Int {
    if case .number(let digits)? = self[name] { Int(digits) ?? -1 } else { -1 }
  }

  func string(_ name: String) -> String {
    if case .string(let text)? = self[name] { text } else { "" }
  }

  /// The start of a reply to this value.
  var reply: String { "{\"call\":\(number("call")),\"value\":\(number("value"))" }
}

/// The loop of a test: descriptors and work of other threads.
final class ScriptLoop: @unchecked Sendable {
  private let posted = Locked<[@Sendable () -> Void]>([])
  private var watched: [Int32: [DescriptorEvents: () -> Void]] = [:]
  let logged = Locked<[LogRecord]>([])

  var network: FactoryNetwork {
    FactoryNetwork(
      log: { [logged] record in logged.withLock { $0.append(record) } },
      post: { [posted] work in posted.withLock { $0.append(work) } },
      watch: { [weak self] in self?.watched[$0, default: [:]][$1] = $2 },
      fetch: { _, _ in })
  }

  /// Runs until a condition holds; false if nothing happens for a minute, which ends a test that would hang.
  func run(until isDone: () -> Bool) -> Bool {
    while !isDone() {
      let work = posted.withLock { posted in
        defer { posted = [] }
        return posted
      }
      for item in work { item() }
      guard work.isEmpty else { continue }
      var polls = watched.flatMap { descriptor, actions in
        actions.keys.map { events in
          pollfd(fd: descriptor, events: Int16(events == .reading ? POLLIN : POLLOUT), revents: 0)
        }
      }
      guard poll(&polls, nfds_t(polls.count), 60_000) > 0 else { return false }
      for entry in polls where entry.revents != 0 {
        watched[entry.fd]?[Int32(entry.events) == POLLOUT ? .writing : .reading]?()
      }
    }
    return true
  }
}
