import RPCurlBase
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtocols
import RPCurlReports

/// The suite of a load: its tests, and the command line of a process that runs them.
package struct SuiteLoad {
  /// More processes are more than a machine has memory for.
  static let mostJobs = 500

  /// The name of the program in the command line of a process that runs a suite for a load: its standard input has the orders.
  package static let processName = "/proc/thread-self/exe"

  let path: String
  let tests: [Suite.Test]
  /// The program and its arguments.
  let arguments: [String]
  /// The command of the load, without secrets.
  let command: String

  /// The options of a load that its processes do not get.
  private static let own: Set<OptionID> = [
    .rate, .ramp, .warmUp, .stages, .duration, .requests, .threshold, .compareLoad, .tag, .loadFormat, .html,
    .histogramLog,
    .rawLatencies, .jobs, .seed,
  ]

  /// Reads the suite that the arguments name. Returns nil if they name a method.
  ///
  /// - Throws: `Failure` if it is not a suite, if no test runs, or if an option is one of calls of a method.
  init?(_ invocation: Invocation) throws(Failure) {
    let positionals = invocation.positionals.map(\.text)
    guard positionals.count == 1, let path = positionals.first,
      !path.contains("://"), FileContents.isRegularFile(path) || Self.isPath(path)
    else {
      guard let path = positionals.first(where: { $0.hasSuffix(SuiteFiles.suffix) && Self.isPath($0) }) else {
        return nil
      }
      throw Failure(
        .usage, path, "a suite is the only argument of a load",
        hint: "write rpcurl load \(path); a line of the suite, target URL, or RPCURL_TARGET names the server")
    }
    self.path = path
    let typed = invocation.arguments.filter { argument in
      guard case .typed = argument.origin else { return false }
      return !Self.own.contains(argument.id)
    }
    for argument in typed where !OptionTable[argument.id].commands.contains(CommandSet(.test)) {
      throw Failure(
        .usage, argument.name, "not possible with a suite: its commands make the calls",
        hint: "\(path) is a suite; the load of a method is rpcurl load TARGET METHOD")
    }
    if let argument = typed.first(where: \.isReadableOnce) {
      throw Failure(
        .usage, "\(argument.name) \(argument.text ?? "")",
        "each process of the load reads it, and a pipe can be read once", hint: "write it to a file")
    }
    if let name = invocation.all(.use).lazy.compactMap(\.writerOfFile).first {
      throw Failure(
        .usage, "--use \(name)", "each process of the load would replace the file of the others",
        hint: "--html, --hdr and --raw write what all have measured")
    }
    let suite = try SuiteFiles.read(path, waitLimit: invocation.duration(.maxTime))
    guard !suite.isExclusive || invocation.number(.jobs) == 1 else {
      throw Failure(
        .usage, path, "exclusive: it cannot run several times at once",
        hint: "--jobs 1 runs one test at a time")
    }
    tests = suite.tests(
      of: SuiteSelection(
        invocation.all(.only).compactMap(\.text), without: invocation.all(.skip).compactMap(\.text)))
    guard tests.contains(where: { $0.weight > 0 && $0.skipReason == nil }) else {
      throw Failure(
        .input, path, "no test to run",
        hint: "test NAME begins one; --only and --skip select tests, and weight 0 excludes one")
    }
    command = try Self.command(invocation, path)
    arguments = [Self.processName, "test"] + typed.flatMap(\.words) + ["--report", "ndjson", "--", path]
  }

  /// Whether an argument can only be the path of a suite, also of one that does not exist.
  private static func isPath(_ text: String) -> Bool {
    text.hasSuffix(SuiteFiles.suffix) || ["./", "../"].contains(where: text.hasPrefix)
  }

  /// The command of a load, without secrets. Its options are those of all processes.
  private static func command(_ invocation: Invocation, _ path: String) throws(Failure) -> String {
    var secrets = WrittenSecrets(
      showsSecrets: invocation.has(.showSecrets), try invocation.secretNames(), separates: true)
    var script = CallScript(["rpcurl", "load"])
    for argument in invocation.arguments where argument.origin.place == nil {
      guard let text = argument.text else {
        script.add(ShellText(WrittenCall.flag(argument)))
        continue
      }
      let word = secrets.value(text, of: argument.id, argument.name)
      script.add(ShellText(OptionTable[argument.id].name), word.map { ShellText($0) } ?? ShellText(text))
    }
    // Otherwise it would be an option.
    if path.hasPrefix("-") { script.add("--") }
    script.add(ShellText(path))
    script.add(commentsFor: secrets.placeholders)
    return script.text
  }

  /// How often each test runs, in relation to the others.
  var weights: [Int] { tests.map { $0.skipReason == nil ? $0.weight : 0 } }
}
