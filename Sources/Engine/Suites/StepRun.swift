import RPCurlLanguage
import RPCurlProgram
import RPCurlReports

/// A step that runs: its calls, and the checks that failed.
struct StepRun {
  /// A call.
  struct Call {
    /// The call, as long as others need it: it keeps its responses.
    fileprivate(set) weak var stream: SessionStream?
    fileprivate let method: String
    fileprivate let saved: SavedCall?
    /// The line in the suite.
    fileprivate let line: Int
    /// The place, maybe in a file that is sourced.
    let place: SessionPlace
    /// How it has ended; nil before that.
    fileprivate var ended: (status: String, duration: Duration)?

    init(_ stream: SessionStream, line: Int, place: SessionPlace) {
      self.stream = stream
      method = stream.plan.name.description
      saved = stream.saved
      self.line = line
      self.place = place
    }

    /// The name of the status, empty before the end of the call, and its time.
    fileprivate var end: (status: String, duration: Duration) {
      if let ended { return ended }
      guard let stream, let status = stream.endStatus else { return ("", .zero) }
      return (status.name, stream.printer.elapsed ?? .zero)
    }
  }

  /// A check that failed.
  struct Failed {
    let place: SessionPlace
    let check: String
    let expected: String
    let got: String
    let diff: String?
    let hint: String?
    fileprivate let saved: SavedCall?
  }

  let name: String?
  let line: Int
  var calls: [Call] = []
  private(set) var failures: [Failed] = []
  /// How many of them have ended the step, or a command of a file that keeps going.
  private var endingCount = 0
  var duration = Duration.zero
  var attempts = 1

  init(name: String?, line: Int) {
    self.name = name
    self.line = line
  }

  /// Notes how a call has ended.
  mutating func end(_ stream: SessionStream) {
    guard let index = calls.lastIndex(where: { $0.stream === stream }) else { return }
    calls[index].ended = calls[index].end
  }

  /// Notes that a check of a call failed.
  mutating func fail(
    at place: SessionPlace, check: String, _ mismatch: Mismatch, hint: String?, of stream: SessionStream
  ) {
    failures.append(
      Failed(
        place: place, check: check, expected: mismatch.expected, got: mismatch.got, diff: mismatch.diff,
        hint: hint, saved: stream.saved))
  }

  /// Removes and returns the checks that failed.
  mutating func takeFailures() -> [Failed] {
    defer { (failures, endingCount) = ([], 0) }
    return failures
  }

  /// Whether checks have failed since the last call of this function.
  mutating func hasNewFailures() -> Bool {
    defer { endingCount = failures.count }
    return failures.count > endingCount
  }

  /// The result, without secrets.
  ///
  /// - Parameters:
  ///   - file: The suite.
  ///   - secrets: Removes secrets.
  func result(of file: String, _ secrets: SessionSecrets) -> StepResult {
    var result = StepResult(name: name, line: line)
    result.duration = duration
    result.attempts = attempts
    result.calls = calls.map { call in
      let end = call.end
      return CallRecord(
        method: call.method, line: call.line, status: end.status, duration: end.duration,
        command: Self.command(call.saved, secrets))
    }
    result.failures = failures.map { failed in
      var failure = CheckFailure(
        line: failed.place.line, check: secrets.apply(failed.check), expected: secrets.apply(failed.expected),
        got: secrets.apply(failed.got), diff: failed.diff.map(secrets.apply),
        command: Self.command(failed.saved, secrets))
      if failed.place.file != file { failure.file = failed.place.file }
      failure.hint = failed.hint.map(secrets.apply)
      return failure
    }
    return result
  }

  /// The command line that makes the call alone; nil if its messages were too large to keep.
  private static func command(_ saved: SavedCall?, _ secrets: SessionSecrets) -> String? {
    guard let saved, !saved.isCut else { return nil }
    var written = WrittenSecrets(secrets.names, separates: false, known: secrets.known)
    return SavedScript.command(saved, &written)
  }
}
