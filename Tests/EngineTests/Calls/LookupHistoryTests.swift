import RPCurlBase
import RPCurlProtobuf
import RPCurlProtocols
import Testing

@testable import RPCurlEngine

/// Which names are looked up again, at which time.
struct LookupHistoryTests {
  private static let names = [UnresolvedName.symbol("x.A"), .extensionNumber(of: "x.B", number: 100)]
  private let start = MonotonicClock.now
  private var history = LookupHistory()

  /// Looks names up, with the same end for all. Returns those that were looked up.
  private mutating func lookUp(
    _ names: [UnresolvedName] = names, isFinal: Bool, at time: Duration = .zero
  ) -> [UnresolvedName] {
    let begun = history.begin(names, at: start + time)
    history.end(begun, isFinal: isFinal, at: start + time)
    return begun
  }

  @Test mutating func looksUpOnceAfterResponse() {
    #expect(lookUp(isFinal: true) == Self.names)
    #expect(lookUp(isFinal: true, at: .seconds(100)) == [])
  }

  @Test mutating func looksUpAgainOnceAfterFailureAndPause() {
    #expect(lookUp(isFinal: false) == Self.names)
    #expect(lookUp(isFinal: false, at: LookupHistory.pause - .milliseconds(1)) == [])
    #expect(lookUp(isFinal: false, at: LookupHistory.pause) == Self.names)
    #expect(lookUp(isFinal: false, at: .seconds(100)) == [])
  }

  @Test mutating func looksUpAgainInNextCall() {
    #expect(lookUp(isFinal: false) == Self.names)
    history.beginCall()
    #expect(lookUp(isFinal: true) == Self.names)
    history.beginCall()
    #expect(lookUp(isFinal: true) == [])
  }

  /// Neither lookup has been made.
  @Test mutating func looksUpTwiceAfterDelays() {
    for time in [Duration.zero, LookupHistory.pause] {
      #expect(Self.names.allSatisfy { history.allows($0, at: start + time) })
      history.postpone(Self.names, at: start + time)
      #expect(!Self.names.contains { history.allows($0, at: start + time) })
    }
    history.beginCall()
    #expect(lookUp(isFinal: false) == Self.names)
    #expect(lookUp(isFinal: false, at: .seconds(100)) == Self.names)
  }

  @Test mutating func countsEachNameOnce() {
    let names = (0..<100).map { UnresolvedName.extensionNumber(of: "x.B", number: $0) }
    #expect(lookUp(names, isFinal: false) == Array(names[..<LookupHistory.limit]))
    #expect(history.isOpen)
    #expect(lookUp(names, isFinal: false, at: .seconds(100)) == Array(names[..<LookupHistory.limit]))
    #expect(!history.isOpen)
    history.beginCall()
    #expect(lookUp(names, isFinal: true).first == names[LookupHistory.limit])
  }
}
