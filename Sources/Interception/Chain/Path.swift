/// One interceptor of a call's chain, with its name and the stages it asked for.
struct Link {
  let name: String
  let interceptor: any Interceptor
  let stages: Stages

  init(name: String, interceptor: any Interceptor) {
    self.name = name
    self.interceptor = interceptor
    self.stages = interceptor.stages
  }
}

/// A place on a path where one interceptor is called, and where values wait for it.
final class Station {
  /// The station's number over the whole chain.
  let id: Int
  /// The station's place on its path.
  let index: Int
  /// The interceptor's place on the chain; 0 is nearest to the caller.
  let position: Int
  /// The stages delivered here.
  let stages: Stages
  /// Whether the interceptor sees starts and ends here, and not at its other station on this path.
  let isHome: Bool
  var lane = Lane()
  var epoch: UInt32 = 0
  /// Whether the station is listed as one whose lane may have moved.
  var isDirty = false

  init(id: Int, index: Int, position: Int, stages: Stages, isHome: Bool) {
    self.id = id
    self.index = index
    self.position = position
    self.stages = stages
    self.isHome = isHome
  }
}

/// The stations of one direction, in the order in which values pass them.
///
/// Out: the typed stations of interceptors 0…k, then the raw ones of 0…n−1, where k is the last interceptor that
/// wants typed messages. In: the exact mirror. An interceptor is at home at its typed station if it has one,
/// else at its raw one, so that starts and ends always pass in the chain's order.
final class Path {
  let stations: [Station]
  /// For each index, the first station from there on that wants messages: what a message goes straight to
  /// while nothing waits anywhere on the path.
  let nextForMessages: [Int]
  /// For each interceptor, the index of its home.
  let homes: [Int]
  /// How many interceptors have a typed station: the first of the chain, up to the last that wants typed
  /// messages.
  let typedCount: Int
  /// How many values wait, and their bytes.
  var waitingCount = 0
  var waitingBytes = 0

  static let messageStages: Stages = [.requestMessage, .requestBytes, .responseMessage, .responseBytes]

  private init(_ stations: [Station], chainLength: Int, typedCount: Int) {
    self.stations = stations
    self.typedCount = typedCount
    var next = Array(repeating: stations.count, count: stations.count + 1)
    for index in stations.indices.reversed() {
      next[index] = stations[index].stages.isDisjoint(with: Path.messageStages) ? next[index + 1] : index
    }
    nextForMessages = next
    var homes = Array(repeating: 0, count: chainLength)
    for (index, station) in stations.enumerated() where station.isHome { homes[station.position] = index }
    self.homes = homes
  }

  /// The path of the request.
  static func outbound(_ links: [Link], firstID: Int) -> Path {
    let typedCount = 1 + (links.lastIndex { $0.stages.contains(.requestMessage) } ?? -1)
    let ends: Stages = [.requestStart, .requestEnd]
    var made = StationMaker(links, nextID: firstID)
    for position in links.indices.prefix(typedCount) {
      made.add(position, ends.union(.requestMessage), isHome: true)
    }
    for position in links.indices {
      let isHome = position >= typedCount
      made.add(position, isHome ? ends.union(.requestBytes) : .requestBytes, isHome: isHome)
    }
    return Path(made.stations, chainLength: links.count, typedCount: typedCount)
  }

  /// The path of the response.
  static func inbound(_ links: [Link], firstID: Int) -> Path {
    let typedCount = 1 + (links.lastIndex { $0.stages.contains(.responseMessage) } ?? -1)
    let ends: Stages = [.responseStart, .responseEnd]
    var made = StationMaker(links, nextID: firstID)
    for position in links.indices.reversed() {
      let isHome = position >= typedCount
      made.add(position, isHome ? ends.union(.responseBytes) : .responseBytes, isHome: isHome)
    }
    for position in links.indices.prefix(typedCount).reversed() {
      made.add(position, ends.union(.responseMessage), isHome: true)
    }
    return Path(made.stations, chainLength: links.count, typedCount: typedCount)
  }

  /// The path of what is told after the end.
  static func report(_ links: [Link], firstID: Int) -> Path {
    var made = StationMaker(links, nextID: firstID)
    for position in links.indices.reversed() { made.add(position, .metrics, isHome: false) }
    return Path(made.stations, chainLength: links.count, typedCount: 0)
  }

  /// Lets go of every value that waits at the first stations, up to and with the one at `last`, and makes their
  /// tokens void.
  func flush(through last: Int) {
    for station in stations.prefix(last + 1) {
      waitingCount -= station.lane.count
      waitingBytes -= station.lane.removeAll()
      station.epoch += 1
    }
  }
}

/// Adds stations to a path, and leaves out those at which nothing happens.
private struct StationMaker {
  let links: [Link]
  var nextID: Int
  var stations: [Station] = []

  init(_ links: [Link], nextID: Int) {
    self.links = links
    self.nextID = nextID
  }

  mutating func add(_ position: Int, _ stages: Stages, isHome: Bool) {
    let wanted = stages.intersection(links[position].stages)
    guard isHome || !wanted.isEmpty else { return }
    stations.append(
      Station(id: nextID, index: stations.count, position: position, stages: wanted, isHome: isHome))
    nextID += 1
  }
}
