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
  /// The instance; released when the call has finished.
  private(set) var interceptor: (any Interceptor)?
  let stages: Stages
  let needs: Needs
  /// The stations that it has in any case, and those that it has where it is split (see `Path`).
  let outboundHome: Station
  let outboundRaw: Station
  let inboundRaw: Station
  let inboundHome: Station
  let report: Station
  /// The last of its stations on the path of the request, where the end is delivered.
  var requestTail: Station
  /// The first of its stations on the path of the response.
  var responseHead: Station
  /// Whether messages come to its raw station on the path of the response after those further in have had them typed.
  var isRawLate = false
  /// Its stations on the path of the response.
  var responseStations: [Station] {
    responseHead === inboundHome ? [inboundHome] : [responseHead, inboundHome]
  }

  /// Notes that it gives nothing more to the response.
  func closeResponse() {
    for station in responseStations { station.hasClosed = true }
  }

  /// Notes that a further attempt brings another response.
  func reopenResponse() {
    isRawLate = false
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
    requestTail = outboundHome
    responseHead = inboundHome
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
