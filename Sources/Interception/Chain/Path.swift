import Synchronization

/// A place on a path where one interceptor is called, and where values wait for it.
final class Station {
  enum Kind {
    case outboundHome, outboundRaw, inboundRaw, inboundHome, report
  }

  let kind: Kind
  /// The interceptor's place on the chain; 0 is nearest to the caller.
  let position: Int
  /// Whether the interceptor takes one value at a time.
  let isSerial: Bool
  /// The station's place on its path.
  var index = 0
  /// The stages delivered here.
  var stages: Stages = [] {
    didSet {
      let wanted = stages.intersection(Path.messageStages)
      messageStage = wanted.isEmpty ? nil : Stage(rawValue: UInt32(wanted.rawValue.trailingZeroBitCount))
    }
  }
  /// The stage at which messages are delivered here.
  private(set) var messageStage: Stage?
  var lane = Lane()
  /// The epoch of the tokens that count. Other threads read it to see whether theirs is void.
  let epoch = Atomic<UInt32>(0)
  /// Whether the station is listed as one whose lane may have moved.
  var isDirty = false
  /// Whether the end of its direction has gone by.
  var hasClosed = false
  /// Whether the start of its direction has gone by.
  var hasStarted = false
  /// What was put into its direction before the start has gone by.
  var early: [Item] = []
  /// Since when the value at the head of the lane has been held; for the warning.
  var heldSince: (sequence: Int, instant: ContinuousClock.Instant)?
  var hasWarned = false

  /// Whether the interceptor sees starts and ends here, and not at its other station on this path.
  var isHome: Bool { kind == .outboundHome || kind == .inboundHome }

  init(_ kind: Kind, _ place: (position: Int, isSerial: Bool)) {
    self.kind = kind
    position = place.position
    isSerial = place.isSerial
  }

  /// Makes every token of this station void.
  func beginEpoch() { epoch.add(1, ordering: .relaxed) }
}

/// A station that messages pass, on their short way.
struct Stop {
  let interceptor: any Interceptor
  let station: Station
  let stage: Stage
  let position: Int
}

/// The stations of one direction, in the order in which values pass them.
///
/// Out: the typed stations of interceptors 0…k, then the raw ones of 0…n−1, where k is the last interceptor that
/// wants typed messages. In: the exact mirror. An interceptor is at home at its typed station if it has one,
/// else at its raw one, so that starts and ends always pass in the chain's order.
final class Path {
  private(set) var stations: [Station] = []
  /// For each index, the first station from there on that wants messages: what a message goes straight to
  /// while nothing waits anywhere on the path.
  private(set) var nextForMessages = [0]
  /// The stations that want messages, with what the short way needs of them.
  private(set) var stops: [Stop] = []
  /// For each index of a station, the first stop from there on.
  private(set) var firstStops = [0]
  /// How many interceptors have a typed station: the first of the chain, up to the last that wants typed
  /// messages.
  private(set) var typedCount = 0
  /// How many values wait, and their bytes.
  var waitingCount = 0
  var waitingBytes = 0

  static let messageStages: Stages = [.requestMessage, .requestBytes, .responseMessage, .responseBytes]

  /// Lays out the path of the request.
  func layOutRequest(_ links: [Link]) {
    typedCount = 1 + (links.lastIndex { $0.stages.contains(.requestMessage) } ?? -1)
    let ends: Stages = [.requestStart, .requestEnd]
    var stations: [Station] = []
    for link in links.prefix(typedCount) {
      link.outboundHome.stages = link.stages.intersection(ends.union(.requestMessage))
      stations.append(link.outboundHome)
    }
    for (position, link) in links.enumerated() {
      if position >= typedCount {
        link.outboundHome.stages = link.stages.intersection(ends.union(.requestBytes))
        stations.append(link.outboundHome)
      } else if link.stages.contains(.requestBytes) {
        link.outboundRaw.stages = .requestBytes
        stations.append(link.outboundRaw)
      }
    }
    layOut(stations, links)
  }

  /// Lays out the path of the response.
  func layOutResponse(_ links: [Link]) {
    typedCount = 1 + (links.lastIndex { $0.stages.contains(.responseMessage) } ?? -1)
    let ends: Stages = [.responseStart, .responseEnd]
    var stations: [Station] = []
    for (position, link) in links.enumerated().reversed() {
      if position >= typedCount {
        link.inboundHome.stages = link.stages.intersection(ends.union(.responseBytes))
        stations.append(link.inboundHome)
      } else if link.stages.contains(.responseBytes) {
        link.inboundRaw.stages = .responseBytes
        stations.append(link.inboundRaw)
      }
    }
    for link in links.prefix(typedCount).reversed() {
      link.inboundHome.stages = link.stages.intersection(ends.union(.responseMessage))
      stations.append(link.inboundHome)
    }
    layOut(stations, links)
  }

  /// Lays out the path of what is told after the end.
  func layOutReport(_ links: [Link]) {
    for link in links { link.report.stages = link.stages.intersection(.metrics) }
    layOut(links.reversed().map(\.report).filter { !$0.stages.isEmpty }, links)
  }

  private func layOut(_ stations: [Station], _ links: [Link]) {
    for (index, station) in stations.enumerated() { station.index = index }
    var next = Array(repeating: stations.count, count: stations.count + 1)
    for index in stations.indices.reversed() {
      next[index] = stations[index].stages.isDisjoint(with: Path.messageStages) ? next[index + 1] : index
    }
    nextForMessages = next
    self.stations = stations
    stops = stations.compactMap { station in
      guard let stage = station.messageStage, let interceptor = links[station.position].interceptor else {
        return nil
      }
      return Stop(interceptor: interceptor, station: station, stage: stage, position: station.position)
    }
    firstStops = (0...stations.count).map { index in
      stops.firstIndex { $0.station.index >= index } ?? stops.count
    }
  }

  /// Lets go of the interceptors, when the call has finished.
  func letGo() {
    stops = []
  }

  /// Lets go of every value that waits at some of the stations, and makes their tokens void.
  ///
  /// - Returns: How many of them waited for a start.
  func flush(_ isFlushed: (Station) -> Bool) -> Int {
    var earlyCount = 0
    for station in stations where isFlushed(station) {
      waitingCount -= station.lane.count
      waitingBytes -= station.lane.removeAll()
      earlyCount += station.early.count
      station.early = []
      station.beginEpoch()
    }
    return earlyCount
  }
}
