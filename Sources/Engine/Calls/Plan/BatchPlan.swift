import RPCurlCall
import RPCurlProgram
import RPCurlProtobuf

/// The plan of a batch of calls.
package struct BatchPlan: Equatable {
  /// More concurrent calls would exceed the limit of open files.
  private static let mostJobs = 1000

  /// The number of concurrent calls.
  package let jobs: Int
  /// Whether the first failed call ends the batch.
  package let failsEarly: Bool
  /// Whether the output of a call waits for that of the calls before it.
  package let keepsOrder: Bool

  /// Resolves the options. Returns nil for a single call.
  ///
  /// - Throws: `Failure` if the options do not fit the method.
  package init?(_ options: Invocation, _ method: MethodDescriptor) throws(Failure) {
    // Those of a load are not the calls of a batch.
    let given = options.command == .load ? nil : options.last(.jobs)
    guard options.isBatch else {
      if let jobs = given { throw Self.needsEach("--jobs").at(jobs.origin) }
      if options.has(.failEarly), options.last(of: [.repeats, .every]) == nil {
        throw Self.needsEach("--fail-early")
      }
      if options.has(.unordered) { throw Self.needsEach("--unordered") }
      return nil
    }
    guard !method.clientStreaming else {
      throw Failure(
        .usage, options.hasRows ? "--rows" : "--each",
        "\(method.name) has a request stream, but each call of a batch sends one message",
        hint: options.hasRows ? DataRows.hintForStreams : "without --each, all messages are sent in one call")
    }
    if case .number(let number)? = given?.value { jobs = number } else { jobs = 1 }
    failsEarly = options.has(.failEarly)
    keepsOrder = !options.has(.unordered)
    guard (1...Self.mostJobs).contains(jobs) else {
      throw Failure(.usage, "--jobs \(jobs)", "not a number from 1 to \(Self.mostJobs)")
        .at(given?.origin)
    }
  }

  private static func needsEach(_ option: String) -> Failure {
    Failure(.usage, option, "there is only one call", hint: "add --each to make one call per message")
  }
}
