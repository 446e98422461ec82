import RPCurlLanguage
import RPCurlProgram
import RPCurlProtobuf

/// The variables of `--var NAME=VALUE` and `--var @FILE`.
package struct VariableArguments: Equatable {
  /// The values by name: JSON, or else text.
  package private(set) var values: [String: JSONValue] = [:]
  /// The values that reports do not show, by name: those that are read from elsewhere, and those whose names are those of
  /// secrets.
  package private(set) var secrets: [String: String] = [:]

  /// Makes variables of values, by default none.
  package init(_ values: [String: JSONValue] = [:]) { self.values = values }

  /// Reads the values.
  ///
  /// - Throws: `Failure` if a variable cannot have a name, or if a value cannot be read.
  package init(_ arguments: [Argument], _ sources: ArgumentSources) throws(Failure) {
    for argument in arguments {
      guard argument.text?.begins(with: "@") != true else {
        try add(fileOf: argument, waitLimit: sources.waitLimit)
        continue
      }
      let (name, value) = try Self.parts(of: argument.text ?? "", argument.name)
      let text = try sources.value(of: argument, after: "\(name)=")
      let isElsewhere = WholeValue.isElsewhere(value)
      set(name, isElsewhere ? .string(text.withoutLineEnd) : Self.value(text), isSecret: isElsewhere)
    }
  }

  /// Adds the variables of a file, whose values are those in it: a file reads no other one and runs no command.
  private mutating func add(fileOf argument: Argument, waitLimit: Duration?) throws(Failure) {
    for line in try OptionFile.lines(of: argument, option: argument.name, waitLimit: waitLimit) {
      let (name, value) = try Self.parts(of: line.text, line.source)
      guard !WholeValue.isElsewhere(value) else {
        throw Failure(
          .usage, "\(line.source): \(name)", "a file of variables contains values",
          hint: "\(argument.name) \(name)=\(value) reads it; as a text, it is a string of JSON")
      }
      // Of a text that is written with its sign twice.
      let text = if case .literal(let text)? = try? WholeValue(parsing: value) { text } else { String(value) }
      set(name, Self.value(text), isSecret: false)
    }
  }

  /// Sets a variable.
  ///
  /// - Parameter isSecret: Whether the value is a secret with any name.
  private mutating func set(_ name: String, _ value: JSONValue, isSecret: Bool) {
    values[name] = value
    secrets[name] = isSecret || SecretNames.standard.contains(name) ? value.plainText : nil
  }

  /// The name and the value in `NAME=VALUE`.
  ///
  /// - Parameter place: The option, or the line of a file, for errors.
  private static func parts(of text: String, _ place: String) throws(Failure) -> (String, Substring) {
    let (name, value) = text.parted(at: "=")
    guard let value, !name.isEmpty else {
      throw place.hasPrefix("-")
        ? Failure(
          .usage, "\(place) \(text)", "not NAME=VALUE", hint: "\(place) user=Ada, or \(place) @FILE")
        : Failure(.usage, place, "not NAME=VALUE", hint: "write user=Ada")
    }
    do throws(LanguageError) { try Reference.check(variable: String(name)) } catch {
      throw Failure(
        .usage, place.hasPrefix("-") ? "\(place) \(name)" : "\(place): \(name)", error.reason,
        hint: error.hint)
    }
    return (String(name), value)
  }

  /// JSON, or else text.
  private static func value(_ text: String) -> JSONValue {
    (try? JSONValue(parsing: Array(text.utf8))) ?? .string(text)
  }
}
