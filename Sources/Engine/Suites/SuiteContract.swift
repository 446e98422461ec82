import RPCurlProtobuf
import RPCurlSchemaTools

/// An older schema, for which the calls of suites were recorded: `--compare`.
package struct SuiteContract {
  /// The schema.
  package let old: DescriptorPool
  /// Its name in reports.
  package let name: String
  /// The rules of compatibility, and what they ignore.
  package let rules: ComparisonRules

  /// Makes a contract.
  package init(_ old: DescriptorPool, named name: String, rules: ComparisonRules) {
    self.old = old
    self.name = name
    self.rules = rules
  }
}
