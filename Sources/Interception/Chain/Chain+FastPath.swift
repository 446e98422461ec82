import Protobuf
import RPCProtocols

// The short way of messages. Streams have many of them, and most interceptors only look: so while nothing waits
// on a pipeline, a message runs from entry to entry without becoming an item that could rest. Reference counts are what
// an entry costs, so here nothing is copied that the interceptor leaves alone.
extension Chain {
  /// Takes a message through the nodes from an index on, while each lets it go on at once.
  ///
  /// - Returns: The index of the node at which the message stands now, which is the end of the pipeline or where it
  ///   cannot go the short way; -1 when it goes no further, or rests.
  func run(_ forms: inout MessageForms, on pipeline: Pipeline, from index: Int) -> Int {
    let list = pipeline.entries
    let entries = list.span
    var next = pipeline.firstFastEntries[index]
    let recipients = recipients(of: pipeline)
    // Until the start is out, it may be due to an interceptor before a message.
    guard pipeline === outbound || progress.responseFrontier == .caller else { return index }
    while next < entries.count {
      // One that has seen the end is passed by the long way.
      guard entries[next].position < recipients, pendingEndings == 0, beforeStartCount == 0,
        !pipeline.hasEarlyDeliveries
      else {
        break
      }
      let stage = entries[next].stage
      let first = next
      guard prepare(&forms, for: stage, entries[next].node) else { return -1 }
      if stage == .requestMessage || stage == .responseMessage {
        guard let message = forms.typed else { break }
        show(message, entries, &next, recipients)
      } else {
        guard let bytes = forms.bytes else { break }
        show(bytes, entries, &next, recipients)
      }
      guard next < entries.count else { break }
      // The last one shown may have said more than that the message goes on.
      if sink.isDelivering {
        guard settleShown(&forms, entries[next], pipeline) else { return -1 }
        next += 1
      } else if next == first {
        break
      }
    }
    return next < entries.count ? entries[next].node.index : pipeline.nodes.count
  }

  /// Builds the form of a message that a stage wants; returns false if the message has no such form, which ends the call.
  private func prepare(_ forms: inout MessageForms, for stage: Stage, _ node: PipelineNode) -> Bool {
    let isThere =
      stage == .requestMessage || stage == .responseMessage
      ? forms.typed != nil : forms.bytes != nil
    if isThere { return true }
    guard case .message(let built)? = prepared(.message(forms), for: stage, node) else { return false }
    forms = built
    return true
  }

  /// Shows bytes to one interceptor after the other, for as long as they let them go on unchanged.
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

  /// Shows a message to one interceptor after the other, for as long as they let it go on unchanged.
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

  /// Gives a message in one form to each interceptor whose entry follows and is of the same stage, up to the first
  /// that says more than that it goes on unchanged.
  ///
  /// - Parameters:
  ///   - identity: What tells the message from others.
  ///   - give: Gives it to an interceptor.
  @inline(__always)
  private func show(
    _ entries: Span<FastPathEntry>, _ next: inout Int, _ recipients: Int, identity: Int,
    _ give: (any Interceptor, TokenID) throws -> Void
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

  /// Does with a message what the last interceptor that it was shown to said; `false` when it goes no further.
  private func settleShown(_ forms: inout MessageForms, _ entry: FastPathEntry, _ pipeline: Pipeline) -> Bool
  {
    if sink.immediateVerdict == .bytes, sink.injectedBefore.isEmpty, pendingEndings == 0 {
      forms.replace(bytes: sink.takeBytes())
      return true
    }
    let tokenID = TokenID(entry.node, entry.stage, sequence: sink.deliveredSequence)
    let next = rest(.message(forms), entry.stage, entry.node, pipeline, takeResult(tokenID))
    guard case .message(let after)? = next else { return false }
    forms = after
    return true
  }
}
