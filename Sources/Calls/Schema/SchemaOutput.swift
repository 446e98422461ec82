import Interceptors
import Output
import Protobuf

/// Prints what a schema has.
package enum SchemaOutput {
  /// One name a line.
  package static func print(lines: [String]) {
    StandardOutput.write { $0.append(contentsOf: lines.map { "\(TerminalText.escape($0))\n" }.joined().utf8) }
    StandardOutput.flush()
  }

  /// One JSON value on one line.
  package static func print(json: JSONValue) {
    print(text: "\(json.text)\n")
  }

  /// Text that is safe already.
  package static func print(text: String) {
    StandardOutput.write(Array(text.utf8))
    StandardOutput.flush()
  }

  /// Turns the errors of a schema into what a person is told.
  package static func schema<Result>(_ body: () throws(SchemaError) -> Result) throws(Failure) -> Result {
    do throws(SchemaError) {
      return try body()
    } catch {
      throw SchemaSource.failure(error)
    }
  }
}
