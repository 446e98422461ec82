import Interception
import Interceptors
import Protobuf
import RPCProtocols

/// The description of the interceptors for `--explain`: which apply to the call, in which order, and why.
struct ChainExplanation {
  private let showsSecrets: Bool
  /// The interceptors that apply to the call, in the order of the request path.
  private let used: [ChainSource.Member]
  /// The other interceptors, with the condition that the call does not satisfy.
  private let unused: [(member: ChainSource.Member, condition: CallScope.Condition)]

  /// Describes a chain.
  ///
  /// - Parameters:
  ///   - chain: The interceptors.
  ///   - method: The method of the call.
  ///   - kind: The kind of the method; nil if only the server has the schema.
  ///   - settings: The call.
  init(_ chain: ChainSource, method: MethodName, kind: CallKind?, _ settings: CallSettings) {
    showsSecrets = settings.showsSecrets
    var (used, unused): ([ChainSource.Member], [(ChainSource.Member, CallScope.Condition)]) = ([], [])
    for member in chain.members {
      let mismatch = member.registration.scope.mismatch(
        method: method, kind: kind, target: settings.target.baseURL, headers: settings.headers,
        attributes: settings.attributes)
      if let mismatch { unused.append((member, mismatch)) } else { used.append(member) }
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
    for (member, condition) in unused {
      rows.append(("not for it", "\(title(member))"))
      rows.append(("", "     scope: \(member.scopeText(showsSecrets)), not met: \(condition.rawValue)"))
    }
    return rows
  }

  private func title(_ member: ChainSource.Member) -> String {
    let settings = settings(member)
    return "\(member.registration.name) (\(member.plugin == nil ? "built in" : "plugin"))"
      + (settings.isEmpty ? "" : ": \(settings)")
  }

  private func details(_ member: ChainSource.Member) -> [String] {
    let declaration = member.registration.factory.declaration
    let stages = declaration.stages.map { stages in
      stages.names.isEmpty ? "none" : stages.names.joined(separator: ", ")
    }
    let effects = declaration.effects.words
    return (member.defaults.isEmpty ? [] : ["defaults: \(member.defaults.joined(separator: ", "))"]) + [
      "scope: \(member.scopeText(showsSecrets))",
      "stages: \(stages ?? "not declared")"
        + (effects.isEmpty ? "" : " (\(effects.joined(separator: ", ")))"),
      "place: \(member.registration.placement)",
    ]
  }

  /// The settings of an interceptor as typed, with secrets redacted.
  private func settings(_ member: ChainSource.Member) -> String {
    String(InterceptorSecrets.settings(member.entry, showsSecrets: showsSecrets).dropFirst())
  }

  // MARK: JSON

  /// The interceptors as a JSON array.
  var json: String {
    let objects =
      used.map { json($0, differing: nil) } + unused.map { json($0.member, differing: $0.condition) }
    return "[\(objects.joined(separator: ","))]"
  }

  private func json(_ member: ChainSource.Member, differing condition: CallScope.Condition?) -> String {
    let registration = member.registration
    let declaration = registration.factory.declaration
    var object = JSONObject()
    object.add("name", registration.name)
    object.add("kind", member.plugin == nil ? "built-in" : "plugin")
    object.add("priority", registration.priority)
    object.add(
      "methods", registration.scope.methods.selectsAll ? "*" : registration.scope.methods.text(\.description))
    object.add("settings", settings(member))
    object.add("defaults", raw: Self.array(member.defaults))
    object.add("scope", member.scopeText(showsSecrets))
    object.add("stages", raw: declaration.stages.map { Self.array($0.names) } ?? "null")
    object.add("effects", raw: Self.array(declaration.effects.words))
    object.add("place", registration.placement)
    object.add("used", raw: condition == nil ? "true" : "false")
    if let condition { object.add("unused_because", condition.rawValue) }
    return object.object
  }

  private static func array(_ texts: [String]) -> String {
    "[\(texts.map(JSONValue.quoted).joined(separator: ","))]"
  }
}

extension ChainSource.Member {
  /// The calls that pass through the interceptor.
  ///
  /// - Parameter showsSecrets: Whether the values of secret headers and attributes are shown.
  package func scopeText(_ showsSecrets: Bool) -> String {
    let scope = registration.scope
    let redaction = Redaction(showsSecrets: showsSecrets)
    var conditions: [String] = []
    if !scope.methods.selectsAll { conditions.append("methods \(scope.methods.text(\.description))") }
    if !scope.kinds.selectsAll { conditions.append("kinds \(scope.kinds.text(\.rawValue))") }
    if !scope.hosts.selectsAll { conditions.append("hosts \(scope.hosts.text(\.description))") }
    for condition in scope.headers {
      var text = "header \(condition.isNegated ? "!" : "")\(condition.name)"
      if let value = condition.value {
        text += ":\(redaction.value(of: Headers.Field(name: condition.name, value: value)))"
      }
      conditions.append(text)
    }
    for condition in scope.attributes {
      var text = "attribute \(condition.isNegated ? "!" : "")\(condition.name)"
      if let value = condition.value {
        text += ":\(redaction.value(ofAttribute: condition.name, value))"
      }
      conditions.append(text)
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
