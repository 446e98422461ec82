import RPCurlEngine
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlSchemaTools

/// Completes the targets and methods of calls.
struct MethodCompletion {
  private let line: CompletionLine

  init(_ line: CompletionLine) { self.line = line }

  /// Completes the first positional argument of a call: a server, a URL with a method, or a method of the configured
  /// target.
  var targets: [Candidate] {
    if let sockets = SocketCompletion.targets(line.typed) { return sockets }
    let own = line.configuredTarget == nil ? [] : methods(line.typed)
    if own.isEmpty, let (base, rest) = Self.split(line.typed) { return methods(atEndOf: base, rest) }
    return Self.knownTargets(line) + own
  }

  /// The configured target, and the servers with a cached schema.
  static func knownTargets(_ line: CompletionLine) -> [Candidate] {
    let cached = ReflectionCache(environment: CompletionLine.environment)?.targets ?? []
    let configured = line.configuredTarget.map { [Candidate($0, "configured")] } ?? []
    return (configured + cached.map { Candidate($0, "used before") })
      .filter { $0.text.hasPrefix(line.typed) }
  }

  /// The methods that start with `typed`.
  func methods(_ typed: String) -> [Candidate] {
    methods(typed, KnownSchema(line, target: line.first.isEmpty ? line.configuredTarget : line.first))
  }

  /// Services, or the methods of a service if it is the only match or is typed.
  private func methods(_ typed: String, _ schema: KnownSchema) -> [Candidate] {
    guard !typed.contains("/") else { return schema.names(typed, [.method]).map(Self.candidate) }
    var found = schema.beginning(typed, [.service])
    // Also accept pkg.Service.Method and unique suffixes.
    if found.isEmpty { found = schema.beginning(typed, [.method]) }
    if found.isEmpty { found = schema.ends(typed, [.service, .method]) }
    if found.count == 1, let only = found.first, only.method == nil, !only.text.hasSuffix(".") {
      let methods = schema.names("\(only.text)/", [.method]).map(Self.candidate)
      return methods.isEmpty ? [Candidate("\(only.text)/", "service")] : methods
    }
    return found.map(Self.candidate)
  }

  private static func candidate(_ match: NameSearch.Match) -> Candidate {
    guard let method = match.method else {
      return match.text.hasSuffix(".")
        ? Candidate(match.text, "package") : Candidate("\(match.text)/", "service")
    }
    let text = description(method)
    return Candidate(match.text, match.text == match.name ? text : "\(text), of \(match.name)")
  }

  /// The kind of the method and its types.
  static func description(_ method: NameSearch.MethodOutline) -> String {
    let kind = CallKind(clientStreams: method.clientStreaming, serverStreams: method.serverStreaming)
    let name = kind.rawValue.split(separator: "_").joined(separator: " ")
    return "\(name): \(lastPart(method.input)) → \(lastPart(method.output))"
  }

  private static func lastPart(_ name: String) -> Substring {
    name.lastIndex(of: ".").map { name[name.index(after: $0)...] } ?? name[...]
  }

  // MARK: URLs

  /// Splits a URL into the server, with a slash, and the path; nil if there is no path yet.
  private static func split(_ text: String) -> (base: String, path: String)? {
    let start = text.range(of: "://")?.upperBound ?? text.startIndex
    guard let slash = text[start...].firstIndex(of: "/"), slash > start, !Target.isSocket(text) else {
      return nil
    }
    let end = text.index(after: slash)
    return (String(text[..<end]), String(text[end...]))
  }

  /// Completes the method at the end of a URL path. The last two components may be a service and a method; those
  /// before are a prefix.
  private func methods(atEndOf base: String, _ path: String) -> [Candidate] {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    for count in [2, 1] where parts.count >= count {
      let typed = parts.suffix(count).joined(separator: "/")
      let prefix = parts.dropLast(count).map { "\($0)/" }.joined()
      // The cache key of a server includes the prefix.
      let target = String((base + prefix).dropLast())
      let found = methods(typed, KnownSchema(line, target: target)).filter {
        $0.text.contains("/") || $0.text.hasSuffix(".")
      }
      if !found.isEmpty { return found.map { Candidate(base + prefix + $0.text, $0.description) } }
    }
    return []
  }

  /// The server and the method of the call, as far as typed. The service is empty if only the name of the method is.
  static func call(_ line: CompletionLine) -> (target: String?, method: MethodName)? {
    if let method = named(line.second) { return (line.first, method) }
    if line.second.isEmpty, let configured = line.configuredTarget, let method = named(line.first) {
      return (configured, method)
    }
    guard let (base, path) = split(line.first) else { return nil }
    let parts = path.split(separator: "/")
    guard parts.count >= 2, let method = MethodName(parts.suffix(2).joined(separator: "/")) else {
      return nil
    }
    return (String((base + parts.dropLast(2).map { "\($0)/" }.joined()).dropLast()), method)
  }

  /// The method that an argument names: `pkg.Service/Method`, `pkg.Service.Method` or `Method`.
  private static func named(_ text: String) -> MethodName? {
    guard !text.isEmpty, !text.contains(":") else { return nil }
    return MethodName(text)
      ?? MethodName("Service/\(text)").map { MethodName(service: "", method: $0.method) }
  }
}

extension String {
  /// The range of `text`. Foundation has this function, but rpcurl does not link it.
  fileprivate func range(of text: String) -> Range<String.Index>? {
    var start = startIndex
    while start < endIndex {
      if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
      start = index(after: start)
    }
    return nil
  }
}
