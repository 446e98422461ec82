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

  /// The greatest number of stages: each step looks for its own.
  private static let mostStages = 100

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
  /// The report of the run with which this one is compared.
  package let comparedPath: String?
  /// The names of the run.
  package let tags: [LoadTag]
  /// Whether to print a script for k6.
  package let isExported: Bool
  /// The command of the run for its reports, without secrets.
  package var command = ""

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
    shape = try Self.shape(
      invocation, requests, mostJobs: isOfSuite ? SuiteLoad.mostJobs : Self.mostJobs,
      openJobs: isOfSuite ? 10 : 1000)
    guard shape.leadTime + (shape.duration ?? .zero) <= .seconds(3600 * Self.mostHours) else {
      throw Failure(
        .usage, "load", "longer than \(Self.mostHours)h",
        hint:
          "reduce --ramp, --warm-up, --duration or --stages; Ctrl-C ends a run at any time, with its report")
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
    comparedPath = invocation.text(.compareLoad)
    rawPath = invocation.text(.rawLatencies)
    try Failure.check(reportFiles: [htmlPath, logPath, rawPath].compactMap(\.self))
    var tags: [LoadTag] = []
    let secretNames = try invocation.secretNames()
    for text in invocation.texts(.tag) {
      let tag: LoadTag
      do throws(LanguageError) { tag = try LoadTag(text) } catch {
        throw Failure(.usage, "--tag \(text)", error.reason, hint: error.hint)
      }
      guard invocation.has(.showSecrets) || !secretNames.contains(tag.name) else {
        throw Failure(
          .usage, "--tag \(tag.name)", "the name of a secret, and all reports show the values of tags",
          hint: "use another name, or --show-secrets if the value may be shown")
      }
      tags.removeAll { $0.name == tag.name }
      tags.append(tag)
    }
    self.tags = tags
    isExported = invocation.text(.exportScript) != nil
  }

  /// The load.
  ///
  /// - Parameters:
  ///   - mostJobs: The greatest number of concurrent calls.
  ///   - openJobs: The number of them at a rate, unless given.
  private static func shape(
    _ invocation: Invocation, _ requests: Int?, mostJobs: Int, openJobs: Int
  ) throws(Failure) -> LoadShape {
    let stages = try stages(invocation)
    // Stages may begin at 0, and do unless another level is given.
    let least = stages == nil ? 1 : 0
    let jobs: Int
    let loop: LoadShape.Loop
    let level: Double
    if let text = invocation.text(.rate) {
      guard let rate = Double(text), Self.isRate(rate), rate > 0 || stages != nil else {
        throw Failure(.usage, "--rate \(text)", "not a number of calls per second from 0.001 to 1000000")
      }
      jobs = invocation.number(.jobs) ?? openJobs
      (loop, level) = (.open(jobs: jobs), rate)
    } else {
      jobs = invocation.number(.jobs) ?? (stages == nil ? 10 : 0)
      (loop, level) = (.closed, Double(jobs))
    }
    try check(jobs, (loop == .closed ? least : 1)...mostJobs, "--jobs")
    for stage in stages ?? [] {
      if loop == .closed {
        guard stage.level == stage.level.rounded(), stage.level <= Double(mostJobs) else {
          throw Failure(
            .usage, "--stages \(stage.text)", "not a number of calls at a time from 0 to \(mostJobs)",
            hint: "--rate 0 makes targets calls per second, and the first stage begin at 0")
        }
      } else if !Self.isRate(stage.level) {
        throw Failure(
          .usage, "--stages \(stage.text)", "not a number of calls per second: 0, or from 0.001 to 1000000")
      }
    }
    if let stages, level == 0, !stages.contains(where: { $0.level > 0 }) {
      throw Failure(.usage, "--stages", "no calls: each target is 0", hint: "write 30s:100 for a ramp to 100")
    }
    let ramp = invocation.duration(.ramp) ?? .zero
    guard ramp == .zero || level > 0 else {
      throw Failure(
        .usage, "--ramp", "leads from 0 to \(loop == .closed ? "--jobs" : "--rate"), which is 0",
        hint: "the first of --stages begins at 0")
    }
    let warmUp = invocation.duration(.warmUp) ?? .zero
    if let stages {
      return LoadShape(loop, at: level, ramp: ramp, warmUp: warmUp, stages, requests: requests)
    }
    let duration = invocation.duration(.duration) ?? (requests == nil ? .seconds(10) : nil)
    return LoadShape(loop, at: level, ramp: ramp, warmUp: warmUp, duration: duration, requests: requests)
  }

  private static func isRate(_ rate: Double) -> Bool { rate == 0 || (0.001...1_000_000).contains(rate) }

  /// The stages; nil if they are not given.
  private static func stages(_ invocation: Invocation) throws(Failure) -> [LoadShape.Stage]? {
    guard let text = invocation.text(.stages) else { return nil }
    guard invocation.duration(.duration) == nil else {
      throw Failure(.usage, "--duration", "not possible with --stages, which have durations")
    }
    let stages: [LoadShape.Stage]
    do throws(LanguageError) { stages = try LoadShape.Stage.list(text) } catch {
      throw Failure(.usage, "--stages \(text)", error.reason, hint: error.hint)
    }
    guard stages.count <= Self.mostStages else {
      throw Failure(.usage, "--stages", "\(stages.count) stages, more than \(Self.mostStages)")
    }
    guard stages.contains(where: { ($0.duration ?? .zero) > .zero }) else {
      throw Failure(
        .usage, "--stages \(text)", "all stages last 0s, so no call would be made",
        hint: "0s:200,1m:200 changes the load to 200 at once, and keeps it for a minute")
    }
    return stages
  }

  private static func check(_ number: Int, _ range: ClosedRange<Int>, _ option: String) throws(Failure) {
    guard range.contains(number) else {
      throw Failure(
        .usage, "\(option) \(number)", "not a number from \(range.lowerBound) to \(range.upperBound)")
    }
  }
}
