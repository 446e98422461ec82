import Protobuf
import RPCProtocols

// The fast path of messages. Streams have many, and most interceptors only read them: while nothing waits on a
// pipeline, a message goes from entry to entry without becoming an item of a buffer. The cost of an entry is reference
// counting, so a message that the interceptor leaves unchanged is not copied (scripts/bench-chain counts the
// instructions).
extension Chain {
  /// Takes a message through the nodes from an index on, while each forwards it at once.
  ///
  /// - Returns: The index of the node that the message has reached: the end of the pipeline, or a node that needs the
  ///   slow path. nil if the message waits or goes no further.
  func run(_ forms: inout MessageForms, on pipeline: Pipeline, from index: Int) -> Int? {
    let list = pipeline.entries
    let entries = list.span
    var next = pipeline.firstFastEntries[index]
    let recipients = recipients(of: pipeline)
    // Until the caller has the start, an interceptor may be due to receive it before a message.
    guard pipeline === outbound || progress.responseFrontier == .caller else { return index }
    while next < entries.count {
      // An interceptor that has received the end needs the slow path.
      guard entries[next].position < recipients, pendingEndings == 0, beforeStartCount == 0,
        !pipeline.hasEarlyDeliveries
      else {
        break
      }
      let stage = entries[next].stage
      let first = next
      guard prepare(&forms, for: stage, entries[next].node) else { return nil }
      if stage == .requestMessage || stage == .responseMessage {
        guard let message = forms.typed else { break }
        show(message, entries, &next, recipients)
      } else {
        guard let bytes = forms.bytes else { break }
        show(bytes, entries, &next, recipients)
      }
      guard next < entries.count else { break }
      // The last interceptor may have done more than forward the message.
      if sink.isDelivering {
        guard settleShown(&forms, entries[next], pipeline) else { return nil }
        next += 1
      } else if next == first {
        break
      }
    }
    return next < entries.count ? entries[next].node.index : pipeline.nodes.count
  }

  /// Builds the form of a message that a stage wants; returns false if it cannot be built, which ends the call.
  private func prepare(_ forms: inout MessageForms, for stage: Stage, _ node: PipelineNode) -> Bool {
    let isThere =
      stage == .requestMessage || stage == .responseMessage
      ? forms.typed != nil : forms.bytes != nil
    if isThere { return true }
    guard let built = prepared(forms, for: stage, node) else { return false }
    forms = built
    return true
  }

  /// Delivers bytes to one interceptor after the other, while each forwards them unchanged.
  private func show(_ bytes: [UInt8], _ entries: Span<FastPathEntry>, _ next: inout Int, _ recipients: Int) {
    let sink = sink
    let isRequest = entries[next].stage == .requestBytes
    show(entries, &next, recipients, identity: TokenSink.identity(of: bytes)) { interceptor, tokenID in
      if isRequest {
        try interceptor.requestBytes(bytes, RequestToken(sink, tokenID))
      } else {
        try interceptor.responseBytes(bytes, ResponseToken(sink, tokenID))
      }
    }
  }

  /// Delivers a message to one interceptor after the other, while each forwards it unchanged.
  private func show(_ message: Message, _ entries: Span<FastPathEntry>, _ next: inout Int, _ recipients: Int)
  {
    let sink = sink
    let isRequest = entries[next].stage == .requestMessage
    show(entries, &next, recipients, identity: message.identity) { interceptor, tokenID in
      if isRequest {
        try interceptor.requestMessage(message, RequestToken(sink, tokenID))
      } else {
        try interceptor.responseMessage(message, ResponseToken(sink, tokenID))
      }
    }
  }

  /// Delivers a message in one form to the interceptors of the next entries of the same stage, up to the first that
  /// does more than forward it unchanged.
  ///
  /// - Parameters:
  ///   - identity: Identifies the message among all that exist.
  ///   - give: Calls an interceptor with it.
  @inline(__always)
  private func show(
    _ entries: Span<FastPathEntry>, _ next: inout Int, _ recipients: Int, identity: Int,
    _ give: (any StagedInterceptor, TokenID) throws -> Void
  ) {
    let sink = sink
    let clock = environment.clock
    let stage = entries[next].stage
    var begin = clock.coarseNanoseconds
    while next < entries.count {
      guard entries[next].stage == stage, entries[next].position < recipients else { return }
      let tokenID = TokenID(entries[next].node, stage, sequence: sink.takeSequence())
      sink.beginDelivery(tokenID.sequence, identity: identity)
      do {
        try give(entries[next].interceptor, tokenID)
      } catch {
        sink.record(thrown(error, tokenID, slots[entries[next].position]))
      }
      begin = warnIfBlocked(since: begin, clock, entries[next].position, stage)
      guard sink.immediateVerdict == .same, sink.injectedBefore.isEmpty, pendingEndings == 0 else { return }
      sink.endDelivery()
      next += 1
    }
  }

  /// Acts on what the last interceptor did with a message; returns false if the message goes no further.
  private func settleShown(_ forms: inout MessageForms, _ entry: FastPathEntry, _ pipeline: Pipeline) -> Bool
  {
    if sink.immediateVerdict == .bytes, sink.injectedBefore.isEmpty, pendingEndings == 0 {
      forms.replace(bytes: sink.takeBytes())
      return true
    }
    let tokenID = TokenID(entry.node, entry.stage, sequence: sink.deliveredSequence)
    let item = Item.message(forms, isRequest: pipeline === outbound)
    let next = finishDelivery(item, entry.stage, entry.node, pipeline, takeResult(tokenID))
    guard let after = next?.message else { return false }
    forms = after
    return true
  }
}
