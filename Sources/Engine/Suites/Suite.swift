import RPCurlLanguage
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf

/// A suite as it is written: session commands, in a setup, tests with steps, and a teardown. See rpcurl-test(5).
package struct Suite {
  /// The words of a suite that are no session commands.
  package enum Word: String, CaseIterable {
    case shared, setup, test, step, teardown, tags, timeout, exclusive, skip, rows, retry, weight
  }

  /// A session command.
  package struct Command {
    /// The command, with its values.
    package let statement: SessionStatement
    /// Its first line, counted from 1.
    package let line: Int

    /// Whether it makes or checks a call.
    fileprivate var isOfTest: Bool {
      switch statement.verb?.subject {
      case .newCall, .newStream, .checkedCall: true
      default: false
      }
    }
  }

  /// How often a step is repeated until its checks hold.
  package struct Retry: Equatable {
    /// The time after which it is not repeated any more.
    package var limit: Duration
    /// The pause between two attempts.
    package var pause: Duration
  }

  /// Calls with their checks. Settings that a step changes end with it.
  package struct Step {
    /// The name; nil for commands that no `step` precedes.
    package let name: String?
    package let line: Int
    package var retry: Retry?
    package var commands: [Command] = []
  }

  /// A file with a row of data for each run of a test.
  package struct Rows: Equatable {
    package let path: String
    /// The field that names the rows; nil to number them.
    package let nameField: String?
    /// The types of the columns of CSV.
    package let types: ColumnTypes
    package let line: Int

    /// Reads the rows, with their names in reports.
    ///
    /// - Parameters:
    ///   - suite: The suite, whose directory relative names are relative to.
    ///   - waitLimit: How long to wait for data from a pipe; nil for no limit.
    func read(
      besides suite: String, waitLimit: Duration?
    ) throws(Failure) -> [(value: JSONValue, name: String)] {
      let rows = try DataRows.read(
        Directory.path(of: path, besides: suite), named: path, types, waitLimit: waitLimit)
      if let nameField, !rows.contains(where: { $0[nameField] != nil }) {
        throw Failure(.input, path, "no row has the field \(nameField)")
      }
      return zip(rows, DataRows.names(of: rows, by: nameField)).map { (value: $0, name: $1) }
    }
  }

  /// A test. What it changes ends with it.
  package struct Test {
    package let name: String
    package let line: Int
    package var tags: [String] = []
    package var limit: Duration?
    package var rows: Rows?
    /// How often a load runs it, in relation to the other tests.
    package var weight = 1
    /// Why the test is not run; nil if it is.
    package var skipReason: String?
    /// The first step has no name, and may be empty.
    package var steps: [Step]
  }

  /// The name of the file, as it was given.
  package let path: String
  /// The tags of all tests.
  package private(set) var tags: [String] = []
  /// The longest time of each test, unless the test has its own.
  package private(set) var limit: Duration?
  /// Whether it cannot run beside other suites.
  package private(set) var isExclusive = false
  /// Whether it has steps for other suites, and no tests.
  package private(set) var isShared = false
  /// The commands before the first test, which run once.
  package private(set) var setup: [Command] = []
  package private(set) var tests: [Test] = []
  /// The commands after all tests, which run in any case.
  package private(set) var teardown: [Command] = []

  /// The section that the lines belong to.
  private enum Section {
    case setup
    case test
    case teardown
  }

  /// Parses a file.
  ///
  /// - Parameters:
  ///   - path: Its name, for errors.
  ///   - text: Its content.
  /// - Throws: `Failure` with the place of the first mistake.
  package init(_ path: String, parsing text: [UInt8]) throws(Failure) {
    self.path = path
    var section = Section.setup
    var source = StatementSource(text)
    while let statement = source.next() {
      isShared = source.isShared
      do throws(Failure) {
        try add(Command(statement: statement.get(), line: source.line), &section)
      } catch {
        throw error.prefixed("\(path), line \(source.line)")
      }
    }
    isShared = source.isShared
    if tests.isEmpty, !isShared, let lost = (setup + teardown).first(where: \.isOfTest) {
      throw Failure(
        .input, "\(path), line \(lost.line)", "no test has this command: the file has no tests",
        hint: "test NAME begins one; a file of shared steps says \"shared\" in its first line")
    }
    var names: Set<String> = []
    if let double = tests.first(where: { !names.insert($0.name).inserted }) {
      throw Failure(
        .input, "\(path), line \(double.line)", "two tests have the name \(double.name)",
        hint: "reports and --only distinguish tests by their names")
    }
  }

  /// The tests of a selection, in the order of the file.
  package func tests(of selection: SuiteSelection) -> [Test] {
    tests.filter { selection.includes($0.name, tags: tags + $0.tags) }
  }

  // MARK: Lines

  private mutating func add(_ command: Command, _ section: inout Section) throws(Failure) {
    let head = command.statement.head
    let verb = head.prefixOfScalars { !$0.properties.isWhitespace }
    let rest = String(head[verb.endIndex...].withoutOuterSpace)
    if SessionVerb.named(verb)?.endsSession == true { throw Self.exitFailure(String(verb)) }
    if isShared, Word(rawValue: String(verb)) != nil {
      throw Failure(
        .input, String(verb), "not possible in a file of shared steps",
        hint: "its commands run by \"source FILE\" in a test")
    }
    switch (Word(rawValue: String(verb)), section) {
    case (.test, .setup), (.test, .test):
      guard !rest.isEmpty else { throw Self.usage("test NAME") }
      section = .test
      tests.append(Test(name: rest, line: command.line, steps: [Step(name: nil, line: command.line)]))
    case (.setup, .setup):
      guard rest.isEmpty else { throw Self.usage("setup") }
    case (.teardown, .setup), (.teardown, .test):
      guard rest.isEmpty else { throw Self.usage("teardown") }
      section = .teardown
    case (.tags, .setup): tags += try Self.tags(rest)
    case (.timeout, .setup): limit = try Self.limit(rest)
    case (.exclusive, .setup):
      guard rest.isEmpty else { throw Self.usage("exclusive") }
      isExclusive = true
    case (.shared, _):
      throw Failure(.input, String(verb), "not possible here", hint: "it is the first line of a file")
    case (.exclusive, _):
      throw Failure(
        .input, String(verb), "not possible here", hint: "it concerns the file: before its first test")
    case (.test, _), (.setup, _), (.teardown, _), (.tags, .teardown), (.timeout, .teardown):
      throw Failure(.input, String(verb), "not possible here", hint: "the order is setup, tests, teardown")
    case (let word, .test): try addToTest(command, word, rest)
    case (nil, .setup): setup.append(try Self.checked(command))
    case (nil, .teardown): teardown.append(try Self.checked(command))
    case (.step, _), (.skip, _), (.rows, _), (.retry, _), (.weight, _):
      throw Failure(.input, String(verb), "only possible in a test", hint: "test NAME begins one")
    }
  }

  private mutating func addToTest(_ command: Command, _ word: Word?, _ rest: String) throws(Failure) {
    let last = tests.count - 1
    switch word {
    case .step:
      guard !rest.isEmpty else { throw Self.usage("step NAME") }
      tests[last].steps.append(Step(name: rest, line: command.line))
    case .tags: tests[last].tags += try Self.tags(rest)
    case .timeout: tests[last].limit = try Self.limit(rest)
    case .skip: tests[last].skipReason = rest.isEmpty ? "skipped" : rest
    case .rows: tests[last].rows = try Self.rows(rest, command.line)
    case .weight: tests[last].weight = try Self.weight(rest)
    case .retry: tests[last].steps[tests[last].steps.count - 1].retry = try Self.retry(rest)
    default: tests[last].steps[tests[last].steps.count - 1].commands.append(try Self.checked(command))
    }
  }

  /// A command, if there is one with its name.
  private static func checked(_ command: Command) throws(Failure) -> Command {
    if !command.statement.head.isEmpty {
      let name = String(SessionVerb.parts(of: command.statement.head).name)
      do throws(Failure) { _ = try Session.verb(name, or: Word.allCases.map(\.rawValue)) } catch {
        throw error.message.map { Failure(.input, $0) } ?? error
      }
    }
    return command
  }

  /// The error for a command that ends a session.
  static func exitFailure(_ verb: String) -> Failure {
    Failure(.input, verb, "not possible in a suite", hint: "a test ends with its last command")
  }

  private static func usage(_ form: String) -> Failure { Failure(.input, "", "wrong usage", hint: form) }

  private static func tags(_ text: String) throws(Failure) -> [String] {
    let tags = try SessionWords.split(text).map(\.text)
    guard !tags.isEmpty else { throw usage("tags NAME…") }
    return tags
  }

  private static func limit(_ text: String) throws(Failure) -> Duration {
    guard let limit = Value.duration(text), limit > .zero else {
      throw usage("timeout DURATION, such as 10s")
    }
    return limit
  }

  private static func weight(_ text: String) throws(Failure) -> Int {
    guard let weight = Int(text), (0...1_000_000).contains(weight) else {
      throw usage("weight NUMBER, such as 3; a load never runs a test with 0")
    }
    return weight
  }

  private static func retry(_ text: String) throws(Failure) -> Retry {
    var retry = Retry(limit: .seconds(10), pause: .milliseconds(500))
    for word in try SessionWords.split(text).map(\.text) {
      let (key, value) = word.parted(at: "=")
      guard let duration = value.flatMap({ Value.duration(String($0)) }), duration > .zero else {
        throw usage("retry until=30s every=500ms")
      }
      switch key {
      case "until": retry.limit = duration
      case "every": retry.pause = duration
      default: throw usage("retry until=30s every=500ms")
      }
    }
    return retry
  }

  private static func rows(_ text: String, _ line: Int) throws(Failure) -> Rows {
    let words = try SessionWords.split(text).map(\.text)
    var rest = words.dropFirst()
    var types = ColumnTypes()
    if let word = rest.first, !word.contains("=") {
      do throws(LanguageError) { types = try ColumnTypes(parsing: word) } catch {
        throw Failure(.input, "rows", error)
      }
      rest = rest.dropFirst()
    }
    let names = rest.map { $0.parted(at: "=") }
    guard let path = words.first, names.count <= 1,
      names.allSatisfy({ $0.before == "name" && $0.after != nil })
    else { throw usage("rows FILE.csv|FILE.ndjson [COLUMN:TYPE,…] [name=FIELD]") }
    return Rows(path: path, nameField: names.first?.after.map { String($0) }, types: types, line: line)
  }
}
