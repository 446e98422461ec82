import RPCurlCEL
import RPCurlLanguage
import RPCurlProtobuf

/// The rules that are expressions.
enum CELRules {
  private static let variables = ["this", "now", "rules", "rule"]

  /// Compiles the expressions of a field or a message, in the order in which protovalidate evaluates them.
  ///
  /// - Parameters:
  ///   - options: The options.
  ///   - texts: The number of the field `cel_expression`.
  ///   - rules: The number of the field `cel`.
  ///   - field: The field; nil for a message.
  ///   - problem: Receives why an expression is skipped.
  static func compile(
    _ options: WireFields, texts: UInt32, rules: UInt32, _ field: Field?, problem: (String) -> Void
  ) -> [Rule] {
    let sources =
      options.texts(texts).map { (id: $0, message: "", text: $0) }
      + options.messages(rules).map {
        (id: $0.texts(1).last ?? "", message: $0.texts(2).last ?? "", text: $0.texts(3).last ?? "")
      }
    return sources.compactMap { source in
      do throws(LanguageError) {
        return try rule(source, field, [])
      } catch {
        problem("\(source.id): \(error.reason)")
        return nil
      }
    }
  }

  /// Compiles the predefined rules among the rules of a field: those of extensions.
  ///
  /// - Parameters:
  ///   - options: The rules, such as `buf.validate.Int32Rules`.
  ///   - typeName: Their type.
  ///   - field: The field, whose schema declares the extensions.
  ///   - type: A type of the schema.
  ///   - problem: Receives why a rule is skipped.
  static func predefined(
    _ options: WireFields, typeName: String, _ field: Field, in type: MessageType, problem: (String) -> Void
  ) -> [Rule] {
    guard options.records.contains(where: { $0.number >= 1000 }) else { return [] }
    guard let type = try? type.relative(named: typeName),
      let message = try? Message(type, serialized: options.serialized)
    else {
      problem("the schema does not declare \(typeName)")
      return []
    }
    var compiled: [Rule] = []
    for own in message.setFields where own.isExtension {
      let value = CELValue(message.contents(of: own), own)
      let rules = WireFields(own.options).message(1160)?.messages(1) ?? []
      for rule in rules {
        let source = (
          id: rule.texts(1).last ?? "", message: rule.texts(2).last ?? "", text: rule.texts(3).last ?? ""
        )
        do throws(LanguageError) {
          compiled.append(try Self.rule(source, field, [.message(message), value]))
        } catch {
          problem("\(source.id): \(error.reason)")
        }
      }
    }
    return compiled
  }

  private static func rule(
    _ source: (id: String, message: String, text: String), _ field: Field?, _ constants: [CELValue]
  ) throws(LanguageError) -> Rule {
    let node = try CELParser.parse(source.text, variables: Array(variables.prefix(2 + constants.count)))
    return Rule(source.id) { (contents, run) throws(LanguageError) in
      let this: CELValue =
        switch contents {
        case .value(let value): CELValue(value)
        case .list(let values): .list(values.map { CELValue($0) })
        case .map(let entries): .map(entries.map { (CELValue($0.key), CELValue($0.value)) })
        case .unset: .null
        }
      try run.spend(reading: this)
      switch try CELEvaluator.evaluate(node, [this, .timestamp(Int128(run.now))] + constants, &run) {
      case .bool(true): return nil
      case .bool(false): return source.message.isEmpty ? "\"\(source.text)\" returned false" : source.message
      case .string(let text): return text.isEmpty ? nil : text
      case let value: throw LanguageError("the result is \(value.typeName), not bool or string")
      }
    }
  }
}
