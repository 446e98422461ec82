/// The scopes of a suite: what is changed within one ends with it.
extension Session {
  /// The calls at a time.
  package struct Calls {
    fileprivate let streams: SessionStreams
    fileprivate let last: SessionStream?
  }

  /// What a scope returns to.
  package struct Scope {
    /// What a scope that does not keep its variables returns to besides settings.
    fileprivate struct Kept {
      let bindings: SessionVariables
      let record: SessionRecord
      let calls: Calls
    }

    fileprivate let state: SessionState
    fileprivate let kept: Kept?
  }

  /// Begins a scope.
  ///
  /// - Parameter keepsVariables: Whether variables that are set within the scope stay, the record of its commands, its
  ///   streams, and the last call. Otherwise the last call is one of the scope, or a stream that is open.
  package func beginScope(keepsVariables: Bool) -> Scope {
    chain.keep()
    guard !keepsVariables else { return Scope(state: state, kept: nil) }
    let kept = Scope.Kept(bindings: bindings, record: record, calls: calls)
    lastCall = streams.open.last { $0 === streams.selected } ?? streams.open.last
    return Scope(state: state, kept: kept)
  }

  /// Ends a scope: settings and interceptors, and maybe variables, become those of its beginning, and streams that were
  /// opened within it are canceled.
  ///
  /// - Throws: `Failure` if a setting cannot be restored, such as one whose file is gone, or if interceptors have found a
  ///   failure of such a stream.
  package func end(_ scope: Scope) throws {
    if let kept = scope.kept {
      (bindings, record) = (kept.bindings, kept.record)
      endCalls(since: kept.calls, "the test has ended")
    }
    chain.restore()
    // Options may name other schemas.
    if state.fixedArguments != scope.state.fixedArguments { schema.forget() }
    try setState { $0 = scope.state }
    if scope.kept != nil { try throwFailure(unchecked: false) }
  }

  /// The calls of this time.
  package var calls: Calls { Calls(streams: streams, last: lastCall) }

  /// Cancels the streams that were opened since a time, whose numbers are those of the next ones. The last call is that of
  /// the time.
  package func endCalls(since earlier: Calls, _ reason: String) {
    cancelAll(reason, except: earlier.streams.open)
    streams.restore(earlier.streams)
    lastCall = earlier.last
  }

  /// Ends a scope that keeps its variables: what was changed within it stays.
  package func keepChanges(of scope: Scope) {
    chain.forgetKept()
  }
}
