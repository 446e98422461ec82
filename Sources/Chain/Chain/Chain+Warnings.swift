import RPCurlBase
import RPCurlProtocols

// Warnings about interceptors that delay a call.
extension Chain {
  /// Writes to the log, with the name of an interceptor.
  func log(_ level: LogLevel, _ slot: InterceptorSlot, _ text: String) {
    environment.log(LogRecord(level: level, source: slot.name, text: text))
  }

  /// How long a callback may block the loop before the log names its interceptor.
  static let blockPatienceNanoseconds: Int64 = 100_000_000
  /// How long a value may be held before the log names its interceptor.
  private static let holdPatience = Duration.seconds(5)

  /// Warns if the callback begun at `begin` blocked the loop for over 100 ms, while it had a processor; returns the current time.
  @inline(__always)
  func warnIfBlocked(since begin: Int64, _ clock: any ChainClock, _ position: Int, _ stage: Stage) -> Int64 {
    let now = clock.coarseNanoseconds
    if now &- begin > Self.blockPatienceNanoseconds {
      warnOfBlocking(slots[position], stage, since: begin, now)
    }
    return now
  }

  private func warnOfBlocking(_ slot: InterceptorSlot, _ stage: Stage, since begin: Int64, _ now: Int64) {
    guard !slot.requirements.isWatched else { return }
    let own = now - begin - environment.clock.preemption(since: begin)
    guard own > Self.blockPatienceNanoseconds else { return }
    log(.warning, slot, "blocked the loop for \(own / 1_000_000) ms at \(stage)")
  }

  /// Schedules the check for values held longer than `holdPatience`.
  func watchHolds(_ node: PipelineNode) {
    if let hold = node.buffer.headHold { _ = holdBegin(at: node, hold.sequence, now: environment.clock.now) }
    if holdTimer == nil { scheduleHoldCheck(after: Self.holdPatience) }
  }

  /// Since when the value at the head of a node's buffer is held, as far as the checks have seen; nil after a warning.
  private func holdBegin(
    at node: PipelineNode, _ sequence: Int, now: MonotonicClock.Instant
  ) -> MonotonicClock.Instant? {
    switch node.holdWatch {
    case .warned: return nil
    case .watching(let watched, let since) where watched == sequence: return since
    case .none, .watching:
      node.holdWatch = .watching(sequence: sequence, since: now)
      return now
    }
  }

  private func scheduleHoldCheck(after delay: Duration) {
    holdTimer = environment.clock.schedule(after: delay) { [weak self] in self?.checkHolds() }
  }

  private func checkHolds() {
    holdTimer = nil
    guard !progress.isFinished else { return }
    let now = environment.clock.now
    var next: Duration?
    for pipeline in [outbound, inbound, report] {
      for node in pipeline.inOrder {
        guard let hold = node.buffer.headHold, let since = holdBegin(at: node, hold.sequence, now: now)
        else { continue }
        let left = Self.holdPatience - (now - since)
        if left <= .zero {
          warnOfHolding(node, hold.stage, pipeline)
        } else {
          next = min(next ?? left, left)
        }
      }
    }
    if let next { scheduleHoldCheck(after: next) }
  }

  private func warnOfHolding(_ node: PipelineNode, _ stage: Stage, _ pipeline: Pipeline) {
    node.holdWatch = .warned
    let slot = slots[node.position]
    // An interceptor that waits for a timer, or responds to the call, delays it on purpose.
    guard slot.timers.isEmpty, !slot.isResponding, !slot.requirements.holdsForLong else { return }
    var text = "has held the call at \(stage) for \(Self.holdPatience.components.seconds) seconds"
    if pipeline.waitingBytes >= flow.windowBytes {
      text += "; the chain is full, so it receives no more: to hold more it must declare a larger window"
    }
    log(.warning, slot, text)
  }
}
