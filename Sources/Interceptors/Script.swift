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
    make: { settings, services throws(ConfigurationError) in
      var script = try ScriptSettings(settings)
      script.waitLimit = services.waitLimit
      return try ScriptFactory(script)
    })
}

extension ScriptSettings {
  /// Reads the settings.
  fileprivate init(_ settings: SettingsReader) throws(ConfigurationError) {
    let place: Place
    switch (settings.text("run"), settings.text("connect")) {
    case (let command?, nil):
      do throws(LanguageError) {
        place = .command(try ScriptCommand.words(of: command))
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

/// A script that is checked for its author.
package struct ScriptForCheck {
  /// Its registration for chains.
  package let registration: InterceptorRegistration
  private let factory: ScriptFactory

  /// Starts the script, and waits for its first line.
  ///
  /// - Parameters:
  ///   - command: The command.
  ///   - reply: Replies to its questions in place of a person.
  /// - Throws: ``LanguageError`` if the command is invalid, ``ConfigurationError`` if the script does not start, or its first
  ///   line is invalid.
  package init(_ command: String, reply: @escaping @Sendable (String) -> String?) throws {
    var settings = ScriptSettings(.command(try ScriptCommand.words(of: command)))
    settings.reply = reply
    factory = try ScriptFactory(settings)
    registration = InterceptorRegistration(name: factory.name, factory: factory)
  }

  /// The first line of the script, for people.
  package var hello: [String] {
    let hello = factory.hello
    let stages = Stage.allCases.filter { hello.stages.contains($0) }.map(\.description)
    let end = hello.wantsFinish ? ["finish"] : []
    let methods = hello.methods.selectsAll ? "all" : hello.methods.text(\.description)
    return [
      "stages: \((stages + end).joined(separator: ", "))", "methods: \(methods)",
      "messages: \(hello.messages.words)",
    ] + (hello.effects.words.isEmpty ? [] : ["effects: \(hello.effects.words.joined(separator: ", "))"])
  }

  /// The methods that it wants.
  package var methods: Selection<MethodPattern> { factory.methods }

  /// What it does, in one line; empty if it does not say.
  package var summary: String { factory.hello.summary }

  /// Why the script has failed, with what to do; nil if it has not.
  package var failure: (reason: String, hint: String?)? { factory.failure.map { ($0.reason, $0.hint) } }
}
