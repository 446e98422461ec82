import RPCurlBase
import RPCurlChain
import RPCurlEngine
import RPCurlLanguage
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlReports

/// Completes what the line has of the language: paths of a method's messages, conditions, values and settings.
struct LineCompletion {
  private let line: CompletionLine

  init(_ line: CompletionLine) { self.line = line }

  /// The path of `--filter`.
  var filter: [Candidate] { candidates(at: .path, of: .responses) }
  /// The path of `--set` and `--set-file`, and the value of the field.
  var assignment: [Candidate] { candidates(at: .assignment, of: .requests) }
  /// A message of `--data`. A single candidate is followed by what can follow it in JSON, because fish closes the quotes of
  /// the argument after a single one.
  var data: [Candidate] {
    let found = candidates(at: .text, of: .requests)
    guard found.count == 1, let only = found.first, only.text.hasSuffix("}") else { return found }
    let end = SettingScanner.begun(only.text).end
    return found + (end.isInString ? ["\""] : end.isOpen ? [",", "}"] : []).map { Candidate(only.text + $0) }
  }
  /// A value that may be elsewhere; the shell completes files.
  var value: [Candidate] { candidates(at: .elsewhere, of: .requests) }
  /// An interceptor of `--use`.
  var interceptor: [Candidate] { line.candidates(settings.interceptor) }
  /// The settings of a plugin.
  var plugin: [Candidate] { line.candidates(settings.plugin) }

  /// A variable: `NAME=VALUE`.
  var variable: [Candidate] {
    line.candidates { typed in
      guard let equals = typed.firstIndex(of: "=") else { return .none }
      return settings.elsewhere(String(typed[typed.index(after: equals)...]), scope)
    }
  }

  /// A request header.
  var header: [Candidate] {
    line.candidates { typed in
      typed.contains(":")
        ? LanguageCompletion(typed, at: .text, in: scope) : HeaderCompletion.names(typed, end: ":")
    }
  }

  /// The last of the conditions of `--threshold`.
  var threshold: [Candidate] {
    line.candidates { typed in
      let last = typed[typed.startOfLast(",")...].drop(while: \.isWhitespace)
      return LanguageCompletion(String(last), at: .named(LoadThreshold.names, isText: false), in: scope)
    }
  }

  private func candidates(at place: LanguagePlace, of messages: SettingCompletion.Messages) -> [Candidate] {
    var scope = scope
    scope.types = types(of: messages)
    return line.candidates { LanguageCompletion($0, at: place, in: scope) }
  }

  private var settings: SettingCompletion {
    SettingCompletion(scope, types: types, files: FileCompletion.files)
  }

  private var scope: LanguageScope {
    var scope = LanguageScope(statuses: .codes, environment: EnvironmentVariables.names)
    scope.isLiteral = !line.expands
    scope.variables = line.variables
    let isData = line.kind == "data" || line.kind == "set"
    scope.functions =
      Function.ofText + (isData ? [.message] : []) + (isData && line.isChunked ? [.offset, .last] : [])
    scope.typeNames = { types(of: .requests).first?.relativeNames ?? [] }
    return scope
  }

  private func types(of messages: SettingCompletion.Messages) -> [MessageType] {
    guard let method else { return [] }
    return switch messages {
    case .requests: [method.input]
    case .responses: [method.output]
    case .both: [method.input, method.output]
    }
  }

  private var method: MethodDescriptor? {
    guard let (target, method) = MethodCompletion.call(line) else { return nil }
    let pool = DescriptorPool()
    for set in KnownSchema(line, target: target).sets { try? pool.add(set, source: "") }
    try? pool.add(WellKnownSchemas.set, source: WellKnownSchemas.sourceName)
    return try? SchemaSource.find(method, in: pool)
  }
}
