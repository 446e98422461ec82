import Output
import Session
import SuiteReports

/// A step that runs: its calls, and the checks that failed.
struct StepRun {
  /// A call.
  struct Call {
    let stream: SessionStream
    let line: Int
  }

  /// A check that failed.
  struct Failed {
    let line: Int
    let check: String
    let expected: String
    let got: String
    let diff: String?
    let stream: SessionStream
  }

  let name: String?
  let line: Int
  var calls: [Call] = []
  private(set) var failures: [Failed] = []
  var duration = Duration.zero

  init(name: String?, line: Int) {
    self.name = name
    self.line = line
  }

  /// Notes that a check of a call failed.
  mutating func fail(
    line: Int, check: String, expected: String, got: String, diff: String? = nil, of stream: SessionStream
  ) {
    failures.append(
      Failed(line: line, check: check, expected: expected, got: got, diff: diff, stream: stream))
  }

  /// The result, without secrets.
  func result(_ masks: SecretMask) -> StepResult {
    var result = StepResult(name: name, line: line)
    result.duration = duration
    result.calls = calls.map { call in
      CallRecord(
        method: call.stream.plan.name.description, line: call.line,
        status: call.stream.printer.end?.code.name ?? "", duration: call.stream.printer.elapsed ?? .zero,
        command: Self.command(call.stream).map(masks.apply))
    }
    result.failures = failures.map { failed in
      CheckFailure(
        line: failed.line, check: masks.apply(failed.check), expected: masks.apply(failed.expected),
        got: masks.apply(failed.got), diff: failed.diff.map(masks.apply),
        command: Self.command(failed.stream).map(masks.apply))
    }
    return result
  }

  /// The command line that makes the call alone.
  private static func command(_ stream: SessionStream) -> String? {
    var secrets = SessionSecrets(showsSecrets: false)
    return stream.saved.map { SavedScript.command($0, &secrets) }
  }
}
