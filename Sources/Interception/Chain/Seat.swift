import RPCProtocols
import Synchronization

/// An interceptor's place at one call, as its context knows it.
final class Seat: Sendable {
  let registration: RegistrationID
  private let lastTimerNumber = Atomic(0)

  init(_ registration: RegistrationID) {
    self.registration = registration
  }

  /// A number for a timer that is to be set, on any thread.
  func takeTimerNumber() -> Int { lastTimerNumber.add(1, ordering: .relaxed).newValue }
}

/// One interceptor of a call's chain, with what it asked for.
final class Link {
  let name: String
  let seat: Seat
  /// The instance; let go of when the call has finished.
  private(set) var interceptor: (any Interceptor)?
  let stages: Stages
  let needs: Needs
  /// Where it sees the starts and ends of a direction, and messages; the raw ones are for bytes alone.
  let outboundHome: Station
  let outboundRaw: Station
  let inboundRaw: Station
  let inboundHome: Station
  let report: Station
  /// The first of its stations on the path of the response.
  var responseHead: Station { inboundHome }
  /// All of them.
  var responseStations: [Station] { [inboundHome] }

  /// Notes that it gives nothing more to the response.
  func closeResponse() {
    for station in responseStations { station.hasClosed = true }
  }

  /// Notes that a further attempt brings another response.
  func reopenResponse() {
    for station in responseStations {
      station.hasClosed = false
      station.hasStarted = false
    }
  }

  /// Whether it answers the call, and holds the request's start for that.
  var isAnswering = false
  /// The clock's numbers of the timers that it has set.
  var timers: [CallTimer: Int] = [:]

  init(name: String, seat: Seat, interceptor: any Interceptor, position: Int) {
    self.name = name
    self.seat = seat
    self.interceptor = interceptor
    stages = interceptor.stages
    needs = interceptor.needs
    let place = (position: position, isSerial: needs.isSerial)
    outboundHome = Station(.outboundHome, place)
    // The start passes before the path is laid out.
    outboundHome.stages = stages.intersection(.requestStart)
    outboundRaw = Station(.outboundRaw, place)
    inboundRaw = Station(.inboundRaw, place)
    inboundHome = Station(.inboundHome, place)
    report = Station(.report, place)
  }

  /// Its place on the chain.
  var position: Int { inboundHome.position }

  /// All of its stations.
  var stations: [Station] { [outboundHome, outboundRaw, inboundRaw, inboundHome, report] }

  /// Gives up the instance. The link stays, with the stations that tokens know.
  func letGo() -> (any Interceptor)? {
    defer { interceptor = nil }
    return interceptor
  }
}
