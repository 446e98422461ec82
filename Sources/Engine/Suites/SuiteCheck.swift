import RPCurlBase
import RPCurlPlatform
import RPCurlProgram

/// Checks a suite before the first of its commands runs.
struct SuiteCheck {
  private let suite: Suite
  private let options: SuiteOptions
  /// The mistakes, with the lines of their commands.
  private(set) var failures: [(line: Int, failure: Failure)] = []

  /// Checks the setup, the tests that run, and the teardown.
  ///
  /// - Parameters:
  ///   - suite: The suite.
  ///   - session: Its session, which is not changed.
  ///   - options: Which tests run.
  init(_ suite: Suite, _ session: Session, _ options: SuiteOptions) {
    (self.suite, self.options) = (suite, options)
    // A method that the new schema lacks is a difference from the older one.
    var check = ScriptCheck(
      session, variables: options.variables.values.keys, readsSchema: options.contract == nil)
    let tests = suite.tests(of: options.selection).filter { $0.skipReason == nil }
    guard !tests.isEmpty else { return }
    add(suite.setup, &check)
    for test in tests { add(test, check) }
    add(suite.teardown, &check)
  }

  private mutating func add(_ test: Suite.Test, _ check: ScriptCheck) {
    if let rows = test.rows {
      do throws(Failure) { try self.check(rows) } catch { failures.append((rows.line, error)) }
    }
    var check = check.ofTest(withRow: test.rows != nil)
    for step in test.steps {
      var inner = check
      add(step.commands, &inner)
      check = step.name == nil ? inner : check.after(step: inner)
    }
  }

  private func check(_ rows: Suite.Rows) throws(Failure) {
    let path = Directory.path(of: rows.path, besides: suite.path)
    // A pipe is read once, by the run.
    if FileContents.isRegularFile(path) {
      _ = try rows.read(besides: suite.path, waitLimit: nil)
    } else if access(path, R_OK) != 0 {
      throw Failure(.input, rows.path, FileContents.lastError())
    }
  }

  private mutating func add(_ commands: [Suite.Command], _ check: inout ScriptCheck) {
    for command in commands {
      do throws(Failure) { try check.check(command.statement) } catch {
        failures.append((command.line, error))
      }
    }
  }
}
