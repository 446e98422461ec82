import RPCurlLanguage
import RPCurlProgram
import RPCurlProtobuf

/// The variables of `--var NAME=VALUE`.
package struct VariableArguments: Equatable {
  /// The values by name: JSON, or else text.
  package private(set) var values: [String: JSONValue] = [:]
  /// The values that are read from elsewhere, by name, which reports do not show.
  package private(set) var secrets: [String: String] = [:]

  /// Makes variables of values, by default none.
  package init(_ values: [String: JSONValue] = [:]) { self.values = values }

  /// Reads the values.
  ///
  /// - Throws: `Failure` if a variable cannot have a name, or if a value cannot be read.
  package init(_ arguments: [Argument], _ sources: ArgumentSources) throws(Failure) {
    for argument in arguments {
      let (name, value) = (argument.text ?? "").parted(at: "=")
      guard let value, !name.isEmpty else {
        throw Failure(
          .usage, "\(argument.name) \(argument.text ?? "")", "not NAME=VALUE",
          hint: "\(argument.name) user=Ada")
      }
      do throws(LanguageError) { try Reference.check(variable: String(name)) } catch {
        throw Failure(.usage, "\(argument.name) \(name)", error.reason, hint: error.hint)
      }
      let text = try sources.value(of: argument, after: "\(name)=")
      if WholeValue.isElsewhere(value) {
        secrets[String(name)] = text.withoutLineEnd
        values[String(name)] = .string(text.withoutLineEnd)
      } else {
        values[String(name)] = (try? JSONValue(parsing: Array(text.utf8))) ?? .string(text)
      }
    }
  }
}
