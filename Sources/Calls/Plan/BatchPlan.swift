import Output
import Protobuf
import RPCClient

/// How a batch of calls is made.
package struct BatchPlan: Equatable {
  /// More at a time would meet the limit of open files before any server's.
  private static let mostJobs = 1000

  /// How many calls are made at a time.
  package let jobs: Int
  /// Whether the first call that fails ends the batch.
  package let failsEarly: Bool

  /// Resolves the options; `nil` when there is one call only.
  package init?(_ options: BatchOptions, _ method: MethodDescriptor) throws(Failure) {
    guard options.each else {
      if options.jobs != nil { throw Self.needsEach("--jobs") }
      if options.failEarly { throw Self.needsEach("--fail-early") }
      return nil
    }
    guard method.kind == .unary else {
      throw Failure(
        .usage, "--each", "\(method.name) is a stream, and a batch is of unary calls",
        hint: method.clientStreaming ? "without --each, all messages travel in one call" : nil)
    }
    jobs = options.jobs ?? 1
    failsEarly = options.failEarly
    guard (1...Self.mostJobs).contains(jobs) else {
      throw Failure(.usage, "--jobs \(jobs)", "not a number from 1 to \(Self.mostJobs)")
    }
  }

  private static func needsEach(_ option: String) -> Failure {
    Failure(.usage, option, "there is one call only", hint: "add --each for a call of each message")
  }
}
