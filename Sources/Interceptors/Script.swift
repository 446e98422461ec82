import RPCurlChain
import RPCurlLanguage
import RPCurlScripts

extension BuiltIns.Description {
  /// The interceptor `script`, which is a target of its own.
  static let script = Self(
    name: "script", summary: "let a program in any language take part in calls, by lines of JSON",
    keys: [
      BuiltIns.Key("run=COMMAND", "start this program, with its arguments; no shell runs it"),
      BuiltIns.Key("connect=unix:PATH", "connect with the program that listens at this socket"),
      BuiltIns.Key("name=NAME", "the name in logs and errors (that of the file)"),
      BuiltIns.Key("secrets=true", "give it the values of secret headers too"),
    ] + SettingsReader.redactionKeys,
    make: { settings, services throws(ConfigurationError) in try ScriptFactory(ScriptSettings(settings)) })
}

extension ScriptSettings {
  /// Reads the settings.
  fileprivate init(_ settings: SettingsReader) throws(ConfigurationError) {
    let place: Place
    switch (settings.text("run"), settings.text("connect")) {
    case (let command?, nil):
      do throws(LanguageError) {
        place = .command(try CommandWords.split(command))
      } catch {
        throw settings.error("run", error)
      }
    case (nil, let address?):
      let path = address.hasPrefix("unix:") ? String(address.dropFirst("unix:".count)) : ""
      guard !path.isEmpty else { throw settings.error("connect", "must be unix:PATH") }
      place = .socket(path)
    case (nil, nil):
      throw ConfigurationError(
        interceptor: settings.interceptor, reason: "no program", hint: "write script,run=./sign.py")
    case (_?, _?): throw settings.error("connect", "not with run")
    }
    let showsSecrets = try settings.flag("secrets") ?? false
    self.init(
      place, name: settings.text("name"), redaction: try settings.redaction().showingSecrets(showsSecrets))
  }
}
