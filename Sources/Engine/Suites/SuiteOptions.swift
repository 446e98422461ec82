import RPCurlPlatform
import RPCurlProgram

/// What `rpcurl test` runs, and how.
package struct SuiteOptions {
  /// The tests that run, by name or tag.
  package var selection = SuiteSelection()
  /// The variables of `--var`, which hold against those that a suite sets in its setup.
  package var variables = VariableArguments()
  /// The longest time of each test, unless the suite has its own.
  package var testLimit: Duration?
  /// The longest time of each step.
  package var stepLimit: Duration?
  /// Whether golden files are written instead of compared.
  package var updatesGoldenFiles = false
  /// Whether the first test that fails ends the run.
  package var failsEarly = false
  /// The seed of the random order of tests; nil for the order of the file.
  package var orderSeed: UInt64?

  /// Names of services and packages whose coverage is collected, or all if empty; nil to collect none.
  package var covered: [String]?

  /// The older schema that calls are compared with; nil to compare none.
  package var contract: SuiteContract?

  /// The pipe that a report is written to; nil if absent. The run ends if its reader does.
  package var reportPipe: Int32?

  /// The files that the suites of the run write; nil if this is the only one.
  package var runFiles: RunFiles?

  /// Says which tests run, again and again; nil to run each test once.
  package var orders: SuiteOrders?

  /// What is recorded, or responds instead of the server; nil for neither.
  package var recordings: Recordings?

  /// Recordings of calls, or stubs.
  package enum Recordings {
    case record(directory: String)
    case replay(directory: String)
    case mock(file: String)
  }

  package init() {}
}

/// Selects tests by name and tag.
package struct SuiteSelection {
  /// A part of a name, a name with `*`, or `@` and a tag.
  private enum Pattern {
    case tag(String)
    case part(String)
    case pieces([String])

    init(_ text: String) {
      if text.begins(with: "@") {
        self = .tag(String(text.dropFirst()))
      } else {
        let pieces = text.lowercased().split(separator: "*", omittingEmptySubsequences: false).map(
          String.init)
        self = pieces.count == 1 ? .part(pieces[0]) : .pieces(pieces)
      }
    }

    func matches(_ name: String, _ tags: [String]) -> Bool {
      switch self {
      case .tag(let tag): tags.contains(tag)
      case .part(let part): name.lowercased().contains(part)
      case .pieces(let pieces): Self.match(name.lowercased(), pieces)
      }
    }

    /// Whether a text has pieces in order, the first at its start and the last at its end.
    private static func match(_ text: String, _ pieces: [String]) -> Bool {
      guard let first = pieces.first, let last = pieces.last, text.begins(with: first) else { return false }
      var rest = text.dropFirst(first.count)
      for piece in pieces.dropFirst().dropLast() where !piece.isEmpty {
        let text = String(rest)
        guard let found = text.firstRange(of: piece) else { return false }
        rest = Substring(String(text[found.upperBound...]))
      }
      return rest.hasSuffix(last)
    }
  }

  private let included: [Pattern]
  private let excluded: [Pattern]

  /// Selects tests.
  ///
  /// - Parameters:
  ///   - included: A test must match one of them; if empty, all tests do.
  ///   - excluded: A test must match none of them.
  package init(_ included: [String] = [], without excluded: [String] = []) {
    self.included = included.map(Pattern.init)
    self.excluded = excluded.map(Pattern.init)
  }

  /// Whether a test runs.
  package func includes(_ name: String, tags: [String]) -> Bool {
    (included.isEmpty || included.contains { $0.matches(name, tags) })
      && !excluded.contains { $0.matches(name, tags) }
  }
}
