import RPCurlPlatform
import Testing

@testable import RPCurlChain

/// Random calls through random chains: every interceptor, the wire and the caller receive exactly what the model says.
@Suite struct DifferentialTests {
  /// How many calls are made; RPCURL_RANDOM_RUNS sets the number.
  private static let runs = getenv("RPCURL_RANDOM_RUNS").flatMap { Int(String(cString: $0)) } ?? 20_000
  /// The seed of the one call to make and print, from RPCURL_RANDOM_SEED.
  private static let seed = getenv("RPCURL_RANDOM_SEED").flatMap { Int(String(cString: $0)) }

  @Test(arguments: 0..<32)
  func callsAreAsTheModelSays(_ block: Int) {
    let runs = Self.runs * 9 / 10
    check((block * runs / 32)..<((block + 1) * runs / 32), nil)
  }

  @Test(arguments: 0..<4)
  func callsWithVerdictsOnAnotherThreadAreAsTheModelSays(_ block: Int) {
    let thread = HelperThread()
    defer { thread.stop() }
    let runs = Self.runs / 10
    check((1_000_000_000 + block * runs / 4)..<(1_000_000_000 + (block + 1) * runs / 4), thread)
  }

  private func check(_ seeds: Range<Int>, _ thread: HelperThread?) {
    if let seed = Self.seed {
      // Once, in the first block.
      guard seeds.lowerBound == (seed < 1_000_000_000 ? 0 : 1_000_000_000) else { return }
    }
    for seed in Self.seed.map({ $0...$0 }) ?? seeds.lowerBound...(seeds.upperBound - 1) {
      let call = CallDescription(seed: UInt64(seed), usesThread: thread != nil)
      let run = DifferentialRun(call, thread)
      run.perform()
      var disagreement = DifferentialCheck(call, run).disagreement()
      if run.release(), disagreement == nil { disagreement = "an interceptor is not released" }
      if let disagreement {
        Issue.record("\(call)\n\(disagreement)")
        if getenv("RPCURL_RANDOM_ALL") == nil { return }
      }
    }
  }
}
