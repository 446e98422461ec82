extension SuiteEvent {
  /// The longest text of a check, of an error, of the name of a row and of a command line, in bytes.
  static let textLimitBytes = 64 << 10

  /// The event without what is too long for a report: texts are cut, and command lines, which would not repeat a call if
  /// they were cut, are omitted. They are all omitted if the line would be longer than ``maximumLength``.
  package var limited: SuiteEvent {
    switch self {
    case .test(var test):
      test.row?.limit()
      test.error?.limit()
      for index in test.steps.indices { test.steps[index].limit(commandBytes: Self.textLimitBytes) }
      if SuiteEvent.test(test).line.count > Self.maximumLength {
        for index in test.steps.indices { test.steps[index].limit(commandBytes: 0) }
      }
      return .test(test)
    case .fileEnd(var end):
      for index in end.errors.indices { end.errors[index].limit() }
      return .fileEnd(end)
    case .run, .file, .coverage, .end: return self
    }
  }
}

extension StepResult {
  fileprivate mutating func limit(commandBytes: Int) {
    let limited = { (command: String?) in command.flatMap { $0.utf8.count > commandBytes ? nil : $0 } }
    for index in calls.indices { calls[index].command = limited(calls[index].command) }
    for index in failures.indices {
      failures[index].check.limit()
      failures[index].hint?.limit()
      failures[index].command = limited(failures[index].command)
    }
  }
}

extension SuiteError {
  fileprivate mutating func limit() {
    what.limit()
    why.limit()
  }
}

extension String {
  fileprivate mutating func limit() {
    guard utf8.count > SuiteEvent.textLimitBytes else { return }
    var end = utf8.index(startIndex, offsetBy: SuiteEvent.textLimitBytes)
    while end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
    self = "\(self[..<end])…"
  }
}
