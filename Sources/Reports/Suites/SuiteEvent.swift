/// What happens in a run of suites: the lines of `--report ndjson`, what a worker sends to its parent, and the
/// input of each report.
///
/// A run is `run`, then `file`, `test`…, `coverage` if it is collected, and `fileEnd` of each file, then `end`. Events of files that run at the
/// same time are interleaved. Secrets are masked before an event is made.
package enum SuiteEvent: Sendable, Equatable {
  /// The run starts.
  case run(SuiteRun)
  /// A file was read, and its tests start.
  case file(SuiteFile)
  /// A test ended.
  case test(TestResult)
  /// The tests of a file ended, which have exercised this of an API.
  case coverage(SuiteFileCoverage)
  /// A file ended, or could not be read: then no `file` precedes.
  case fileEnd(SuiteFileEnd)
  /// The run ended.
  case end(SuiteEnd)
}

extension SuiteEvent {
  /// The event of a run that is repeated: the name of a test has the number.
  package func ofRun(_ number: Int) -> SuiteEvent {
    guard case .test(var test) = self else { return self }
    test.row = (test.row.map { "\($0), " } ?? "") + "run \(number)"
    return .test(test)
  }
}

/// The start of a run.
package struct SuiteRun: Sendable, Equatable {
  /// The version of rpcurl.
  package var version: String
  /// The number of files.
  package var files: Int
  /// The number of further files, of shared steps.
  package var shared: Int
  /// The seed of the random order; nil if the order is that of the files.
  package var seed: Int?
  /// The start in UTC: `2026-11-23T10:20:30Z`.
  package var time: String

  /// Makes the start of a run.
  package init(version: String, files: Int, shared: Int = 0, seed: Int? = nil, time: String) {
    self.version = version
    self.files = files
    self.shared = shared
    self.seed = seed
    self.time = time
  }
}

/// A file whose tests start.
package struct SuiteFile: Sendable, Equatable {
  /// The path as in the arguments.
  package var file: String
  /// The number of tests in the selection, with one for each row.
  package var tests: Int

  /// Makes the start of a file.
  package init(file: String, tests: Int) {
    self.file = file
    self.tests = tests
  }
}

/// How a test ended.
package enum TestOutcome: String, Sendable {
  /// All checks held.
  case passed
  /// A check did not hold, or a call failed.
  case failed
  /// The test could not be run to its end: an invalid check, an invalid command, a missing file, a timeout.
  case error
  /// The test was not run.
  case skipped
}

/// A test that ended.
package struct TestResult: Sendable, Equatable {
  /// The path of the file.
  package var file: String
  /// The line of `test`, from 1.
  package var line: Int
  /// The name.
  package var name: String
  /// The name of the row; nil for a test without rows.
  package var row: String?
  /// The tags of the file and of the test.
  package var tags: [String] = []
  /// How it ended.
  package var outcome: TestOutcome
  /// Why a test was skipped.
  package var reason: String?
  /// The time from its first to its last command.
  package var duration = Duration.zero
  /// The largest number of attempts of a step.
  package var attempts = 1
  /// The steps that were run. A test without `step` has one step without a name.
  package var steps: [StepResult] = []
  /// Why the outcome is `error`.
  package var error: SuiteError?
  /// Whether a signal is the reason that it was skipped, or the error.
  package var isInterrupted = false
  /// What commands of the test printed.
  package var output: String?

  /// Makes a test without steps.
  package init(file: String, line: Int, name: String, outcome: TestOutcome) {
    self.file = file
    self.line = line
    self.name = name
    self.outcome = outcome
  }
}

/// A step of a test.
package struct StepResult: Sendable, Equatable {
  /// The name; nil for commands before the first `step`.
  package var name: String?
  /// The line of the step, from 1.
  package var line: Int
  /// The time of all attempts.
  package var duration = Duration.zero
  /// How often the step was run.
  package var attempts = 1
  /// The calls of the last attempt.
  package var calls: [CallRecord] = []
  /// The checks of the last attempt that did not hold.
  package var failures: [CheckFailure] = []

  /// Makes a step without calls.
  package init(name: String? = nil, line: Int) {
    self.name = name
    self.line = line
  }
}

/// A call of a step.
package struct CallRecord: Sendable, Equatable {
  /// The full name: `demo.v1.Demo/Hello`.
  package var method: String
  /// The line of the command, from 1.
  package var line: Int
  /// The name of the status code: `not_found`.
  package var status: String
  /// The latency.
  package var duration: Duration
  /// The command line that repeats the call; nil if absent.
  package var command: String?

  /// Makes the record of a call.
  package init(method: String, line: Int, status: String, duration: Duration, command: String? = nil) {
    self.method = method
    self.line = line
    self.status = status
    self.duration = duration
    self.command = command
  }
}

/// A check that did not hold.
package struct CheckFailure: Sendable, Equatable {
  /// The path of the file, if it is one of shared steps, and not that of the test.
  package var file: String?
  /// The line of the check, or of the call that failed without a check of its status; from 1.
  package var line: Int
  /// The check without `expect`: `status ok`.
  package var check: String
  /// The expected value.
  package var expected: String
  /// The value found.
  package var got: String
  /// The differing lines of JSON, each after `- ` (expected), `+ ` (found) or two blanks (both).
  package var diff: String?
  /// The command line that repeats the call of the check; nil if absent.
  package var command: String?
  /// What to do, or what is a likely reason.
  package var hint: String?

  /// Makes a failure.
  package init(
    line: Int, check: String, expected: String, got: String, diff: String? = nil, command: String? = nil
  ) {
    self.line = line
    self.check = check
    self.expected = expected
    self.got = got
    self.diff = diff
    self.command = command
  }
}

/// An error that is not a failed check.
package struct SuiteError: Sendable, Equatable {
  /// The line, from 1; nil if the error concerns the whole file.
  package var line: Int?
  /// What failed: `setup`, `teardown`, `expect .user.nam == "Ada"`.
  package var what: String
  /// The cause.
  package var why: String
  /// What to do.
  package var hint: String?

  /// Makes an error.
  package init(line: Int? = nil, what: String, why: String, hint: String? = nil) {
    self.line = line
    self.what = what
    self.why = why
    self.hint = hint
  }
}

/// What the suite of a file has exercised of an API.
package struct SuiteFileCoverage: Sendable, Equatable {
  /// The path of the file.
  package var file: String
  /// What it has exercised, of all that its schema has.
  package var coverage: SuiteCoverage

  /// Makes the coverage of a file.
  package init(file: String, coverage: SuiteCoverage) {
    self.file = file
    self.coverage = coverage
  }
}

/// The end of a file.
package struct SuiteFileEnd: Sendable, Equatable {
  /// The path of the file.
  package var file: String
  /// Why the setup failed, what failed in the teardown, or why the file could not be read.
  package var errors: [SuiteError]
  /// Whether a signal is the error.
  package var isInterrupted = false
  /// The time from the start of the file to its end.
  package var duration: Duration
  /// What interceptors have printed after the last call.
  package var output: String?

  /// Makes the end of a file.
  package init(file: String, errors: [SuiteError] = [], duration: Duration) {
    self.file = file
    self.errors = errors
    self.duration = duration
  }
}

/// The end of a run: the number of tests with each outcome.
package struct SuiteEnd: Sendable, Equatable {
  /// Tests that passed.
  package var passed = 0
  /// Tests that failed.
  package var failed = 0
  /// Tests with an error, and errors of files.
  package var errors = 0
  /// Tests that were not run.
  package var skipped = 0
  /// The time of the run.
  package var duration = Duration.zero

  /// Makes the end of a run without tests.
  package init() {}

  /// Counts a test or the end of a file. Other events change nothing.
  package mutating func count(_ event: SuiteEvent) {
    switch event {
    case .test(let test):
      switch test.outcome {
      case .passed: passed += 1
      case .failed: failed += 1
      case .error: errors += 1
      case .skipped: skipped += 1
      }
    case .fileEnd(let end): errors += end.errors.count
    case .run, .file, .coverage, .end: break
    }
  }

  /// The number of tests, and of errors of files.
  package var total: Int { passed + failed + errors + skipped }

  /// Whether no test failed and no error occurred.
  package var isSuccess: Bool { failed == 0 && errors == 0 }
}
