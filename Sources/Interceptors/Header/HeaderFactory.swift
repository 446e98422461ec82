import RPCurlChain
import RPCurlLanguage
import RPCurlProtocols

/// Makes interceptors that change request headers, response headers and trailers.
struct HeaderFactory: InterceptorFactory {
  static let description = BuiltIns.Description(
    name: "header", summary: "set, add, remove and rename headers of requests and responses",
    keys: [
      BuiltIns.Key(
        "set=NAME:VALUE",
        "replace all values of a request header; @FILE, env:VARIABLE, cmd:COMMAND are read for each call",
        mayRepeat: true),
      BuiltIns.Key("add=NAME:VALUE", "add a value to a request header", mayRepeat: true),
      BuiltIns.Key("remove=NAME", "remove all values of a request header", mayRepeat: true),
      BuiltIns.Key("rename=OLD:NEW", "rename a request header", mayRepeat: true),
      BuiltIns.Key("response-set=NAME:VALUE", "like set, for response headers", mayRepeat: true),
      BuiltIns.Key("response-add=NAME:VALUE", "like add, for response headers", mayRepeat: true),
      BuiltIns.Key("response-remove=NAME", "like remove, for response headers", mayRepeat: true),
      BuiltIns.Key("response-rename=OLD:NEW", "like rename, for response headers", mayRepeat: true),
      BuiltIns.Key("trailer-set=NAME:VALUE", "like set, for trailers", mayRepeat: true),
      BuiltIns.Key("trailer-add=NAME:VALUE", "like add, for trailers", mayRepeat: true),
      BuiltIns.Key("trailer-remove=NAME", "like remove, for trailers", mayRepeat: true),
      BuiltIns.Key("trailer-rename=OLD:NEW", "like rename, for trailers", mayRepeat: true),
      BuiltIns.Key("timeout=DURATION", "timeout of a command (30s)"),
      BuiltIns.Key("expand=true", "replace ${uuid()}, ${env.NAME} and others in values, for each call"),
      BuiltIns.Key("seed=N", "random seed of expand, for repeatable runs", for: ["expand"]),
    ],
    replaced: [
      "set-env": { _ in "write set=NAME:env:VARIABLE" }, "set-file": { _ in "write set=NAME:@FILE" },
      "set-command": { _ in "write set=NAME:cmd:COMMAND; no shell runs it: cmd:sh -c '...' does" },
    ],
    make: { settings, services throws(ConfigurationError) in try HeaderFactory(settings, services) })

  /// The changes, in the order written.
  struct Changes: Sendable {
    var request: [HeaderChange] = []
    var response: [HeaderChange] = []
    var trailers: [HeaderChange] = []
    var timeout: Duration

    var stages: Stages {
      var stages: Stages = []
      if !request.isEmpty { stages.insert(.requestStart) }
      if !response.isEmpty { stages.insert(.responseStart) }
      if !trailers.isEmpty { stages.insert(.responseEnd) }
      return stages
    }
  }

  private let changes: Changes
  private let services: any InterceptorServices

  private init(_ settings: SettingsReader, _ services: any InterceptorServices) throws(ConfigurationError) {
    var changes = Changes(timeout: try settings.duration("timeout") ?? .seconds(30))
    let values = try TemplateFunctions(settings, services).map { FunctionValues($0, pool: nil) }
    for setting in settings.all where !["timeout", "expand", "seed"].contains(setting.key) {
      var change = Reader(settings: settings, setting: setting, values: values)
      if setting.key.hasPrefix("response-") {
        changes.response.append(try change.read(String(setting.key.dropFirst("response-".count))))
      } else if setting.key.hasPrefix("trailer-") {
        changes.trailers.append(try change.read(String(setting.key.dropFirst("trailer-".count))))
      } else {
        change.reserved = HeaderSyntax.reserved
        change.mayRunCommands = true
        changes.request.append(try change.read(setting.key))
      }
    }
    guard !changes.stages.isEmpty else {
      throw ConfigurationError(
        interceptor: settings.interceptor, reason: "no header to change", hint: "write header,set=NAME:VALUE")
    }
    self.changes = changes
    self.services = services
  }

  var declaration: InterceptorDeclaration {
    InterceptorDeclaration(
      stages: changes.stages, effects: changes.request.isEmpty ? [] : .changesHeaders)
  }

  func make(for call: CallFacts, _ context: CallContext) -> (any StagedInterceptor)? {
    Header(changes, services, context)
  }

  /// Parses one change from a setting.
  private struct Reader {
    let settings: SettingsReader
    let setting: InterceptorSpec.Setting
    let values: FunctionValues?
    /// Names that cannot be set.
    var reserved = HeaderSyntax.framing
    /// Whether the output of a command can be awaited.
    var mayRunCommands = false

    func read(_ verb: String) throws(ConfigurationError) -> HeaderChange {
      switch verb {
      case "set":
        let (name, source) = try nameAndSource()
        return .set(name, source)
      case "add":
        let (name, source) = try nameAndSource()
        return .add(name, source)
      case "rename": return try rename()
      default:
        guard HeaderSyntax.isName(setting.value) else { throw error("the value is not a valid header name") }
        return .remove(setting.value)
      }
    }

    private func template(
      _ value: String, _ values: FunctionValues
    ) throws(ConfigurationError) -> HeaderChange.Source {
      do throws(LanguageError) {
        let template = try Template(parsing: value)
        for expression in template.expressions { try values.check(expression) }
        return .template(template, values)
      } catch {
        throw settings.error(setting.key, error)
      }
    }

    private func nameAndSource() throws(ConfigurationError) -> (String, HeaderChange.Source) {
      let (name, rest) = try split("NAME:VALUE")
      let value = HeaderSyntax.trimmed(rest)
      switch try settings.wholeValue(value, of: setting) {
      case .environment(let variable): return (name, .environment(variable))
      case .file(let path): return (name, .file(path))
      case .command(let words):
        guard mayRunCommands else { throw error("commands run only for request headers") }
        return (name, .command(words))
      case .literal(let text):
        if let values, setting.isWritten { return (name, try template(text, values)) }
        // An expanded value is checked for each call.
        guard HeaderChange.isValue(text, of: name) else {
          throw error("the value of \(name) \(HeaderChange.unfit(name))")
        }
        return (name, .literal(text))
      }
    }

    private func rename() throws(ConfigurationError) -> HeaderChange {
      let scalars = setting.value.unicodeScalars
      guard let colon = scalars.firstIndex(of: ":"), HeaderSyntax.isName(setting.value[..<colon]) else {
        throw error("the value is not of the form OLD:NEW")
      }
      let old = String(scalars[..<colon])
      let new = String(scalars[scalars.index(after: colon)...])
      try check(new)
      guard Headers.isBinary(old.lowercased()) == Headers.isBinary(new.lowercased()) else {
        throw error("only one of \(old) and \(new) is binary")
      }
      return .rename(old, to: new)
    }

    private func split(_ form: String) throws(ConfigurationError) -> (name: String, rest: Substring) {
      guard let colon = setting.value.unicodeScalars.firstIndex(of: ":") else {
        throw error("the value is not of the form \(form)")
      }
      let name = String(setting.value[..<colon])
      guard HeaderSyntax.isName(name) else {
        throw error("the text before the colon is not a valid header name")
      }
      try check(name)
      return (name, setting.value[setting.value.unicodeScalars.index(after: colon)...])
    }

    /// Throws if a header cannot have this name.
    private func check(_ name: String) throws(ConfigurationError) {
      guard HeaderSyntax.isName(name) else { throw error("the new name is not a valid header name") }
      guard !reserved.contains(name.lowercased()) else {
        throw error("\(name) can be set only by the transport")
      }
    }

    private func error(_ reason: String) -> ConfigurationError { settings.error(setting.key, reason) }
  }
}
