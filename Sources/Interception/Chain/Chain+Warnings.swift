import RPCProtocols

// What is said of interceptors that keep everybody waiting.
extension Chain {
  /// How long a stage may block the loop before it is named.
  static let patienceNanoseconds: Int64 = 100_000_000
  /// How long a value may be held before its holder is named.
  private static let holdPatience = Duration.seconds(5)

  /// Warns if the callback begun at `begin` blocked the loop for over 100 ms; returns the current time.
  @inline(__always)
  func warnIfBlocked(since begin: Int64, _ clock: any ChainClock, _ position: Int, _ stage: Stage) -> Int64 {
    let now = clock.coarseNanoseconds
    if now &- begin > Self.patienceNanoseconds {
      warnOfBlocking(slots[position], stage, nanoseconds: now &- begin)
    }
    return now
  }

  private func warnOfBlocking(_ slot: InterceptorSlot, _ stage: Stage, nanoseconds: Int64) {
    guard !slot.requirements.isWatched else { return }
    environment.log(
      LogRecord(
        level: .warning, source: slot.name,
        text: "blocked everything for \(nanoseconds / 1_000_000) ms at \(stage)"))
  }

  /// Sees to it that somebody looks whether a value is held for too long.
  func watchHolds(_ node: PipelineNode) {
    if let hold = node.buffer.headHold, node.heldSince?.sequence != hold.sequence {
      node.heldSince = (hold.sequence, environment.clock.now)
    }
    if holdTimer == 0 { scheduleLook(after: Self.holdPatience) }
  }

  private func scheduleLook(after delay: Duration) {
    holdTimer = environment.clock.schedule(after: delay) { [weak self] in self?.lookForHolds() }
  }

  private func lookForHolds() {
    holdTimer = 0
    guard !progress.isFinished else { return }
    let now = environment.clock.now
    var next: Duration?
    for pipeline in [outbound, inbound, report] {
      for node in pipeline.nodes {
        guard let hold = node.buffer.headHold, !node.hasWarned else { continue }
        if node.heldSince?.sequence != hold.sequence { node.heldSince = (hold.sequence, now) }
        guard let since = node.heldSince?.instant else { continue }
        let left = Self.holdPatience - (now - since)
        if left <= .zero {
          warnOfHolding(node, hold.stage, pipeline)
        } else {
          next = min(next ?? left, left)
        }
      }
    }
    if let next { scheduleLook(after: next) }
  }

  private func warnOfHolding(_ node: PipelineNode, _ stage: Stage, _ pipeline: Pipeline) {
    node.hasWarned = true
    let slot = slots[node.position]
    // Who waits for a time of its own, or answers the call, knows what it does.
    guard slot.timers.isEmpty, !slot.isAnswering else { return }
    var text = "has held the call at \(stage) for \(Self.holdPatience.components.seconds) seconds"
    if pipeline.waitingBytes >= windowBytes {
      text += "; the chain is full, so it receives no more: to hold more it must declare a larger window"
    }
    environment.log(LogRecord(level: .warning, source: slot.name, text: text))
  }
}
