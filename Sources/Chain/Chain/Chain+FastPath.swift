import RPCurlProtobuf
import RPCurlProtocols

// The fast path of messages. Streams have many, and most interceptors only read them: while nothing waits on a
// pipeline, a message goes from entry to entry without becoming an item of a buffer. The cost of an entry is reference
// counting, so a message that the interceptor leaves unchanged is not copied (scripts/bench-chain counts the
// instructions).
extension Chain {
  /// Takes a message through the nodes from a position on, while each forwards it at once.
  ///
  /// - Returns: The position that the message has reached: past the last node, or a node that needs the slow path. nil if
  ///   the message waits or goes no further.
  func run(_ value: inout MessageValue, on pipeline: Pipeline, from position: Int) -> Int? {
    // Until the caller has the start, an interceptor may be due to receive it before a message.
    guard pipeline === outbound || progress.responseFrontier == .caller else { return position }
    if pipeline.messageCount == 0 { return pipeline.end }
    let path = pipeline.fastPath(slots, from: position)
    let entries = path.entries.span
    var next = path.first
    let recipients = recipients(of: pipeline)
    while next < entries.count {
      // An interceptor that has received the end needs the slow path.
      guard entries[next].position < recipients, agenda.endingCount == 0 else { break }
      let first = next
      guard prepare(&value, at: entries[next].node) else { return nil }
      show(&value, entries, &next, recipients)
      guard next < entries.count else { break }
      // The last interceptor may have done more than forward the message.
      if sink.isDelivering {
        guard settleShown(&value, entries[next], pipeline) else { return nil }
        next += 1
      } else if next == first {
        break
      }
    }
    if next < entries.count { return entries[next].position }
    return pipeline.end
  }

  /// Delivers a message to the interceptors of the next entries that receive the same form, up to the first that does
  /// more than forward it unchanged.
  private func show(
    _ value: inout MessageValue, _ entries: Span<FastPathEntry>, _ next: inout Int, _ recipients: Int
  ) {
    let sink = sink
    let clock = environment.clock
    let access = value.access
    let isRequest = entries[next].node.kind == .request
    let stage: Stage = isRequest ? .requestMessage : .responseMessage
    var begin = clock.coarseNanoseconds
    while next < entries.count {
      guard entries[next].access == access, entries[next].position < recipients else { return }
      let tokenID = TokenID(entries[next].node, stage, sequence: sink.takeSequence())
      sink.beginDelivery(tokenID.sequence)
      value.sequence = tokenID.sequence
      do {
        if isRequest {
          try entries[next].interceptor.requestMessage(value, RequestToken(sink, tokenID))
        } else {
          try entries[next].interceptor.responseMessage(value, ResponseToken(sink, tokenID))
        }
      } catch {
        sink.record(thrown(error, tokenID, slots[entries[next].position]))
      }
      begin = warnIfBlocked(since: begin, clock, entries[next].position, stage)
      guard sink.immediateVerdict == .same, sink.injectedBefore.isEmpty, agenda.endingCount == 0 else {
        return
      }
      sink.endDelivery()
      next += 1
    }
  }

  /// Acts on what the last interceptor did with a message; returns false if the message goes no further.
  private func settleShown(_ value: inout MessageValue, _ entry: FastPathEntry, _ pipeline: Pipeline) -> Bool
  {
    let isRequest = pipeline === outbound
    let stage: Stage = isRequest ? .requestMessage : .responseMessage
    let tokenID = TokenID(entry.node, stage, sequence: sink.deliveredSequence)
    let item = Item.message(value, isRequest: isRequest)
    let next = finishDelivery(item, stage, entry.node, pipeline, takeResult(tokenID))
    guard let after = next?.message else { return false }
    value = after
    return true
  }
}
