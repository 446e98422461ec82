import RPCurlBase
import RPCurlEngine
import RPCurlPlatform
import RPCurlProgram

/// `rpcurl test --rerun`: runs suites, and runs those again whose files change, each time in a process of its own.
struct TestRerun {
  /// The most names of files that a line shows.
  private static let nameLimit = 3

  private let names: [String]
  /// The options of each run.
  private let options: [String]

  init(_ invocation: Invocation) throws(Failure) {
    names = invocation.positionals.map(\.text)
    guard !names.contains("-") else {
      throw Failure(
        .usage, "--rerun", "standard input can be read once", hint: "write the suite to a file")
    }
    options = invocation.arguments.flatMap { argument -> [String] in
      guard case .typed = argument.origin, argument.id != .rerun else { return [] }
      return argument.words
    }
  }

  func run(on console: Console) throws {
    let watch: FileWatch
    do throws(SystemError) { watch = try FileWatch() } catch {
      throw Failure(.usage, "--rerun", error)
    }
    var selected = names
    var suites = try SuiteFiles.find(names)
    while true {
      var sources = sources(of: suites)
      watch.watch(sources.watched)
      let before = Self.states(of: sources.files)
      try run(selected)
      // What the run itself has written is no change; what changed of the others meanwhile is one.
      var states = Self.states(of: self.sources(of: suites).files)
      for file in states.keys where SuiteSources.namesOthers(file) { states[file] = before[file] }
      console.error.write("watching \(states.count) files; Ctrl-C ends\n")
      repeat {
        // A file that an editor replaces may be missing for a moment.
        suites = (try? SuiteFiles.find(names)) ?? suites
        sources = self.sources(of: suites)
        watch.watch(sources.watched)
        let new = Self.states(of: sources.files)
        let changed = Set(new.keys).union(states.keys).filter { new[$0] != states[$0] }
        selected = sources.suites(of: changed)
        if !selected.isEmpty { report(changed.sorted(), on: console) }
        if selected.isEmpty, !watch.wait() { throw Failure(reported: Interrupt.status) }
      } while selected.isEmpty
    }
  }

  private func sources(of suites: [String]) -> SuiteSources {
    SuiteSources(suites, arguments: names, options: options)
  }

  /// The states of the files that exist.
  private static func states(of files: Set<String>) -> [String: FileFacts] {
    var states: [String: FileFacts] = [:]
    for file in files { states[file] = FileFacts(file) }
    return states
  }

  private func report(_ changed: [String], on console: Console) {
    let more = changed.count - Self.nameLimit
    let shown = changed.prefix(Self.nameLimit).joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
    console.error.write("changed: \(TerminalText.escape(shown))\n")
  }

  /// Runs suites in another process, until its end. A signal ends it after its teardowns.
  private func run(_ suites: [String]) throws {
    let program = FileContents.target(ofLink: TestCommand.processName) ?? "rpcurl"
    let group = ProcessGroup()
    if let problem = group.start([program, "test"] + options + ["--"] + suites, giving: []) {
      throw Failure(.internalError, program, problem)
    }
    var isEnding = false
    while !group.isOver {
      if Interrupt.isPending, !isEnding {
        isEnding = true
        group.terminate(by: Interrupt.isTermination ? SIGTERM : SIGINT)
      }
      usleep(10_000)
    }
    _ = group.wait(until: nil)
    if Interrupt.isPending { throw Failure(reported: Interrupt.status) }
  }
}
