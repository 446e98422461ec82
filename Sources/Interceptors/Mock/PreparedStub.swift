import Interception
import Language
import Protobuf
import RPCProtocols

/// A stub prepared for a method with known types.
struct PreparedStub {
  let stub: Stub
  let index: Int
  private let condition: PreparedCondition
  private let headers: [MetadataCondition]
  /// The conditions of the rules of each response.
  let rules: [String: PreparedCondition]

  init(_ stub: Stub, index: Int, for call: CallFacts) throws(FormatError) {
    self.stub = stub
    self.index = index
    condition = try PreparedCondition(stub.condition, "", call.requestType)
    var headers: [MetadataCondition] = []
    for text in stub.headers {
      do throws(LanguageError) {
        headers.append(try MetadataCondition(text))
      } catch {
        throw FormatError(reason: "headers: \(error.reason)")
      }
    }
    self.headers = headers
    var rules: [String: PreparedCondition] = [:]
    for response in stub.responses {
      for rule in response.rules {
        rules[rule.path] = try PreparedCondition(rule.condition, rule.path, call.requestType)
      }
    }
    self.rules = rules
  }

  /// Why it does not match a call; empty if it does.
  func differences(of message: Message?, _ metadata: Headers) -> [String] {
    let missing = headers.filter { !$0.holds(for: metadata) }
    return missing.map { "the header condition \($0) does not hold" } + condition.differences(of: message)
  }
}

/// A condition on messages, prepared for a type.
struct PreparedCondition {
  private let patterns: [MessagePattern]
  private let tests: [FieldCondition]

  init(_ condition: Stub.Condition, _ path: String, _ type: MessageType?) throws(FormatError) {
    let prefix = path.isEmpty ? "" : "\(path)."
    var patterns: [MessagePattern] = []
    var tests: [FieldCondition] = []
    if let type {
      for (key, json, isExact) in [
        ("request", condition.fields, false), ("exactly", condition.exactly, true),
      ] {
        guard let json else { continue }
        do throws(MessageParseError) {
          patterns.append(try MessagePattern(json, of: type, isExact: isExact))
        } catch {
          throw FormatError(reason: "\(prefix)\(key): \(error.withoutPlace)")
        }
      }
      for text in condition.tests {
        do throws(LanguageError) {
          let test = try FieldCondition(text)
          try test.check(against: type)
          tests.append(test)
        } catch {
          throw FormatError(reason: "\(prefix)where: \(error.reason)")
        }
      }
    } else if !condition.isEmpty {
      throw FormatError(reason: "\(prefix)request: the schema of the request is unknown")
    }
    self.patterns = patterns
    self.tests = tests
  }

  /// Why a message does not match; empty if it does.
  func differences(of message: Message?) -> [String] {
    guard let message else { return patterns.isEmpty && tests.isEmpty ? [] : ["there is no message"] }
    var found = patterns.flatMap { $0.differences(of: message).map(\.description) }
    for test in tests {
      do {
        if let value = try test.mismatch(in: message) {
          found.append("\(test) does not hold, found \(value)")
        }
      } catch {
        found.append(error.reason)
      }
    }
    return found
  }
}

extension MessageParseError {
  /// The text without line and column, which refer to a part of the file.
  var withoutPlace: String {
    message + (hint.map { "; \($0)" } ?? "")
  }
}
