import Interception
import Language
import Protobuf
import RPCProtocols

/// The expectations of a call.
struct Expectations {
  /// The messages of a stream that a condition applies to.
  enum Selection: Equatable {
    case every, first, last, any
    case number(Int)
  }

  /// A condition on a field, and the messages that it applies to.
  struct FieldExpectation {
    let key: String
    let selection: Selection
    let condition: FieldCondition
  }

  var code: StatusCode?
  var message: TextPattern?
  var headers: [MetadataCondition] = []
  var trailers: [MetadataCondition] = []
  var fields: [FieldExpectation] = []
  var messages: CountBound?
  var latency: Duration?
  var name: String?

  init(_ settings: SettingsReader) throws(ConfigurationError) {
    for setting in settings.all {
      do throws(LanguageError) {
        try add(setting.key, setting.value)
      } catch {
        throw settings.error(setting.key, error.reason)
      }
    }
  }

  /// The keys of the conditions that a response can meet later, when it is requested again.
  static let repeatableKeys: Set<String> = ["code", "message", "header", "trailer", "field"]

  /// Parses conditions of the form `KEY=CONDITION`, with the keys that apply to a single response.
  init(conditions: [String]) throws(LanguageError) {
    for condition in conditions {
      let key = String(condition.prefix { $0 != "=" })
      guard Self.repeatableKeys.contains(key), key.utf8.count < condition.utf8.count else {
        let keys = Self.repeatableKeys.sorted().joined(separator: ", ")
        throw LanguageError(
          "must be a condition of assert, such as field=state == DONE, with one of the keys \(keys)")
      }
      try add(key, String(condition.dropFirst(key.count + 1)))
    }
  }

  /// The stages at which the response is received.
  var stages: Stages {
    var stages: Stages = .responseEnd
    if !headers.isEmpty { stages.insert(.responseStart) }
    if !fields.isEmpty || messages != nil { stages.insert(.responseMessage) }
    return stages
  }

  /// Throws if messages of `type` cannot be checked: a condition can never hold then.
  func check(against type: MessageType) throws(LanguageError) {
    for expected in fields { try expected.condition.check(against: type) }
  }

  private mutating func add(_ key: String, _ value: String) throws(LanguageError) {
    switch key {
    case "code": code = try StatusCode(setting: value)
    case "message": message = try TextPattern(value)
    case "header": headers.append(try MetadataCondition(value))
    case "trailer": trailers.append(try MetadataCondition(value))
    case "field": try add(key, .every, value[...])
    case "first-field": try add(key, .first, value[...])
    case "last-field": try add(key, .last, value[...])
    case "any-field": try add(key, .any, value[...])
    case "nth-field":
      let number = value.prefix { $0 != ":" }
      guard number.utf8.count < value.utf8.count, let index = Int(number), index >= 0 else {
        throw LanguageError("must be of the form N:PATH OP VALUE, with N counted from 0")
      }
      try add(key, .number(index), value.dropFirst(number.count + 1))
    case "messages": messages = try CountBound(value)
    case "latency":
      let bound = value.drop { $0 == "<" || $0 == "=" || $0 == " " }
      guard let duration = SettingsReader.duration(bound) else {
        throw LanguageError("must be a duration such as 250ms, or a bound such as <1.5s")
      }
      latency = duration
    case "name": name = value
    default: break
    }
  }

  private mutating func add(
    _ key: String, _ selection: Selection, _ text: Substring
  ) throws(LanguageError) {
    fields.append(
      FieldExpectation(key: key, selection: selection, condition: try FieldCondition(String(text))))
  }
}

extension StatusCode {
  /// Parses a status code: `not_found`, `NOT_FOUND` or `5`.
  init(setting text: String) throws(LanguageError) {
    if let number = Int(text), let code = StatusCode(rawValue: number) {
      self = code
    } else if let code = StatusCode(name: text.lowercased()) {
      self = code
    } else if text.lowercased() == "cancelled" {
      self = .canceled  // gRPC's spelling
    } else {
      throw LanguageError(
        "\(text.debugDescription) is not a status code: a number from 0 to 16, or a name such as not_found")
    }
  }
}
