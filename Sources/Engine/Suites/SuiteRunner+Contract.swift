import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlReports

/// The comparison of what a suite exercises with an older schema.
extension SuiteRunner {
  /// Compares a message with its meaning in the older schema. One that differs is a check that failed.
  func compare(_ message: SessionMessage, isRequest: Bool, on stream: SessionStream) {
    guard
      let name = contract?.contract.name,
      let mismatch = contract?.difference(of: message, stream.plan, isRequest: isRequest)
    else { return }
    step?.fail(
      at: session.place ?? here, check: "\(isRequest ? "request" : "response") as by \(name)", mismatch,
      hint: typeChanges(of: stream.plan.name), of: stream)
  }

  /// The error of a command; an assertion that failed if the older schema accepts the call.
  func compared(_ error: any Error) -> any Error {
    guard let name = contract?.contract.name, let failure = error as? Failure,
      failure.status == .schema || failure.status == .input, let message = failure.message,
      let method = methodOfOldSchema()
    else { return error }
    let changes = typeChanges(of: method).map { ": \($0)" } ?? ""
    return Failure(.assertion, message.what, message.why, hint: "\(name) accepts the call\(changes)")
  }

  /// The changes of types among the messages of a method, if there are any: a likely reason of a difference.
  func typeChanges(of name: MethodName) -> String? { contract?.typeChanges(of: name, session.schema.pool) }

  /// The method of the older schema that the command that runs calls, with messages of its type.
  private func methodOfOldSchema() -> MethodName? {
    guard let statement else { return nil }
    let words = (try? SessionWords.split(statement.head).map(\.text)) ?? []
    let method: MethodDescriptor?
    if words.isEmpty {
      method = session.streams.current.flatMap { contract?.add($0.plan.name) }
    } else if words.count == 2, statement.verb?.acceptsMessages == true,
      let text = try? session.bindings.expand(word: words[1]),
      let name = MethodName(text)
        ?? MethodName("Service/\(text)").map({ MethodName(service: "", method: $0.method) })
    {
      method = contract?.add(name)
    } else {
      return nil
    }
    guard let method else { return nil }
    let isAccepted = statement.values.allSatisfy { value in
      guard case .json(let text) = value else { return true }
      guard let json = try? session.bindings.expand(json: text).bytes else { return false }
      return (try? Message(method.input, json: json)) != nil
    }
    return isAccepted ? MethodName(service: method.service, method: method.name) : nil
  }

  /// Reports the rules that changes of what was exercised break, as a test of its own.
  func reportChanges() {
    guard let contract else { return }
    var event = TestResult(
      file: file.path, line: 1, name: "compatible with \(contract.contract.name)", outcome: .passed)
    do throws(SchemaError) {
      let (broken, others) = try contract.findings(session.schema.pool)
      var step = StepResult(line: 1)
      step.failures = broken.map { finding in
        let place = finding.place.map { ":\($0.line):\($0.column)" } ?? ""
        return CheckFailure(
          line: 1, check: "\(finding.rule?.rawValue ?? "") (\(finding.file)\(place))",
          expected: "no breaking change", got: finding.text)
      }
      if !broken.isEmpty {
        event.outcome = .failed
        event.steps = [step]
      }
      if others > 0 {
        let changes = others == 1 ? "1 breaking change concerns" : "\(others) breaking changes concern"
        event.output = "\(changes) nothing that the suite exercises; see rpcurl diff\n"
      }
    } catch {
      event.outcome = .error
      event.error = problem(error)
    }
    emit(.test(event))
  }
}
