import RPCurlChain
import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtocols

/// Makes interceptors that change fields of messages.
struct EditFactory: InterceptorFactory {
  static let description = BuiltIns.Description(
    name: "edit", summary: "set, clear, copy and transform fields of messages",
    keys: [
      BuiltIns.Key("set=PATH=VALUE", "set a field of each request message", mayRepeat: true),
      BuiltIns.Key(
        "append=PATH=VALUE", "append to a list of each request message", mayRepeat: true),
      BuiltIns.Key("clear=PATH", "clear a field of each request message", mayRepeat: true),
      BuiltIns.Key("copy=FROM:TO", "copy a field of each request message to another", mayRepeat: true),
      BuiltIns.Key(
        "transform=PATH:FUNCTION",
        "apply upper, lower, trim, truncate(N), prefix(TEXT), suffix(TEXT) or add(N)", mayRepeat: true),
      BuiltIns.Key("response-set=PATH=VALUE", "like set, for responses", mayRepeat: true),
      BuiltIns.Key("response-append=PATH=VALUE", "like append, for responses", mayRepeat: true),
      BuiltIns.Key("response-clear=PATH", "like clear, for responses", mayRepeat: true),
      BuiltIns.Key("response-copy=FROM:TO", "like copy, for responses", mayRepeat: true),
      BuiltIns.Key("response-transform=PATH:FUNCTION", "like transform, for responses", mayRepeat: true),
      BuiltIns.Key("expand=true", "replace ${uuid()}, ${env.NAME} and others in values, for each message"),
      BuiltIns.Key("seed=N", "random seed of expand, for repeatable runs"),
    ],
    make: { settings, services throws(ConfigurationError) in try EditFactory(settings, services) })

  private let request: [FieldChange]
  private let response: [FieldChange]

  private init(_ settings: SettingsReader, _ services: any InterceptorServices) throws(ConfigurationError) {
    var request: [FieldChange] = []
    var response: [FieldChange] = []
    let functions = try TemplateFunctions(settings, services)
    let values = functions.map { FunctionValues($0, pool: nil) }
    for setting in settings.all where setting.key != "expand" && setting.key != "seed" {
      let isResponse = setting.key.hasPrefix("response-")
      let key = isResponse ? setting.key.dropFirst(9) : setting.key[...]
      let change: FieldChange
      do throws(LanguageError) {
        change = try FieldChange(String(key), setting.value, key: setting.key, values)
      } catch {
        throw settings.error(setting.key, error.reason, hint: error.hint)
      }
      if isResponse { response.append(change) } else { request.append(change) }
    }
    guard !request.isEmpty || !response.isEmpty else {
      throw ConfigurationError(
        interceptor: settings.interceptor, reason: "no change is given",
        hint: "give a change, as in edit,set=user.name=Ada")
    }
    self.request = request
    self.response = response
  }

  var declaration: InterceptorDeclaration {
    InterceptorDeclaration(
      stages: Edit.stages(request: request, response: response), effects: .changesMessages)
  }

  /// - Throws: `RPCError` if the messages of the method have no such field.
  func make(for call: CallFacts, _ context: CallContext) throws(RPCError) -> (any StagedInterceptor)? {
    // The messages of a subrequest are bytes without a schema.
    guard !call.isSubrequest else { return nil }
    let edit = Edit(request: request, response: response, context)
    try edit.check(call)
    return edit
  }
}
