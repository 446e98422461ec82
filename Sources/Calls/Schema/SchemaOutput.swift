import Interceptors
import Output
import Protobuf

/// Prints parts of a schema.
package enum SchemaOutput {
  /// Prints one name per line.
  package static func print(lines: [String]) {
    StandardOutput.write { $0.append(contentsOf: lines.map { "\(TerminalText.escape($0))\n" }.joined().utf8) }
    StandardOutput.flush()
  }

  /// Prints a JSON value on one line.
  package static func print(json: JSONValue) {
    print(text: "\(json.text)\n")
  }

  /// Prints text in which control characters are escaped.
  package static func print(text: String) {
    StandardOutput.write(Array(text.utf8))
    StandardOutput.flush()
  }

  /// Converts a schema error to a failure.
  package static func schema<Result>(_ body: () throws(SchemaError) -> Result) throws(Failure) -> Result {
    do throws(SchemaError) {
      return try body()
    } catch {
      throw SchemaSource.failure(error)
    }
  }
}
