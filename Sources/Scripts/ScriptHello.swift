import RPCurlChain
import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtocols

/// The first line of a script: what it wants of calls.
package struct ScriptHello: Sendable, Equatable {
  /// The version of the protocol that this program has.
  package static let version = 1
  /// The name of the end of a call, which the chain does not count among the stages.
  private static let finish = "finish"

  /// The stages at which it receives values.
  package var stages: Stages = []
  /// Whether it receives the end of each call.
  package var wantsFinish = false
  /// The methods whose calls pass it.
  package var methods = Selection<MethodPattern>()
  /// What it does with messages.
  package var messages = MessageAccesses()
  /// What it requires of the chain.
  package var requirements = InterceptorRequirements()
  /// What it does to calls.
  package var effects: InterceptorEffects = []
  /// What it does, in one line; empty if it does not say.
  package var summary = ""
  /// Its own version; empty if it does not say.
  package var version = ""

  /// Parses the line.
  ///
  /// - Throws: ``LanguageError`` that names the invalid member.
  package init(parsing line: [UInt8]) throws(LanguageError) {
    let object = try ObjectReader(
      ScriptReply.value(of: line),
      keys: [
        "rpcurl", "stages", "methods", "request", "response", "serial", "collects", "window", "replay_limit",
        "waits", "effects", "summary", "version",
      ])
    guard let given = try object.integer("rpcurl") else {
      throw LanguageError(
        "the first line has no member \"rpcurl\"", hint: "write {\"rpcurl\":1,\"stages\":[\"request_start\"]}"
      )
    }
    guard given == Self.version else {
      throw object.error("rpcurl", "version \(given) of the protocol; this program has \(Self.version)")
    }
    guard object.value("stages") != nil else { throw object.error("stages", "missing") }
    for name in try object.strings("stages") { try add(stage: name, object) }
    let patterns = try object.strings("methods")
    if !patterns.isEmpty {
      do throws(LanguageError) {
        methods = try Selection(
          parsing: patterns.joined(separator: "+"), "none of pkg.Service/Method, pkg.Service/*, */Method, *"
        ) { MethodPattern($0) }
      } catch {
        throw object.error("methods", error.reason)
      }
    }
    messages.request = try Self.access("request", object)
    messages.response = try Self.access("response", object)
    requirements = InterceptorRequirements(
      isSerial: try object.bool("serial") ?? false, collects: try object.bool("collects") ?? false,
      windowBytes: try object.integer("window") ?? 0,
      replayLimitBytes: try object.integer("replay_limit") ?? 0,
      holdsForLong: try object.bool("waits") ?? false)
    if requirements.isSerial, requirements.collects {
      throw object.error("collects", "not with serial: a later value never arrives while one waits")
    }
    let words = try object.strings("effects")
    for word in words {
      guard let effect = InterceptorEffects(word: word) else {
        throw object.error(
          "effects", "\(word.debugDescription): \(InterceptorEffects.all.words.joined(separator: ", "))")
      }
      effects.formUnion(effect)
    }
    summary = try object.string("summary") ?? ""
    version = try object.string("version") ?? ""
  }

  private mutating func add(stage name: String, _ object: ObjectReader) throws(LanguageError) {
    if name == Self.finish {
      wantsFinish = true
    } else if let stage = Stage.allCases.first(where: { $0.description == name }) {
      stages.insert(stage.set)
    } else {
      let names = Stage.allCases.map(\.description) + [Self.finish]
      throw object.error("stages", "no stage \(name.debugDescription): \(names.joined(separator: ", "))")
    }
  }

  private static func access(_ key: String, _ object: ObjectReader) throws(LanguageError) -> MessageAccess {
    guard let word = try object.string(key) else { return .changeTyped }
    guard let access = MessageAccess.allCases.first(where: { $0.word == word }) else {
      throw object.error(
        key,
        "\(word.debugDescription) is not one of \(MessageAccess.allCases.map(\.word).joined(separator: ", "))"
      )
    }
    return access
  }

  /// What `--explain` and warnings about the order of a chain show.
  package var declaration: InterceptorDeclaration {
    InterceptorDeclaration(stages: stages, messages: messages, effects: effects)
  }
}
