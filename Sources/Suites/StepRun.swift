import Output
import Session
import SuiteReports

/// A step that runs: its calls, and the checks that failed.
struct StepRun {
  /// A call.
  struct Call {
    let stream: SessionStream
    /// The line in the suite.
    let line: Int
    /// The place, maybe in a file that is sourced.
    let place: SessionPlace
  }

  /// A check that failed.
  struct Failed {
    let place: SessionPlace
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
  var attempts = 1

  init(name: String?, line: Int) {
    self.name = name
    self.line = line
  }

  /// Notes that a check of a call failed.
  mutating func fail(
    at place: SessionPlace, check: String, expected: String, got: String, diff: String? = nil,
    of stream: SessionStream
  ) {
    failures.append(
      Failed(place: place, check: check, expected: expected, got: got, diff: diff, stream: stream))
  }

  /// The result, without secrets.
  ///
  /// - Parameters:
  ///   - file: The suite.
  ///   - masks: Removes secrets.
  func result(of file: String, _ masks: SecretMask) -> StepResult {
    var result = StepResult(name: name, line: line)
    result.duration = duration
    result.attempts = attempts
    result.calls = calls.map { call in
      CallRecord(
        method: call.stream.plan.name.description, line: call.line,
        status: call.stream.printer.end?.code.name ?? "", duration: call.stream.printer.elapsed ?? .zero,
        command: Self.command(call.stream).map(masks.apply))
    }
    result.failures = failures.map { failed in
      var failure = CheckFailure(
        line: failed.place.line, check: masks.apply(failed.check), expected: masks.apply(failed.expected),
        got: masks.apply(failed.got), diff: failed.diff.map(masks.apply),
        command: Self.command(failed.stream).map(masks.apply))
      if failed.place.file != file { failure.file = failed.place.file }
      return failure
    }
    return result
  }

  /// The command line that makes the call alone; nil if its messages were too large to keep.
  private static func command(_ stream: SessionStream) -> String? {
    var secrets = SessionSecrets(showsSecrets: false)
    guard let saved = stream.saved, !saved.isCut else { return nil }
    return SavedScript.command(saved, &secrets)
  }
}
