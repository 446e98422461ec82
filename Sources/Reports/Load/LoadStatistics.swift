import RPCurlBase
import RPCurlProtocols

/// The result of a measured call.
package enum LoadOutcome: Hashable, Sendable {
  /// It ended with a status.
  case status(StatusCode)
  /// An interceptor reported a finding that makes a call fail.
  case assertion
  /// It had not ended when the run did, and was canceled.
  case unfinished

  /// Whether the call failed.
  var isError: Bool { self != .status(.ok) }

  /// The name in reports.
  var name: String {
    switch self {
    case .status(let code): code.name
    case .assertion: "assertion_failed"
    case .unfinished: "unfinished"
    }
  }

  /// The order in reports: that of the status codes, then the others.
  fileprivate var order: Int {
    switch self {
    case .status(let code): code.rawValue
    case .assertion: 100
    case .unfinished: 101
    }
  }
}

/// What is measured of a call. Times are those since the start of the run.
package struct LoadSample {
  /// When the call was due.
  package var due: Duration
  /// When it ended.
  package var end: Duration
  /// Its result.
  package var outcome: LoadOutcome
  /// Why it failed; empty if it did not.
  package var reason = ""
  /// The number of messages and of bytes of bodies.
  package var sentMessages = 0
  package var receivedMessages = 0
  package var sentBytes = 0
  package var receivedBytes = 0

  /// Makes a sample without messages.
  package init(due: Duration, end: Duration, _ outcome: LoadOutcome) {
    self.due = due
    self.end = end
    self.outcome = outcome
  }

  /// The time from the due time to the end.
  package var latency: Duration { end - due }
}

/// What is measured of all calls, in memory of a fixed size.
package struct LoadStatistics {
  /// The calls with one result.
  package struct Group {
    /// The result.
    package let outcome: LoadOutcome
    /// The number of calls.
    package fileprivate(set) var calls: Int
    /// Why the first of them failed; empty if it did not.
    package let reason: String
  }

  /// The latencies of all calls that ended, with any status.
  package let latencies = LatencyHistogram()
  /// The calls by result, in the order of the status codes.
  package private(set) var groups: [Group] = []
  /// The number of calls.
  package private(set) var calls = 0
  /// The number of calls that ended: those of all results but `unfinished`.
  package private(set) var ended = 0
  /// The number of calls that failed.
  package private(set) var errors = 0
  /// The messages and the bytes of their bodies.
  package private(set) var sentMessages = 0
  package private(set) var receivedMessages = 0
  package private(set) var sentBytes = 0
  package private(set) var receivedBytes = 0
  /// The calls that ended, over time.
  package private(set) var series: LoadSeries
  /// When the last call ended.
  package private(set) var lastEnd: Duration

  /// Makes empty statistics.
  ///
  /// - Parameter start: When the measured part begins.
  package init(from start: Duration) {
    series = LoadSeries(from: start)
    lastEnd = start
  }

  /// Counts a call.
  package mutating func add(_ sample: LoadSample) {
    calls += 1
    if sample.outcome.isError { errors += 1 }
    sentMessages += sample.sentMessages
    receivedMessages += sample.receivedMessages
    sentBytes += sample.sentBytes
    receivedBytes += sample.receivedBytes
    // A call that was canceled did not end, and has no latency, only a lower bound of one.
    if sample.outcome != .unfinished {
      ended += 1
      lastEnd = max(lastEnd, sample.end)
      latencies.count(sample.latency)
      series.add(sample)
    }
    if let index = groups.firstIndex(where: { $0.outcome == sample.outcome }) {
      groups[index].calls += 1
    } else {
      let place = groups.firstIndex { $0.outcome.order > sample.outcome.order } ?? groups.endIndex
      groups.insert(Group(outcome: sample.outcome, calls: 1, reason: sample.reason), at: place)
    }
  }
}
