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
    case text, json, github, markdown
  }

  private let format: Format
  private let invocation: Invocation
  private let only: [Argument]

  init(_ invocation: Invocation) {
    format = invocation.choice(.diffFormat) ?? .text
    self.invocation = invocation
    only = invocation.all(.onlyNames)
  }

  func run(on console: Console) throws {
    let arguments = try operands()
    guard arguments.contains(where: { $0.text != "-" }) else {
      throw Failure(.usage, "-", "only one of OLD and NEW can be standard input")
    }
    let clients = ClientSource(console, invocation)
    let (first, second) = (arguments[0], arguments[1])
    let old = try SchemaOperand.read(first, besides: second.text, invocation, clients)
    let new = try SchemaOperand.read(second, besides: first.text, invocation, clients)
    try checkNames(old.pool, new.pool)
    let rules = try ComparisonRules(invocation, old: old, new: new)
    let findings = try SchemaOutput.schema { () throws(SchemaError) in
      try SchemaComparison.findings(ofAPI: old.pool, new.pool, rules: rules.rules)
    }
    let result = rules.result(of: findings.filter(isWanted))
    try rules.remark(
      on: console.error, [old.pool, new.pool], absence: "ignores nothing: neither schema has",
      uses: invocation.verbosity > 0 ? result.uses : nil)
    let broken = result.findings.filter { $0.rule != nil }
    let shown = invocation.verbosity > 0 ? result.findings : broken
    let summary = summary(broken.count, result, rules)
    let rows = shown.map { finding in
      // A finding names a file of NEW, or of OLD if NEW has no such file.
      let path = finding.new == nil ? old.paths[finding.file] : new.paths[finding.file]
      return Row(finding: finding, path: path, oldPath: finding.old.flatMap { old.paths[$0.file] })
    }
    print(rows, summary, on: console.output)
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

  /// Throws if one of the schemas lacks the names of `--only`: a name that neither has would hide every finding.
  private func checkNames(_ old: DescriptorPool, _ new: DescriptorPool) throws(Failure) {
    for argument in only {
      let name = argument.string ?? ""
      guard try SchemaOutput.isDeclared(name, in: [old, new]) else {
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

  /// A finding with the paths of the sources.
  private struct Row {
    let finding: SchemaFinding
    /// The path of its file; nil if there are no sources.
    let path: String?
    /// The path of its file in the old schema.
    let oldPath: String?

    /// The path that is shown.
    var shownPath: String { path ?? finding.file }

    /// The place in the old schema; nil for an addition, for a schema without places, and for what is only there.
    var oldPlace: String? {
      guard finding.new != nil, let old = finding.old, let place = old.place else { return nil }
      return "\(oldPath ?? old.file):\(place.line):\(place.column)"
    }
  }

  private static func count(_ number: Int, _ what: String) -> String {
    "\(number) \(what)\(number == 1 ? "" : "s")"
  }

  private func summary(_ broken: Int, _ result: ComparisonRules.Result, _ rules: ComparisonRules) -> String {
    let added = result.findings.count - broken
    return (broken == 0 ? "no breaking changes" : Self.count(broken, "breaking change"))
      + " (\(rules.name))" + (result.ignored == 0 ? "" : ", \(result.ignored) ignored")
      + (added == 0 ? "" : ", \(Self.count(added, "addition"))")
  }

  private func print(_ rows: [Row], _ summary: String, on output: StandardOutput) {
    switch format {
    case .text:
      output.print(lines: rows.map(Self.line))
      output.print("\(summary)\n")
    case .json: output.print(rows.map { "\(Self.json($0).text)\n" }.joined())
    case .github: output.print(rows.map { Self.annotation($0.finding, $0.shownPath) }.joined())
    case .markdown:
      let table = rows.map { DifferenceTable.Row($0.finding, path: $0.shownPath, old: $0.oldPlace) }
      output.print(DifferenceTable.text(table, summary: summary))
    }
  }

  private static func line(_ row: Row) -> String {
    let place = row.finding.place.map { "\(row.shownPath):\($0.line):\($0.column)" } ?? row.shownPath
    let old = row.oldPlace.flatMap { $0 == place ? nil : " [was \($0)]" } ?? ""
    return "\(place): \(row.finding.text)\(old)" + (row.finding.rule.map { " (\($0.rawValue))" } ?? "")
  }

  private static func json(_ row: Row) -> JSONValue {
    let finding = row.finding
    var members = [JSONValue.Member(name: "breaking", value: .bool(finding.rule != nil))]
    if let rule = finding.rule { members.append(.init(name: "rule", value: .string(rule.rawValue))) }
    members += place(finding.file, row.path, finding.place)
    for (name, value) in [("symbol", finding.symbol), ("message", finding.text)] {
      members.append(.init(name: name, value: .string(value)))
    }
    if let old = finding.old {
      members.append(.init(name: "old", value: .object(place(old.file, row.oldPath, old.place))))
    }
    return .object(members)
  }

  private static func place(_ file: String, _ path: String?, _ place: SourcePlace?) -> [JSONValue.Member] {
    var members = [JSONValue.Member(name: "file", value: .string(file))]
    if let path { members.append(.init(name: "path", value: .string(path))) }
    if let place {
      members.append(.init(name: "line", value: .number("\(place.line)")))
      members.append(.init(name: "column", value: .number("\(place.column)")))
    }
    return members
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
