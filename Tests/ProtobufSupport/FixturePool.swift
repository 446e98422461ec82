import RPCurlProtobuf

/// A pool with the test schemas and the well-known types.
package func makePool() throws -> DescriptorPool {
  let pool = DescriptorPool()
  try pool.add(SchemaBytes(Base64.decode(FixtureData.encoded) ?? []), source: "fixtures")
  try pool.add(WellKnownSchemas.set, source: WellKnownSchemas.sourceName)
  return pool
}
