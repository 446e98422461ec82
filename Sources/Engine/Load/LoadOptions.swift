import RPCurlLanguage
import RPCurlProgram
import RPCurlReports

/// The options of `rpcurl load` that are not those of a call.
package struct LoadOptions {
  /// A format of the report.
  package enum Format: String {
    case text, json, csv
  }

  /// How long steps may take after the last one has started, or after the duration, and then teardowns.
  static let patience = Duration.seconds(5)

  /// The greatest number of concurrent calls.
  private static let mostJobs = 10_000
  /// The greatest number of connections, which share the limit of open files.
  private static let mostConnections = 500

  /// The longest run, in hours: at the greatest rate, its calls and its end can be counted.
  private static let mostHours = 100_000

  /// The load.
  package let shape: LoadShape
  /// The number of connections; nil if libcurl chooses it.
  package let connections: Int?
  /// The conditions that the run has to fulfil.
  package let thresholds: [LoadThreshold]
  /// The format of the report.
  package let format: Format
  /// The files for further reports.
  package let htmlPath: String?
  package let logPath: String?
  package let rawPath: String?
  /// Whether to print a script for k6.
  package let isExported: Bool

  /// Resolves the options.
  ///
  /// - Parameters:
  ///   - invocation: The arguments.
  ///   - isOfSuite: Whether each concurrent run of a test is a process.
  /// - Throws: `Failure` if an option is invalid.
  package init(_ invocation: Invocation, isOfSuite: Bool = false) throws(Failure) {
    let requests = invocation.number(.requests)
    if let requests { try Self.check(requests, 1...1_000_000_000_000, "--requests") }
    connections = invocation.number(.connections)
    if let connections { try Self.check(connections, 1...Self.mostConnections, "--connections") }
    let loop = try Self.loop(invocation)
    let jobs = invocation.number(.jobs) ?? (loop == .closed || isOfSuite ? 10 : 1000)
    try Self.check(jobs, 1...(isOfSuite ? SuiteLoad.mostJobs : Self.mostJobs), "--jobs")
    shape = LoadShape(
      loop, jobs: jobs, warmUp: invocation.duration(.warmUp) ?? .zero,
      duration: invocation.duration(.duration) ?? (requests == nil ? .seconds(10) : nil), requests: requests)
    guard shape.leadTime + (shape.duration ?? .zero) <= .seconds(3600 * Self.mostHours) else {
      throw Failure(
        .usage, "--ramp, --warm-up and --duration", "more than \(Self.mostHours)h together",
        hint: "reduce them; Ctrl-C ends a run at any time, with its report")
    }
    var thresholds: [LoadThreshold] = []
    for text in invocation.texts(.threshold).flatMap(LoadThreshold.parts) {
      do throws(LanguageError) { thresholds.append(try LoadThreshold(text)) } catch {
        throw Failure(.usage, "--threshold \(text)", error.reason, hint: error.hint)
      }
    }
    self.thresholds = thresholds
    format = invocation.choice(.loadFormat) ?? .text
    htmlPath = invocation.text(.html)
    logPath = invocation.text(.histogramLog)
    rawPath = invocation.text(.rawLatencies)
    try Failure.check(reportFiles: [htmlPath, logPath, rawPath].compactMap(\.self))
    isExported = invocation.text(.exportScript) != nil
  }

  private static func loop(_ invocation: Invocation) throws(Failure) -> LoadShape.Loop {
    guard let text = invocation.text(.rate) else {
      guard invocation.duration(.ramp) == nil else {
        throw Failure(
          .usage, "--ramp", "requires --rate", hint: "--warm-up precedes the measured part of any load")
      }
      return .closed
    }
    guard let rate = Double(text), rate >= 0.001, rate <= 1_000_000 else {
      throw Failure(.usage, "--rate \(text)", "not a number of calls per second from 0.001 to 1000000")
    }
    return .open(rate: rate, ramp: invocation.duration(.ramp) ?? .zero)
  }

  private static func check(_ number: Int, _ range: ClosedRange<Int>, _ option: String) throws(Failure) {
    guard range.contains(number) else {
      throw Failure(
        .usage, "\(option) \(number)", "not a number from \(range.lowerBound) to \(range.upperBound)")
    }
  }
}
