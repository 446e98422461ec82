import RPCProtocols
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
  var heldSince: (sequence: Int, instant: MonotonicClock.Instant)?
  var hasWarned = false

  /// What the interceptor was given while it held the start, before its neighbours: what has to pass here unchanged.
  var given: Given?

  init(_ kind: Kind, _ place: (position: Int, isSerial: Bool)) {
    self.kind = kind
    position = place.position
    isSerial = place.isSerial
  }

  /// Makes every token of this station void.
  func beginEpoch() { epoch.add(1, ordering: .relaxed) }
}

/// What an interceptor was given of the request while it held the start, before others that come before it.
struct Given {
  /// The messages, serialized, as they left the interceptor.
  var messages = Queue<[UInt8]>()
  /// Whether it was given the end.
  var hasEnd = false
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
/// Out: the typed stations of interceptors 0…k, then the raw ones, where k is the last interceptor that wants typed
/// messages. In: the mirror. With q as the first interceptor that wants bytes, those of q…k are *split*: they have a
/// station in either pass. The others have one for all their stages.
///
/// ```
///        typed pass                        raw pass
/// out:   A(start) B(start, message)        A(bytes, end) B(end) C(start, bytes, end)       q = A, k = B
///
///        raw pass                          typed pass
/// in:    C(start, bytes, end) B() A(bytes) B(start, message, end) A(start, end)
/// ```
///
/// Starts and ends pass in the chain's order, and each interceptor gets start, messages and end in this order, wherever
/// values wait. Out, that is so because the half-close comes with the raw pass. In, a message that comes to a split
/// interceptor's raw station before the start has come to its typed one, because an interceptor between holds it, makes
/// the raw station move to right in front of the typed one (`Link.isRawLate`).
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
  /// Whether a station has values that must pass unchanged.
  var hasGiven = false
  /// How many values wait, and their bytes.
  var waitingCount = 0
  var waitingBytes = 0

  static let messageStages: Stages = [.requestMessage, .requestBytes, .responseMessage, .responseBytes]

  /// Lays out the path of the request.
  func layOutRequest(_ links: [Link]) {
    typedCount = 1 + (links.lastIndex { $0.stages.contains(.requestMessage) } ?? -1)
    let firstRaw = links.firstIndex { $0.stages.contains(.requestBytes) } ?? links.count
    var (typed, raw): ([Station], [Station]) = ([], [])
    for (position, link) in links.enumerated() {
      let head = link.outboundHome
      link.requestTail = head
      if position >= typedCount {
        head.stages = link.stages.intersection([.requestStart, .requestBytes, .requestEnd])
        raw.append(head)
      } else if position >= firstRaw {
        head.stages = link.stages.intersection([.requestStart, .requestMessage])
        link.outboundRaw.stages = link.stages.intersection([.requestBytes, .requestEnd])
        link.requestTail = link.outboundRaw
        typed.append(head)
        raw.append(link.outboundRaw)
      } else {
        head.stages = link.stages.intersection([.requestStart, .requestMessage, .requestEnd])
        typed.append(head)
      }
    }
    layOut(typed + raw, links)
  }

  /// Lays out the path of the response.
  func layOutResponse(_ links: [Link]) {
    typedCount = 1 + (links.lastIndex { $0.stages.contains(.responseMessage) } ?? -1)
    let firstRaw = links.firstIndex { $0.stages.contains(.responseBytes) } ?? links.count
    var (raw, typed): ([Station], [Station]) = ([], [])
    for (position, link) in links.enumerated().reversed() {
      let home = link.inboundHome
      link.responseHead = home
      if position >= typedCount {
        home.stages = link.stages.intersection([.responseStart, .responseBytes, .responseEnd])
        raw.append(home)
        continue
      }
      home.stages = link.stages.intersection([.responseStart, .responseMessage, .responseEnd])
      if position >= firstRaw {
        link.inboundRaw.stages = link.stages.intersection(.responseBytes)
        link.responseHead = link.inboundRaw
        if link.isRawLate { typed.append(link.inboundRaw) } else { raw.append(link.inboundRaw) }
      }
      typed.append(home)
    }
    layOut(raw + typed, links)
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
      station.given = nil
      station.beginEpoch()
    }
    return earlyCount
  }
}
