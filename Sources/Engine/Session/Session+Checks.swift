import RPCurlLanguage
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols

/// `expect`: checks of the last call.
extension Session {
  package static let checkEntries: [SessionVerb] = [
    SessionVerb(
      "expect CHECK", "check the status, metadata, messages or time of the last call", [.condition],
      about: .checkedCall, saving: .always, secrets: .ofCheck, mayFollowFailure: true,
      details: """
        Examples: expect status not_found; expect .user.name == "Ada"; expect header content-type =~ grpc; \
        expect count == 3; expect latency < 100ms. rpcurl-test(5) describes all checks.
        """
    ) { session, arguments in try session.expect(arguments.rest) }
  ]

  private func expect(_ text: String) throws(Failure) {
    guard let stream = checkedStream else {
      throw Failure(.usage, "expect", "no call was made", hint: "call METHOD {…}, then expect CHECK")
    }
    let check = try bindings.condition(text)
    guard stream.isDone || !check.isAboutEnd else {
      throw Failure(
        .input, "expect \(check.text)", "\(stream.title) has not ended", hint: "close, wait or cancel ends it"
      )
    }
    try schema.lookup(for: stream.plan, client)?.resolve(UnresolvedName.all(inBracketsOf: check.text))
    goldenFiles.waitLimit = waitLimit
    let outcome = check.evaluate(try stream.result(), files: goldenFiles)
    if check.isAboutStatus { acceptFailures(of: stream, checkHolds: outcome == .holds) }
    if observer?.checked(check, outcome) == true { return }
    switch outcome {
    case .holds: tick()
    case .invalid(let reason, let hint): throw Failure(.input, "expect \(check.text)", reason, hint: hint)
    case .fails(let mismatch): throw Failure(.assertion, "expect \(check.text)", "\(mismatch)")
    }
  }
}

extension Session {
  /// Shows at a prompt that a check holds.
  private func tick() {
    guard isAtPrompt, console.error.diagnostics.showsRemarks, console.error.isTerminal else { return }
    console.output.remark(console.error.colors.paint(.faint, "✓") + "\n")
  }
}

extension SessionVariables {
  /// The condition of `expect`, with values in its operands.
  package func condition(_ text: String) throws(Failure) -> Condition {
    do throws(LanguageError) {
      return try filled(Condition(parsing: text, hasShortForm: true))
    } catch {
      throw Failure(.input, "expect", error.reason, hint: error.hint)
    }
  }

  /// A condition with the values of its expressions.
  func filled(_ condition: Condition) throws(LanguageError) -> Condition {
    try condition.filled(self) { template throws(LanguageError) in
      do throws(Failure) {
        return try expand(path: template)
      } catch {
        throw LanguageError(
          error.message?.why ?? "the name of the file has no value", hint: error.message?.hint)
      }
    }
  }
}
