import Testing

@testable import RPCurlChain

/// When the chain asks the sender of a direction to pause, and to continue.
@Suite struct FlowControlTests {
  private final class Log { var lines: [String] = [] }

  private var flow = FlowControl(windowBytes: 100)

  /// Updates both directions; returns what has changed.
  private mutating func update(_ requestBytes: Int = 0, _ responseBytes: Int = 0) -> FlowControl.Change {
    flow.update(requestBytes: requestBytes, responseBytes: responseBytes)
  }

  @Test mutating func nothingPausesBeforeTheWindowIsFull() {
    let change = update(99, 99)
    #expect(change.isEmpty && !change.requestChanged && !change.responseChanged)
    #expect(!flow.request.isPaused && !flow.response.isPaused)
  }

  @Test mutating func fullWindowPausesItsDirectionOnly() {
    let change = update(100, 99)
    #expect(change.requestChanged && !change.responseChanged && !change.isEmpty)
    #expect(flow.request.isPaused && !flow.response.isPaused)
  }

  @Test(arguments: [100, 101]) mutating func pausedSenderContinuesWhenHalfOfTheWindowIsFree(
    _ windowBytes: Int
  ) {
    flow.windowBytes = windowBytes
    _ = update(0, windowBytes)
    #expect(flow.response.isPaused)
    let early = update(0, 51)
    #expect(early.isEmpty && flow.response.isPaused)
    let change = update(0, 50)
    #expect(change.responseChanged && !flow.response.isPaused)
    let later = update(0, windowBytes - 1)
    #expect(later.isEmpty && !flow.response.isPaused)
  }

  @Test mutating func senderPausesWhileTheReceiverTakesNothing() {
    flow.request.isWanted = false
    let change = update()
    #expect(change.requestChanged && flow.request.isPaused)
    flow.request.isWanted = true
    let next = update()
    #expect(next.requestChanged && !flow.request.isPaused)
  }

  @Test mutating func pauseOfTheReceiverEndsOnlyWithHalfOfTheWindowFree() {
    flow.response.isWanted = false
    _ = update(0, 51)
    flow.response.isWanted = true
    let early = update(0, 51)
    #expect(early.isEmpty && flow.response.isPaused)
    let change = update(0, 50)
    #expect(change.responseChanged && !flow.response.isPaused)
  }

  @Test mutating func secondReasonToPauseIsNoChange() {
    _ = update(100)
    flow.request.isWanted = false
    let change = update(100)
    #expect(change.isEmpty && flow.request.isPaused)
  }

  @Test mutating func largerWindowAppliesAtTheNextUpdate() {
    _ = update(100)
    flow.windowBytes = 200
    let change = update(100)
    #expect(change.requestChanged && !flow.request.isPaused)
  }

  @Test mutating func waitersRunOnceWhenTheirDirectionTakesMore() {
    let log = Log()
    flow.request.isWanted = false
    _ = update()
    flow.request.waiters = [{ log.lines.append("first") }, { log.lines.append("second") }]
    flow.response.waiters = [{ log.lines.append("response") }]
    let paused = update()
    #expect(!paused.isEmpty && !paused.requestChanged && !paused.responseChanged)
    for body in paused.ready { body() }
    #expect(log.lines == ["response"])
    flow.request.isWanted = true
    let change = update()
    for body in change.ready { body() }
    #expect(log.lines == ["response", "first", "second"])
    let last = update()
    #expect(last.isEmpty)
  }

  @Test mutating func waitersOfTheRequestRunFirst() {
    let log = Log()
    flow.response.waiters = [{ log.lines.append("response") }]
    flow.request.waiters = [{ log.lines.append("request") }]
    for body in update().ready { body() }
    #expect(log.lines == ["request", "response"])
  }
}
