import RPCurlChain
import RPCurlProtobuf
import RPCurlProtocols

/// The description of the interceptors for `--explain`: which apply to the call, in which order, and why.
struct ChainExplanation {
  private let redaction: Redaction
  private let secrets: WrittenSecrets
  /// The interceptors that apply to the call, in the order of the request path.
  private let used: [ChainSource.Member]
  /// The other interceptors.
  private let unused: [Unused]

  /// An interceptor that does not apply to the call as its caller makes it.
  private struct Unused {
    let member: ChainSource.Member
    /// The condition that the call does not satisfy.
    let condition: CallScope.Condition
    /// The plugins further out that may change the request such that it satisfies the condition.
    let changers: [String]
  }

  /// Describes a chain.
  ///
  /// - Parameters:
  ///   - chain: The interceptors.
  ///   - method: The method of the call.
  ///   - kind: The kind of the method; nil if only the server has the schema.
  ///   - settings: The call.
  init(_ chain: ChainSource, method: MethodName, kind: CallKind?, _ settings: CallSettings) {
    redaction = settings.redaction
    secrets = settings.written
    var (used, unused): ([ChainSource.Member], [Unused]) = ([], [])
    for member in chain.members {
      let scope = member.registration.scope
      let target = settings.target.baseURL
      let mismatch = scope.mismatch(
        method: method, kind: kind, target: target, headers: settings.headers,
        attributes: settings.attributes)
      guard let mismatch else {
        used.append(member)
        continue
      }
      // The method and the attributes are those of the request that reaches the interceptor.
      let isDecided = scope.mismatch(kind: kind, target: target, headers: settings.headers) != nil
      let changers = isDecided ? [] : used.filter { $0.mayChange(mismatch) }.map(\.registration.name)
      unused.append(Unused(member: member, condition: mismatch, changers: changers))
    }
    (self.used, self.unused) = (used, unused)
  }

  /// The likely mistakes in the order.
  var warnings: [String] { ChainWarnings.of(used.map(\.registration)) }

  /// The lines of the text, with their labels.
  var rows: [(String, String)] {
    var rows: [(String, String)] = []
    for (index, member) in used.enumerated() {
      rows.append((index == 0 ? "chain" : "", "\(index + 1). \(title(member))"))
      rows += details(member).map { ("", "     \($0)") }
    }
    if used.isEmpty { rows.append(("chain", "no interceptors")) }
    for other in unused {
      let scope = "scope: \(other.member.scopeText(redaction)), not met: \(other.condition.rawValue)"
      let changers = other.changers.joined(separator: " or ")
      rows.append(("not for it", title(other.member)))
      rows.append(("", "     \(scope)\(changers.isEmpty ? "" : ", unless \(changers) changes it")"))
    }
    return rows
  }

  private func title(_ member: ChainSource.Member) -> String {
    let settings = settings(member)
    return "\(member.registration.name) (\(member.kind))"
      + (settings.isEmpty ? "" : ": \(settings)")
  }

  private func details(_ member: ChainSource.Member) -> [String] {
    let declaration = member.registration.factory.declaration
    let stages = declaration.stages.map { stages in
      stages.names.isEmpty ? "none" : stages.names.joined(separator: ", ")
    }
    let effects = declaration.effects.words
    let defaults =
      member.defaults.isEmpty ? [] : ["defaults: \(member.defaults.joined(separator: ", "))"]
    let messages = member.entry.isScript ? ["messages: \(declaration.messages.words)"] : []
    return defaults + [
      "scope: \(member.scopeText(redaction))",
      "stages: \(stages ?? "not declared")"
        + (effects.isEmpty ? "" : " (\(effects.joined(separator: ", ")))"),
      "place: \(member.registration.placement)",
    ] + messages
  }

  /// The settings of an interceptor as typed, with secrets redacted.
  private func settings(_ member: ChainSource.Member) -> String {
    String(member.entry.settings(secrets).dropFirst())
  }

  // MARK: JSON

  /// The interceptors as a JSON array.
  var json: String {
    let objects =
      used.map { json($0, nil) } + unused.map { json($0.member, $0) }
    return "[\(objects.joined(separator: ","))]"
  }

  private func json(_ member: ChainSource.Member, _ unused: Unused?) -> String {
    let registration = member.registration
    let declaration = registration.factory.declaration
    var object = JSONObject()
    object.add("name", registration.name)
    object.add("kind", member.kind.replacing(" ", with: "-"))
    object.add("priority", registration.priority)
    object.add(
      "methods", registration.scope.methods.selectsAll ? "*" : registration.scope.methods.text(\.description))
    object.add("settings", settings(member))
    object.add("defaults", raw: Self.array(member.defaults))
    object.add("scope", member.scopeText(redaction))
    object.add("stages", raw: declaration.stages.map { Self.array($0.names) } ?? "null")
    object.add("effects", raw: Self.array(declaration.effects.words))
    object.add("place", registration.placement)
    if member.entry.isScript {
      object.add("request", declaration.messages.request.word)
      object.add("response", declaration.messages.response.word)
    }
    object.add("used", raw: unused == nil ? "true" : "false")
    if let unused {
      object.add("unused_because", unused.condition.rawValue)
      if !unused.changers.isEmpty { object.add("unless_changed_by", raw: Self.array(unused.changers)) }
    }
    return object.object
  }

  private static func array(_ texts: [String]) -> String {
    "[\(texts.map(JSONValue.quoted).joined(separator: ","))]"
  }
}

extension ChainSource.Member {
  /// Whether the interceptor may change the request such that it satisfies a condition of others further in.
  ///
  /// No built-in interceptor changes the method or attributes. Plugins do not declare it: one that receives the start may
  /// change the method, and each may set attributes, as scripts may.
  fileprivate func mayChange(_ condition: CallScope.Condition) -> Bool {
    guard plugin != nil else { return entry.isScript && condition == .attribute }
    switch condition {
    case .methods: return registration.factory.declaration.stages?.contains(.requestStart) ?? true
    case .attribute: return true
    case .kinds, .hosts, .header: return false
    }
  }

  /// The calls that pass through the interceptor.
  ///
  /// - Parameter redaction: Removes credentials.
  package func scopeText(_ redaction: Redaction) -> String {
    let scope = registration.scope
    var conditions: [String] = []
    if !scope.methods.selectsAll { conditions.append("methods \(scope.methods.text(\.description))") }
    if !scope.kinds.selectsAll { conditions.append("kinds \(scope.kinds.text(\.rawValue))") }
    if !scope.hosts.selectsAll { conditions.append("hosts \(scope.hosts.text(\.description))") }
    for condition in scope.headers {
      let text = condition.text { redaction.value($0, of: condition.name) }
      conditions.append("header \(text)")
    }
    for condition in scope.attributes {
      conditions.append("attribute \(condition.text { redaction.value($0, of: condition.name) })")
    }
    if let percent = scope.percent { conditions.append("\(percent.text) % of them, at random") }
    return conditions.isEmpty ? "all calls" : conditions.joined(separator: "; ")
  }
}

extension Stages {
  /// The names of the stages, in the order of a call.
  fileprivate var names: [String] { Stage.allCases.filter { contains($0) }.map(\.description) }
}

extension Double {
  /// The number without a fraction of zero.
  fileprivate var text: String { self == rounded() ? "\(Int(self))" : "\(self)" }
}
