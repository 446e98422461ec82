import RPCurlBase
import RPCurlProgram
import RPCurlProtobuf

extension StandardOutput {
  /// Prints one name per line.
  package func print(lines: [String]) {
    print(lines.map { "\(TerminalText.escape($0))\n" }.joined())
  }

  /// Prints a JSON value on one line.
  package func print(json: JSONValue) {
    print("\(json.text)\n")
  }
}

/// Reads a schema for a command.
package enum SchemaOutput {
  /// Converts a schema error to a failure.
  package static func schema<Result>(_ body: () throws(SchemaError) -> Result) throws(Failure) -> Result {
    do throws(SchemaError) {
      return try body()
    } catch {
      throw SchemaSource.failure(error)
    }
  }
}
