/// The scopes of a suite: what is changed within one ends with it.
extension Session {
  /// What a scope returns to.
  package struct Scope {
    fileprivate let state: SessionState
    /// The variables, and what is recorded; nil if they stay.
    fileprivate let kept: (bindings: SessionVariables, record: SessionRecord)?
  }

  /// Begins a scope.
  ///
  /// - Parameter keepsVariables: Whether variables that are set within the scope stay, and the record of its commands.
  package func beginScope(keepsVariables: Bool) -> Scope {
    chain.keep()
    return Scope(state: state, kept: keepsVariables ? nil : (bindings, record))
  }

  /// Ends a scope: settings and interceptors, and maybe variables, become those of its beginning.
  ///
  /// - Throws: `Failure` if a setting cannot be restored, such as one whose file is gone.
  package func end(_ scope: Scope) throws {
    chain.restore()
    if let kept = scope.kept { (bindings, record) = kept }
    // Options may name other schemas.
    if state.fixedArguments != scope.state.fixedArguments { schema.forget() }
    try setState { $0 = scope.state }
  }
}
