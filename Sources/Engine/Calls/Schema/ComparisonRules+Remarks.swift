import RPCurlBase
import RPCurlProgram
import RPCurlProtobuf
import RPCurlSchemaTools

extension ComparisonRules {
  /// Reports exceptions that concern nothing of the schemas, and how much the others ignore.
  ///
  /// - Parameters:
  ///   - error: Where they are reported.
  ///   - pools: The schemas.
  ///   - absence: What a warning says before a name that the schemas lack: `neither schema has`.
  ///   - uses: How many findings each exception ignores, by its origin; nil to report warnings only.
  /// - Throws: `Failure` if a schema is invalid.
  package func remark(
    on error: StandardError, _ pools: [DescriptorPool], absence: String, uses: [String: Int]? = nil
  ) throws(Failure) {
    for (exception, isApplied) in exceptions {
      var hint = ""
      let text: String
      var isAbsent = exception.files.isEmpty
      if isAbsent { isAbsent = try !SchemaOutput.isDeclared(exception.name, in: pools) }
      if !isApplied {
        text = "warning: ignores nothing: the rule is not applied"
      } else if isAbsent {
        text = "warning: \(absence) \(exception.scope)"
        let written = String(exception.scope.prefix { $0 != ":" })
        let name = written.uppercased()
        if name != written, Rule.named(name) != nil { hint = "hint: did you mean \(name)?\n" }
      } else {
        guard let uses else { continue }
        let count = uses[exception.origin] ?? 0
        text = "\(count) change\(count == 1 ? "" : "s") ignored"
      }
      error.remark(TerminalText.escape("rpcurl: \(exception.origin): \(text)") + "\n\(hint)")
    }
  }
}

extension SchemaOutput {
  /// Whether a schema has a package or a declaration of this name.
  package static func isDeclared(_ name: String, in pools: [DescriptorPool]) throws(Failure) -> Bool {
    try schema { () throws(SchemaError) in
      for pool in pools {
        if try pool.core.packageNames().contains(name) { return true }
        if try pool.fileName(declaring: name) != nil { return true }
      }
      return false
    }
  }
}
