import RPCurlBase
import RPCurlLanguage

/// The result of a run.
package struct LoadReport {
  /// The percentiles in reports.
  static let percentiles: [Double] = [50, 75, 90, 95, 99, 99.9, 99.99]

  /// The server and the method.
  package let target: String
  package let method: String
  /// The load.
  package let shape: LoadShape
  /// The number of connections that the calls were spread over; nil if libcurl chose it.
  package let connections: Int?
  /// What was measured.
  package let statistics: LoadStatistics
  /// The number of calls that were due, and did not start because too many were running.
  package let missed: Int
  /// The time from the start of the measured part to its end, which includes the end of its last call.
  package let elapsed: Duration
  /// Whether a signal ended the run.
  package let isInterrupted: Bool
  /// What distinguishes the run from others.
  package let run: Run

  /// What distinguishes a run from others.
  package struct Run {
    /// When the measured part began, in nanoseconds since 1970.
    package let start: Int64
    /// The name and the version of the program.
    package let version: String
    /// The command, without secrets.
    package let command: String
    /// What the user has named it.
    package let tags: [LoadTag]

    /// Makes the facts of a run.
    package init(start: Int64, version: String, command: String, tags: [LoadTag]) {
      (self.start, self.version, self.tags) = (start, version, tags)
      self.command = String(command[...].stripped)
    }

    /// The start of the measured part, in UTC: `2026-11-23T10:20:30Z`.
    var time: String { "\(CivilTime.secondsText(start / 1_000_000_000))Z" }
  }

  /// What was measured of a part of the calls.
  package struct Part {
    /// The name of the stage, test, method or address.
    package let name: String
    package let statistics: LoadStatistics
    /// When a stage began, as time since the start of the measured part; nil for other parts.
    package var start: Duration?
    /// The number of calls that were due in a stage and did not start; 0 for other parts.
    package var missed = 0

    /// The number of calls that failed, or did not start.
    var errors: Int { statistics.errors + missed }

    /// Makes a part.
    package init(name: String, statistics: LoadStatistics) {
      (self.name, self.statistics) = (name, statistics)
    }
  }

  /// The stages of a level that changes.
  package var stages: [Part] = []
  /// The tests of a suite, which are what is counted then; none for the load of a method.
  package var tests: [Part] = []
  /// The methods that the tests called.
  package var methods: [Part] = []
  /// The addresses of the server that the connections were spread over; none if they were not.
  package var addresses: [Part] = []

  /// Makes a report.
  ///
  /// - Parameters:
  ///   - end: When calls stopped starting, as time since the start of the run.
  ///   - target: The server.
  ///   - method: The method.
  ///   - shape: The load.
  ///   - connections: The number of connections that the calls were spread over; nil if libcurl chose it.
  ///   - statistics: What was measured.
  ///   - missed: The number of calls that were due and did not start.
  ///   - isInterrupted: Whether a signal ended the run.
  ///   - run: What distinguishes the run from others.
  package init(
    target: String, method: String, shape: LoadShape, connections: Int?, statistics: LoadStatistics,
    missed: Int, end: Duration, isInterrupted: Bool, run: Run
  ) {
    self.target = target
    self.method = method
    self.shape = shape
    self.connections = connections
    self.statistics = statistics
    self.missed = missed
    elapsed = max(max(statistics.lastEnd, end) - shape.leadTime, .zero)
    self.isInterrupted = isInterrupted
    self.run = run
  }

  /// The load in words.
  var load: String { shape.text(connections: connections) }

  /// The number of calls that failed, or did not start.
  package var errors: Int { statistics.errors + missed }

  /// The fraction of all calls that failed or did not start.
  package var errorShare: Double {
    let all = statistics.calls + missed
    return all == 0 ? 0 : Double(errors) / Double(all)
  }

  /// The number of calls that ended in a second.
  package var rate: Double { perSecond(statistics.ended) }

  /// A number in relation to the time of the measured part.
  func perSecond(_ count: Int) -> Double {
    let seconds: Double = elapsed / .seconds(1)
    return seconds > 0 ? Double(count) / seconds : 0
  }

  /// The latencies in reports, by name.
  var latencies: [(name: String, latency: Duration)] {
    let histogram = statistics.latencies
    var list: [(name: String, latency: Duration)] = [("min", histogram.min), ("mean", histogram.mean)]
    for percentile in Self.percentiles {
      list.append(("p\(Decimal.short(percentile))", histogram.quantile(percentile)))
    }
    list.append(("max", histogram.max))
    return list
  }

  /// The results of conditions.
  package func results(of thresholds: [LoadThreshold]) -> [LoadThreshold.Result] {
    thresholds.map { $0.evaluate(self) }
  }
}
