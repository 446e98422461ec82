/// The scopes of a suite: what is changed within one ends with it.
extension Session {
  /// What a scope returns to.
  package struct Scope {
    /// What a scope that does not keep its variables returns to besides settings.
    fileprivate struct Kept {
      let bindings: SessionVariables
      let record: SessionRecord
      let streams: SessionStreams
      let lastCall: SessionStream?
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
    let kept = Scope.Kept(bindings: bindings, record: record, streams: streams, lastCall: lastCall)
    lastCall = streams.open.last { $0 === streams.selected } ?? streams.open.last
    return Scope(state: state, kept: kept)
  }

  /// Ends a scope: settings and interceptors, and maybe variables, become those of its beginning, and streams that were
  /// opened within it are canceled.
  ///
  /// - Throws: `Failure` if a setting cannot be restored, such as one whose file is gone.
  package func end(_ scope: Scope) throws {
    if let kept = scope.kept {
      cancelAll("the test has ended", except: kept.streams.open)
      (bindings, record, lastCall) = (kept.bindings, kept.record, kept.lastCall)
      streams.restore(kept.streams)
    }
    chain.restore()
    // Options may name other schemas.
    if state.fixedArguments != scope.state.fixedArguments { schema.forget() }
    try setState { $0 = scope.state }
  }

  /// Ends a scope that keeps its variables: what was changed within it stays.
  package func keepChanges(of scope: Scope) {
    chain.forgetKept()
  }
}
