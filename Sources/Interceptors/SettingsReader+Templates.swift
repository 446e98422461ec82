import RPCurlChain
import RPCurlLanguage

extension TemplateFunctions {
  /// Makes the functions of an interceptor with the settings `expand` and `seed`; nil without `expand`.
  convenience init?(_ settings: SettingsReader, _ services: any InterceptorServices)
    throws(ConfigurationError)
  {
    let seed = try settings.seed()
    guard try settings.flag("expand") == true else {
      guard seed == nil else { throw settings.error("seed", "requires expand=true") }
      return nil
    }
    self.init(services, seed: seed)
  }
}

extension SettingsReader {
  /// The error of a template in a setting.
  func error(_ key: String, _ error: LanguageError) -> ConfigurationError {
    self.error(key, error.reason, hint: error.hint)
  }
}
