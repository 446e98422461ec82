import RPCurlBase
import RPCurlProgram
import RPCurlProtobuf
import RPCurlSchemaTools

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

  /// Remarks on imports of files that no source has: what needs them is missing.
  ///
  /// - Parameters:
  ///   - names: The names of the files.
  ///   - pool: The schema.
  ///   - isSet: Whether descriptor sets are sources.
  ///   - error: Where the remark is printed.
  package static func remark(
    onImportsOf names: [String], in pool: DescriptorPool, isSet: Bool, _ error: StandardError
  ) {
    guard let missing = try? pool.importedFiles(ofFiles: names).missingImports, !missing.isEmpty else {
      return
    }
    let text = "imported files not found in any source: \(missing.joined(separator: ", "))"
    let hint = isSet ? "hint: \(SchemaError.importsHint)\n" : ""
    error.remark("rpcurl: \(TerminalText.escape(text))\n\(hint)")
  }
}
