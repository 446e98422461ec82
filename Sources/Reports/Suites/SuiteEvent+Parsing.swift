import RPCurlLanguage
import RPCurlProtobuf

extension SuiteEvent {
  /// The maximum length of a line in bytes.
  package static let maximumLength = 16 << 20

  /// Parses a line of JSON. Members with other names are ignored.
  ///
  /// - Parameter line: The line, with or without its line feed.
  /// - Throws: A member that is missing or of another type, text that is not JSON, more than 100 levels, or more than
  ///   ``maximumLength`` bytes.
  package init(parsing line: [UInt8]) throws(LanguageError) {
    guard line.count <= Self.maximumLength else {
      throw LanguageError("longer than \(Self.maximumLength) bytes")
    }
    let value: JSONValue
    do {
      value = try JSONValue(parsing: line)
    } catch {
      throw LanguageError(error.description)
    }
    let object = try EventReader(value, "")
    switch try object.text("event") {
    case "run": self = .run(try SuiteRun(object))
    case "file": self = .file(SuiteFile(file: try object.text("file"), tests: try object.count("tests")))
    case "test": self = .test(try TestResult(object))
    case "coverage":
      self = .coverage(SuiteFileCoverage(file: try object.text("file"), coverage: try SuiteCoverage(object)))
    case "file-end": self = .fileEnd(try SuiteFileEnd(object))
    case "end": self = .end(try SuiteEnd(object))
    default: throw object.error("event", "must be run, file, test, coverage, file-end or end")
    }
  }
}

extension SuiteRun {
  fileprivate init(_ object: EventReader) throws(LanguageError) {
    self.init(
      version: try object.text("version"), files: try object.count("files"),
      shared: try object.countIfPresent("shared", limit: .max) ?? 0,
      seed: try object.countIfPresent("seed", limit: .max), time: try object.text("time"))
  }
}

extension TestResult {
  fileprivate init(_ object: EventReader) throws(LanguageError) {
    guard let outcome = TestOutcome(rawValue: try object.text("outcome")) else {
      throw object.error("outcome", "must be passed, failed, error or skipped")
    }
    self.init(
      file: try object.text("file"), line: try object.count("line"), name: try object.text("name"),
      outcome: outcome)
    row = try object.textIfPresent("row")
    tags = try object.texts("tags")
    reason = try object.textIfPresent("reason")
    duration = try object.seconds()
    attempts = try object.attempts()
    for step in try object.objects("steps") { steps.append(try StepResult(step)) }
    error = try object.objectIfPresent("error").map { error throws(LanguageError) in try SuiteError(error) }
    isInterrupted = try object.flag("interrupted")
    output = try object.textIfPresent("output")
  }
}

extension StepResult {
  fileprivate init(_ object: EventReader) throws(LanguageError) {
    self.init(name: try object.textIfPresent("name"), line: try object.count("line"))
    duration = try object.seconds()
    for call in try object.objects("calls") {
      calls.append(
        CallRecord(
          method: try call.text("method"), line: try call.count("line"), status: try call.text("status"),
          duration: try call.seconds(), command: try call.textIfPresent("command")))
    }
    attempts = try object.attempts()
    for reader in try object.objects("failures") {
      var failure = CheckFailure(
        line: try reader.count("line"), check: try reader.text("check"),
        expected: try reader.text("expected"), got: try reader.text("got"),
        diff: try reader.textIfPresent("diff"), command: try reader.textIfPresent("command"))
      failure.file = try reader.textIfPresent("file")
      failure.hint = try reader.textIfPresent("hint")
      failures.append(failure)
    }
  }
}

extension SuiteError {
  fileprivate init(_ object: EventReader) throws(LanguageError) {
    self.init(
      line: try object.countIfPresent("line"), what: try object.text("what"), why: try object.text("why"),
      hint: try object.textIfPresent("hint"))
  }
}

extension SuiteFileEnd {
  fileprivate init(_ object: EventReader) throws(LanguageError) {
    self.init(file: try object.text("file"), duration: try object.seconds())
    for error in try object.objects("errors") { errors.append(try SuiteError(error)) }
    isInterrupted = try object.flag("interrupted")
    output = try object.textIfPresent("output")
  }
}

extension SuiteEnd {
  fileprivate init(_ object: EventReader) throws(LanguageError) {
    passed = try object.count("passed")
    failed = try object.count("failed")
    errors = try object.count("errors")
    skipped = try object.count("skipped")
    duration = try object.seconds()
  }
}
