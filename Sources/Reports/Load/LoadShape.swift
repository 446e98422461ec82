import RPCurlBase
import RPCurlLanguage

/// The load that a run makes: a level that changes with time. Its first part is not measured.
package struct LoadShape: Equatable, Sendable {
  /// What the level of a load is.
  package enum Loop: Equatable, Sendable {
    /// The number of calls that run at any time: the end of one starts another one.
    case closed
    /// The number of calls that start in a second, of which at most `jobs` run at a time.
    case open(jobs: Int)
  }

  /// A time in which the level changes evenly to another one.
  package struct Stage: Equatable, Sendable {
    /// The length, which may be zero; nil for no limit.
    package var duration: Duration?
    /// The level at its end.
    package var level: Double

    /// Makes a stage.
    package init(_ duration: Duration?, to level: Double) { (self.duration, self.level) = (duration, level) }

    /// Its form on the command line.
    package var text: String {
      "\(Decimal.short((duration ?? .zero) / .seconds(1)))s:\(Decimal.short(level))"
    }

    /// Parses stages with commas between them: `30s:100,1m:500`.
    package static func list(_ text: String) throws(LanguageError) -> [Stage] {
      var stages: [Stage] = []
      for part in text.split(separator: ",", omittingEmptySubsequences: false) {
        let halves = part.stripped.split(separator: ":", omittingEmptySubsequences: false)
        guard halves.count == 2, let duration = Duration(written: halves[0]), let level = Double(halves[1]),
          level >= 0, level.isFinite
        else {
          throw LanguageError(
            part.stripped.isEmpty ? "a stage is missing" : "\(part.stripped) is not DURATION:TARGET",
            hint: "write 30s:100 for a ramp to 100, 1m:100 to stay there, and 0s:200 for a step")
        }
        stages.append(Stage(duration, to: level))
      }
      return stages
    }
  }

  /// What the level is.
  package var loop: Loop
  /// The level at the start of the run.
  package let start: Double
  /// The stages that are not measured, and those that are.
  package let lead: [Stage]
  package let stages: [Stage]
  /// The number of measured calls; nil for no limit.
  package var requests: Int?

  /// Makes a load of stages.
  ///
  /// - Parameters:
  ///   - level: The level from which the first stage begins.
  ///   - ramp: The time before the warm-up in which the level grows from 0.
  ///   - warmUp: The time before the stages.
  ///   - requests: The number of measured calls; nil for no limit.
  package init(
    _ loop: Loop, at level: Double, ramp: Duration = .zero, warmUp: Duration = .zero, _ stages: [Stage],
    requests: Int? = nil
  ) {
    self.loop = loop
    start = ramp > .zero ? 0 : level
    lead = [ramp, warmUp].filter { $0 > .zero }.map { Stage($0, to: level) }
    self.stages = stages
    self.requests = requests
  }

  /// Makes a load whose level is constant in the measured part.
  ///
  /// - Parameter duration: The length of the measured part; nil for no limit.
  package init(
    _ loop: Loop, at level: Double, ramp: Duration = .zero, warmUp: Duration = .zero, duration: Duration?,
    requests: Int? = nil
  ) {
    self.init(
      loop, at: level, ramp: ramp, warmUp: warmUp, [Stage(duration, to: level)], requests: requests)
  }

  /// The level at which the measured part begins.
  package var first: Double { lead.last?.level ?? start }
  /// The level of the measured part; nil if it changes.
  package var level: Double? { stages.allSatisfy { $0.level == first } ? first : nil }

  /// The greatest number of concurrent calls.
  package var jobs: Int {
    switch loop {
    case .closed: Int((lead + stages).reduce(start) { max($0, $1.level) })
    case .open(let jobs): jobs
    }
  }

  /// The length of the measured part; nil for no limit.
  package var duration: Duration? { Self.length(stages) }
  /// The time before the measured part.
  package var leadTime: Duration { Self.length(lead) ?? .zero }
  /// The time after which no call starts; nil if only the number of calls ends the run.
  package var endTime: Duration? { duration.map { leadTime + $0 } }

  private static func length(_ stages: [Stage]) -> Duration? {
    var sum = Duration.zero
    for stage in stages {
      guard let duration = stage.duration else { return nil }
      sum += duration
    }
    return sum
  }
}

extension LoadShape {
  /// The load in words.
  ///
  /// - Parameter connections: The number of connections; nil if libcurl chooses it.
  package func text(connections: Int? = nil) -> String {
    var parts = [loop == .closed ? "closed loop" : "open loop"]
    // The level grows from 0 in a ramp only.
    let ramp = lead.first.flatMap { start < $0.level ? $0.duration : nil }
    let after = ramp.map { " after a ramp of \(Decimal.short($0 / .seconds(1))) s" } ?? ""
    parts.append("\(Decimal.short(first)) \(loop == .closed ? "at a time" : "calls/s")\(after)")
    if level == nil { parts.append("stages \(stages.map(\.text).joined(separator: ","))") }
    if case .open(let jobs) = loop { parts.append("at most \(jobs) at a time") }
    if let connections { parts.append("\(connections) connection\(connections == 1 ? "" : "s")") }
    return parts.joined(separator: ", ")
  }
}
