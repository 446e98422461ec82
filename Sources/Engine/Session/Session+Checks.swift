import RPCurlChain
import RPCurlLanguage
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols

/// `expect`: checks of the last call.
extension Session {
  package static let checkEntries: [SessionVerb] = [
    SessionVerb(
      "expect [stream N] CHECK",
      "check the status, metadata, messages or time of the last call, or of a stream",
      [.condition],
      about: .checkedCall, saving: .always, secrets: .ofCheck, mayFollowFailure: true,
      details: """
        Examples: expect status not_found; expect .user.name == "Ada"; expect header content-type =~ grpc; \
        expect count == 3; expect latency < 100ms; expect stream 2 .number == 5. rpcurl-test(5) describes all checks.
        """
    ) { session, arguments in try session.expect(arguments.rest) }
  ]

  private func expect(_ text: String) throws(Failure) {
    let named = CheckedStream(text)
    let stream = try named.map { named throws(Failure) in
      try streams.find(bindings.expand(argument: named.name))
    }
    guard let stream = stream ?? lastCall else {
      throw Failure(.usage, "expect", "no call was made", hint: "call METHOD {…}, then expect CHECK")
    }
    let check = try bindings.condition(named?.check ?? text)
    func title(_ result: CallResult) -> String {
      (named.map { "stream \($0.name) " } ?? "") + check.text(for: result)
    }
    guard stream.hasEnded || !check.isAboutEnd else {
      throw Failure(
        .input, "expect \(title(try stream.result()))", stream.whyOpen.reason, hint: stream.whyOpen.hint)
    }
    try schema.lookup(for: stream.plan, client)?.resolve(UnresolvedName.all(inBracketsOf: check.text))
    goldenFiles.waitLimit = waitLimit
    let result = try stream.result()
    let name = title(result)
    let outcome = check.evaluate(result, files: goldenFiles)
    if check.isAboutStatus { acceptFailures(of: stream, checkHolds: outcome == .holds) }
    if observer?.checked(name, outcome, of: stream) == true { return }
    switch outcome {
    case .holds: tick()
    case .invalid(let reason, let hint): throw Failure(.input, "expect \(name)", reason, hint: hint)
    case .fails(let mismatch): throw Failure(.assertion, "expect \(name)", "\(mismatch)")
    }
  }
}

/// The arguments of a check of a stream: `stream N CHECK`.
struct CheckedStream {
  /// The number or the name of the stream, with values not replaced.
  let name: String
  let check: String

  /// Nil for a check of the last call.
  init?(_ text: some StringProtocol) {
    let text = String(text).droppingScalars(while: \.properties.isWhitespace)
    let (word, rest) = SessionVerb.parts(of: text)
    guard word == "stream" else { return nil }
    let name = rest.prefixOfScalars { !$0.properties.isWhitespace }
    self.name = String(name)
    check = String(rest[name.endIndex...].droppingScalars(while: \.properties.isWhitespace))
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
