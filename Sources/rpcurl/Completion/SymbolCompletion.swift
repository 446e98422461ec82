import RPCurlProtobuf
import RPCurlSchemaTools

/// Completes names of a schema.
struct SymbolCompletion {
  private let line: CompletionLine

  init(_ line: CompletionLine) { self.line = line }

  /// The positional arguments of the schema commands: a target, unless another source is given, then a name.
  func arguments(_ kinds: Set<SymbolKind>) -> [Candidate] {
    let asksServer = line.invocation.asksServer
    guard line.first.isEmpty, asksServer else { return names(kinds) }
    if let sockets = SocketCompletion.targets(line.typed) { return sockets }
    return line.configuredTarget == nil
      ? MethodCompletion.knownTargets(line) : names(kinds) + MethodCompletion.knownTargets(line)
  }

  /// The names of these kinds.
  func names(_ kinds: Set<SymbolKind>) -> [Candidate] {
    let target = line.first.isEmpty ? line.configuredTarget : line.first
    let schema = KnownSchema(line, target: line.kind == "type" && !line.invocation.asksServer ? nil : target)
    return schema.names(line.typed, kinds).map { match in
      match.text.hasSuffix(".")
        ? Candidate(match.text, "package")
        : Candidate(match.text, match.method.map(MethodCompletion.description) ?? Self.description(match))
    }
  }

  private static func description(_ match: NameSearch.Match) -> String {
    match.text == match.name ? match.kind.rawValue : "\(match.kind.rawValue) \(match.name)"
  }
}
