import RPCurlChain
import RPCurlInterceptors
import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtocols

/// Completes `NAME[,KEY=VALUE…]`, as after `--use` and in sessions. Loads no plugin.
package struct SettingCompletion {
  package typealias Candidate = LanguageCompletion.Candidate

  /// The messages of a call that a path is about.
  package enum Messages {
    case requests, responses, both
  }

  /// The keys of every interceptor.
  private static let commonKeys = CommonSettings.keys.map {
    BuiltIns.Key($0.form, $0.summary, mayRepeat: $0.mayRepeat)
  }
  private static let pluginKeys = [
    BuiltIns.Key("strict=true|false", "fail calls in which the plugin misuses its interface (false)")
  ]

  private let scope: LanguageScope
  private let attributes: [String]
  private let types: (Messages) -> [MessageType]
  private let files: (String) -> LanguageCompletion

  /// Creates a completion.
  ///
  /// - Parameters:
  ///   - scope: What can be named in values. With `expand=true`, values of headers and fields are templates, also
  ///     if `${…}` is text in the scope.
  ///   - attributes: The attributes of calls.
  ///   - types: The types of messages.
  ///   - files: Completes the path of a file.
  package init(
    _ scope: LanguageScope, attributes: [String] = [], types: @escaping (Messages) -> [MessageType],
    files: @escaping (_ typed: String) -> LanguageCompletion
  ) {
    self.scope = scope
    self.attributes = attributes
    self.types = types
    self.files = files
  }

  /// Completes the name of a built-in interceptor, or its settings.
  package func interceptor(_ typed: String) -> LanguageCompletion {
    guard let comma = typed.firstIndex(of: ",") else {
      return LanguageCompletion(typed, BuiltIns.all.map { Candidate($0.name, $0.summary) })
    }
    guard let entry = BuiltIns.all.first(where: { $0.name == typed[..<comma] }) else { return .none }
    let names = Set(entry.keys.map(\.name))
    return settings(typed, entry.keys + Self.commonKeys.filter { !names.contains($0.name) })
  }

  /// Completes the settings of a plugin.
  package func plugin(_ typed: String) -> LanguageCompletion {
    settings(typed, Self.commonKeys + Self.pluginKeys)
  }

  private func settings(_ typed: String, _ keys: [BuiltIns.Key]) -> LanguageCompletion {
    var parts = SettingScanner.split(typed)
    let last = parts.removeLast()
    let used = Set(parts.dropFirst().map { String($0.prefix { $0 != "=" }) })
    guard let equals = last.firstIndex(of: "=") else {
      let free = keys.filter { $0.mayRepeat || !used.contains($0.name) }
      return LanguageCompletion(last, free.map { Candidate("\($0.name)=", $0.summary) })
    }
    guard let key = keys.first(where: { $0.name == last[..<equals] }) else { return .none }
    var scope = scope
    if parts.contains("expand=true"), key.form.contains("VALUE") { scope.isLiteral = false }
    let written = last[last.index(after: equals)...]
    let (typed, end) = SettingScanner.begun(written)
    let found = value(typed, of: key, scope)
    if end.isInQuotes {
      let quoted = found.written { $0.replacing("'", with: "''") }
      return LanguageCompletion(
        quoted.replaced, quoted.candidates.map { $0.isWhole ? Candidate("\($0.text)'", $0.note) : $0 })
    }
    if end.isOpen { return found }
    return found.written { $0.replacing(",", with: ",,") }
  }

  // MARK: Values

  /// The values of a key, according to its form: words, status codes, files, or what the language has in this place.
  private func value(_ typed: String, of key: BuiltIns.Key, _ scope: LanguageScope) -> LanguageCompletion {
    let form = String(key.form.dropFirst(key.name.utf8.count + 1))
    var scope = scope
    switch form {
    case "FILE", "COMMAND": return files(typed)
    case "PATH", "PATH=VALUE", "FROM:TO", "PATH:FUNCTION", "CONDITION":
      scope.types = types(Self.messages(of: key))
    default: break
    }
    switch form {
    case "PATH": return LanguageCompletion(typed, at: .path, in: scope)
    case "PATH=VALUE": return LanguageCompletion(typed, at: .assignment, in: scope)
    case "FROM:TO": return LanguageCompletion(typed, at: .copy, in: scope)
    case "PATH:FUNCTION":
      let names = FieldFunction.allCases.map { $0.argument.isEmpty ? $0.rawValue : "\($0.rawValue)(" }
      return LanguageCompletion(typed, at: .transform(names), in: scope)
    case "CONDITION": return LanguageCompletion(typed, at: .condition, in: scope)
    case "NAME [OP VALUE]", "KEY [OP VALUE]":
      let names = key.name == "attribute" ? attributes : HeaderCompletion.common.map(\.text)
      return LanguageCompletion(typed, at: .named(names, isText: true), in: scope)
    case "NAME:VALUE": return header(typed, scope)
    case "NAME": return HeaderCompletion.names(typed, end: "")
    case _ where form.hasPrefix("CODE"): return codes(typed, isList: form.contains("+"))
    case _ where form.allSatisfy({ $0.isLowercase || $0 == "|" }):
      return LanguageCompletion(typed, form.split(separator: "|").map { Candidate(String($0)) })
    default: return elsewhere(typed, scope)
    }
  }

  private static func messages(of key: BuiltIns.Key) -> Messages {
    if key.name == "redact-field" { return .both }
    return key.isCondition || key.name == "ignore" || key.name.hasPrefix("response-") ? .responses : .requests
  }

  private func codes(_ typed: String, isList: Bool) -> LanguageCompletion {
    // A call that succeeded is not retried.
    let codes = StatusCode.allCases.filter { $0 != .ok || !isList }.map { Candidate($0.name) }
    return LanguageCompletion(isList ? typed[typed.startOfLast("+")...] : typed[...], codes)
  }

  private func header(_ typed: String, _ scope: LanguageScope) -> LanguageCompletion {
    guard let colon = typed.firstIndex(of: ":") else { return HeaderCompletion.names(typed, end: ":") }
    return elsewhere(String(typed[typed.index(after: colon)...]), scope)
  }

  /// Completes a value that may be elsewhere.
  package func elsewhere(_ typed: String, _ scope: LanguageScope) -> LanguageCompletion {
    typed.hasPrefix("@")
      ? files(String(typed.dropFirst())) : LanguageCompletion(typed, at: .elsewhere, in: scope)
  }
}

extension String {
  /// The start of the text after the last separator.
  package func startOfLast(_ separator: Character) -> Index {
    lastIndex(of: separator).map { index(after: $0) } ?? startIndex
  }
}
