import Glibc

/// The calls of bench.proto, by a library.
public protocol BenchClient: Sendable {
  /// Sends an item and returns the `id` of the response.
  func unary(_ method: String, name: String, id: Int) async throws -> Int
  /// Reads all items of the response to a request. Returns their number.
  func receive(name: String, id: Int) async throws -> Int
  /// Sends `count` items, each with `itemName`. Returns the server's number of them.
  func send(_ count: Int) async throws -> Int
}

/// The name of an item, whose messages have 49 bytes.
public let itemName = String(repeating: "x", count: 45)

/// A workload that cannot be run, or a result that is not the expected one.
public struct Failure: Error {
  let text: String
  /// - Parameter text: The reason.
  public init(_ text: String) { self.text = text }
}

/// Runs the workload of the last three arguments: PORT unary|parallel|receive|packed|send|cancel|gate COUNT.
///
/// The main thread waits, and is not one of the tasks: valgrind ends when it leaves its stack.
public func runWorkload(_ body: @escaping @Sendable (Workload) async throws -> Void) -> Never {
  Task.detached {
    do {
      guard let workload = Workload(CommandLine.arguments) else {
        throw Failure("usage: PORT WORKLOAD COUNT")
      }
      try await body(workload)
      exit(0)
    } catch {
      print("\(error)")
      exit(1)
    }
  }
  while true { pause() }
}

/// Calls whose time is measured.
public struct Workload: Sendable {
  /// The port of the server.
  public let port: Int
  private let name: String
  private let count: Int

  fileprivate init?(_ arguments: [String]) {
    let words = Array(arguments.suffix(3))
    guard words.count == 3, let port = Int(words[0]), let count = Int(words[2]) else { return nil }
    (self.port, name, self.count) = (port, words[1], count)
  }

  /// Connects by a call, then runs the workload. Prints its seconds, those of the processor, and the highest memory in KB.
  public func run(_ client: some BenchClient) async throws {
    try expect(try await client.unary("Unary", name: itemName, id: 5), 5)
    let clock = ContinuousClock()
    let (start, processor) = (clock.now, usage().seconds)
    switch name {
    case "unary": for _ in 0..<count { try expect(try await client.unary("Unary", name: itemName, id: 5), 5) }
    case "parallel": try await inParallel(client, width: 32)
    case "receive": try expect(try await client.receive(name: "", id: count), count)
    case "packed": try expect(try await client.receive(name: "packed", id: count), count)
    case "send": try expect(try await client.send(count), count)
    case "cancel": try await atOnce(client) { $0.isMultiple(of: 2) }
    case "gate": try await atOnce(client) { _ in false }
    default: throw Failure("unknown workload: \(name)")
    }
    let wall = (clock.now - start) / .seconds(1)
    let end = usage()
    print(wall, end.seconds - processor, end.peak)
  }

  private func inParallel(_ client: some BenchClient, width: Int) async throws {
    let count = count
    try await withThrowingDiscardingTaskGroup { group in
      for index in 0..<width {
        group.addTask {
          for _ in stride(from: index, to: count, by: width) {
            try expect(try await client.unary("Unary", name: itemName, id: 5), 5)
          }
        }
      }
    }
  }

  /// Makes calls that all wait at the server at the same time, which then responds to those that are not held. The held ones are
  /// canceled.
  private func atOnce(_ client: some BenchClient, isHeld: (Int) -> Bool) async throws {
    let count = count
    let calls = (0..<count).map { index in
      let isHeld = isHeld(index)
      return (
        isHeld,
        Task { try await client.unary("Gate", name: isHeld ? "held" : "", id: count) }
      )
    }
    for (isHeld, call) in calls where !isHeld { try expect(try await call.value, count) }
    for (isHeld, call) in calls where isHeld { call.cancel() }
    for (isHeld, call) in calls where isHeld {
      if case .success = await call.result { throw Failure("a held call has a response") }
    }
  }
}

private func expect(_ value: Int, _ expected: Int) throws {
  if value != expected { throw Failure("\(value) is not \(expected)") }
}

/// The processor time of all threads of the process so far in seconds, and the highest memory in KB.
private func usage() -> (seconds: Double, peak: Int) {
  var usage = rusage()
  getrusage(Int32(RUSAGE_SELF.rawValue), &usage)
  func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
  return (seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss)
}
