import RPCurlProtobuf
import RPCurlProtocols

/// The message types of `Tests/EndToEnd/validate/rules.proto`.
package enum RuleMessages {
  /// Their schema, and the types that it imports.
  package static let schemas: [SchemaBytes] = {
    guard let rules = Base64.decode(Array(RuleSchemaData.encoded.utf8)),
      let common = try? Compression.gzip.decompress(
        WellKnownSchemas.FileGroup.rules.compressed, limitBytes: 1 << 20)
    else { preconditionFailure("the rules of the tests are not a schema") }
    return [SchemaBytes(rules), WellKnownSchemas.set, WellKnownSchemas.optionTypes, SchemaBytes(common)]
  }()

  /// The schema with its imports.
  package static let pool: DescriptorPool = {
    let pool = DescriptorPool()
    do {
      for schema in schemas { try pool.add(schema, source: WellKnownSchemas.sourceName) }
    } catch {
      preconditionFailure("\(error)")
    }
    return pool
  }()

  package static func make(_ type: String, _ json: String) throws -> Message {
    guard let type = try pool.messageType(named: "rules.v1.\(type)") else {
      preconditionFailure("rules.proto declares no \(type)")
    }
    return try Message(type, json: Array(json.utf8))
  }
}
