import RPCurlCall
import RPCurlInterceptors
import RPCurlProgram
import RPCurlReports

/// What a load has measured.
struct LoadResult {
  var report: LoadReport
  /// Why the file of `--raw` could not be written, or why steps could not be made any more; nil if all was done.
  let problem: Failure?
}

/// Measures the steps of a load.
final class LoadMeasurement {
  private let shape: LoadShape
  private let raw: RawLatencies?
  private let tags: [LoadTag]
  private let command: String
  private(set) var statistics: LoadStatistics
  /// Those of each stage, with the times of its start and its end; empty if the level does not change.
  private var stages: [(start: Duration, end: Duration, name: String, statistics: LoadStatistics)] = []

  /// - Throws: `Failure` if the file of `--raw` cannot be written.
  init(_ options: LoadOptions, waitLimit: Duration?) throws(Failure) {
    (shape, tags, command) = (options.shape, options.tags, options.command)
    raw = try options.rawPath.map { (path) throws(Failure) in try RawLatencies(path, waitLimit: waitLimit) }
    statistics = LoadStatistics(from: shape.leadTime)
    guard shape.level == nil else { return }
    var end = shape.leadTime
    for stage in shape.stages {
      guard let duration = stage.duration, duration > .zero else { continue }
      stages.append((end, end + duration, stage.text, LoadStatistics(from: end)))
      end += duration
    }
  }

  /// Counts a step that has ended.
  func add(_ sample: LoadSample) {
    statistics.add(sample)
    if let index = stages.firstIndex(where: { sample.due < $0.end }) { stages[index].statistics.add(sample) }
    if sample.outcome != .unfinished { raw?.add(sample.latency) }
  }

  /// What the line on the terminal shows.
  func progress(of steps: some Steps) -> Progress {
    statistics.progress(running: steps.running, at: steps.engine.elapsed, shape)
  }

  /// Makes the steps, and reports them, also those before steps could not be made any more.
  ///
  /// - Parameters:
  ///   - steps: The steps.
  ///   - target: The server or suite.
  ///   - method: The method.
  ///   - connections: The number of connections; nil if libcurl chooses it.
  /// - Throws: `Failure` if there is nothing to report.
  func run(
    _ steps: some Steps, _ target: String, _ method: String, connections: Int? = nil
  ) throws(Failure) -> LoadResult {
    try steps.drive()
    let engine = steps.engine
    let problem = raw?.finish() ?? engine.failure
    if let failure = engine.failure, statistics.calls == 0 { throw failure }
    let now = SystemValues(waitLimit: nil).nanosecondsSince1970
    let start = now - engine.elapsed.nanoseconds + shape.leadTime.nanoseconds
    let run = LoadReport.Run(
      start: start, version: "rpcurl \(Version.current)", command: command, tags: tags)
    var report = LoadReport(
      target: target, method: method, shape: shape, connections: connections, statistics: statistics,
      missed: engine.schedule.missed(at: engine.end), end: engine.end, isInterrupted: engine.isInterrupted,
      run: run)
    report.stages = stages.map { stage in
      var part = LoadReport.Part(name: stage.name, statistics: stage.statistics)
      part.start = stage.start - shape.leadTime
      let missed = [stage.start, stage.end].map { engine.schedule.missed(at: min($0, engine.end)) }
      part.missed = missed[1] - missed[0]
      return part
    }
    return LoadResult(report: report, problem: problem)
  }
}
