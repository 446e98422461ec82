import RPCurlBase
import RPCurlEngine
import RPCurlProgram
import RPCurlProtobuf
import RPCurlReports
import RPCurlSchemaTools

/// `rpcurl diff`: finds breaking changes between two schemas.
struct DiffCommand {
  /// The output formats.
  enum Format: String {
    case text, json, github
  }

  private let format: Format
  private let category: RuleCategory
  private let invocation: Invocation
  private let only: [Argument]

  init(_ invocation: Invocation) {
    format = invocation.choice(.diffFormat) ?? .text
    category = invocation.choice(.rules) ?? .package
    self.invocation = invocation
    only = invocation.all(.onlyNames)
  }

  func run(on console: Console) throws {
    let arguments = try operands()
    guard arguments.contains(where: { $0.text != "-" }) else {
      throw Failure(.usage, "-", "only one of OLD and NEW can be standard input")
    }
    let rules = try Self.rules(invocation)
    let clients = ClientSource(console, invocation)
    let (first, second) = (arguments[0], arguments[1])
    let (old, oldPaths) = try SchemaOperand.read(first, besides: second.text, invocation, clients)
    let (new, newPaths) = try SchemaOperand.read(second, besides: first.text, invocation, clients)
    try checkNames(old, new)
    let findings = try SchemaOutput.schema { () throws(SchemaError) in
      try SchemaComparison.findings(ofAPI: old, new, rules: rules)
    }
    let wanted = findings.filter(isWanted)
    let broken = wanted.filter { $0.rule != nil }
    // A finding names a file of NEW, or of OLD if NEW has no such file.
    let names = Set(new.fileNames(exceptOf: WellKnownSchemas.sourceName))
    let paths = oldPaths.filter { !names.contains($0.key) }.merging(newPaths) { _, new in new }
    print(invocation.verbosity > 0 ? wanted : broken, paths, on: console.output)
    if format == .text { console.output.print("\(summary(broken.count, of: wanted.count))\n") }
    if !broken.isEmpty { throw Failure(reported: .assertion) }
  }

  /// OLD and NEW.
  private func operands() throws(Failure) -> [Positional] {
    let given = invocation.positionals
    guard let argument = invocation.last(.against), let old = argument.text else {
      guard let first = given.first else { throw Failure(ParseError(missing: "OLD"), of: .diff) }
      guard given.count == 2 else { throw Failure(ParseError(missing: "NEW"), of: .diff) }
      return [first, given[1]]
    }
    guard given.count < 2 else {
      throw Failure(.usage, "--against \(old)", "names OLD, so that only NEW can follow").at(argument.origin)
    }
    return [Positional(old, argument.origin), given.first ?? Positional(".", argument.origin)]
  }

  // MARK: Rules and names

  /// The rules of the category, without those of `--ignore`.
  static func rules(_ invocation: Invocation) throws(Failure) -> Set<Rule> {
    var rules = (invocation.choice(.rules) ?? RuleCategory.package).rules
    for argument in invocation.all(.ignoredRule) {
      let name = argument.string ?? ""
      guard let rule = Rule(rawValue: name) else {
        let nearest = DescriptorPool.nearestNames(to: name.uppercased(), among: Rule.allCases.map(\.rawValue))
        throw Failure(
          .usage, "--ignore \(name)", "not a rule",
          hint: nearest.first.map { "did you mean \($0)?" } ?? "rpcurl-diff(1) lists the rules"
        ).at(argument.origin)
      }
      rules.remove(rule)
    }
    return rules
  }

  /// Throws if one of the schemas lacks the names of `--only`: a name that neither has would hide every finding.
  private func checkNames(_ old: DescriptorPool, _ new: DescriptorPool) throws(Failure) {
    for argument in only {
      let name = argument.string ?? ""
      let isKnown = try SchemaOutput.schema { () throws(SchemaError) in
        for pool in [old, new] {
          if try pool.core.packageNames().contains(name) { return true }
          if try pool.fileName(declaring: name) != nil { return true }
        }
        return false
      }
      guard isKnown else {
        throw Failure(
          .schema, "--only \(name)", "neither schema declares it",
          hint: "\"rpcurl list --kind message\" lists names of a schema"
        ).at(argument.origin)
      }
    }
  }

  private func isWanted(_ finding: SchemaFinding) -> Bool {
    only.isEmpty || only.contains { finding.concerns(($0.string ?? "").replacing("/", with: ".")) }
  }

  // MARK: Output

  private func summary(_ broken: Int, of all: Int) -> String {
    let count = { (number: Int, what: String) in "\(number) \(what)\(number == 1 ? "" : "s")" }
    let added = all - broken
    return (broken == 0 ? "no breaking changes" : count(broken, "breaking change"))
      + " (\(category.rawValue))"
      + (added == 0 ? "" : ", \(count(added, "addition"))")
  }

  /// Prints findings, with the paths of the sources where files have them.
  private func print(_ findings: [SchemaFinding], _ paths: [String: String], on output: StandardOutput) {
    switch format {
    case .text:
      output.print(
        lines: findings.map { finding in
          let place = finding.place.map { ":\($0.line):\($0.column)" } ?? ""
          return "\(paths[finding.file] ?? finding.file)\(place): \(finding.text)"
            + (finding.rule.map { " (\($0.rawValue))" } ?? "")
        })
    case .json: output.print(findings.map { "\(Self.json($0, paths[$0.file]).text)\n" }.joined())
    case .github: output.print(findings.map { Self.annotation($0, paths[$0.file] ?? $0.file) }.joined())
    }
  }

  private static func json(_ finding: SchemaFinding, _ path: String?) -> JSONValue {
    var members = [JSONValue.Member(name: "breaking", value: .bool(finding.rule != nil))]
    if let rule = finding.rule { members.append(.init(name: "rule", value: .string(rule.rawValue))) }
    for (name, value) in [("file", finding.file), ("symbol", finding.symbol), ("message", finding.text)] {
      members.append(.init(name: name, value: .string(value)))
    }
    if let path { members.append(.init(name: "path", value: .string(path))) }
    if let place = finding.place {
      members.append(.init(name: "line", value: .number("\(place.line)")))
      members.append(.init(name: "column", value: .number("\(place.column)")))
    }
    return .object(members)
  }

  /// An annotation of GitHub Actions.
  private static func annotation(_ finding: SchemaFinding, _ path: String) -> String {
    let place = finding.place.map { [("line", "\($0.line)"), ("col", "\($0.column)")] } ?? []
    return GitHubReport.command(
      finding.rule == nil ? "notice" : "error",
      [("file", path)] + place + [("title", finding.rule?.rawValue ?? "addition")],
      TerminalText.escape(finding.text))
  }
}
