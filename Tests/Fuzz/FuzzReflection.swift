import RPCurlProtobuf
import RPCurlProtocols

@testable import RPCurlCall

/// Receives the responses of a reflection service: each has two bytes with its length before it. Then the schema is read
/// like the file that caches it. The input is also such a file itself, and the set in one.
func fuzzReflection(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let input = [UInt8](UnsafeBufferPointer(start: start, count: count))
  receive(input)
  _ = readCached(input)
  var schema = ReflectedSchema(version: .v1alpha)
  schema.descriptorSet = input
  // Random changes would not keep the checksum.
  let stamp = readCached(CachedSchema.encode(schema))
  precondition((stamp != nil) == !input.isEmpty, "what is stored is read, unless it is empty")
  return 0
}

/// Loads the set of a cached schema, as a call does; nil if the file is damaged.
private func readCached(_ file: [UInt8]) -> CachedSchema.Stamp? {
  guard let stamp = CachedSchema.stamp(of: file.span.bytes) else { return nil }
  precondition(stamp.fileCount >= 0 && file.count > CachedSchema.stampBytes, "a stamp follows a set")
  let pool = DescriptorPool()
  try? pool.add(SchemaBytes(Array(file.dropLast(CachedSchema.stampBytes))), source: "cache")
  for name in pool.serviceNames { _ = try? pool.service(named: name) }
  return stamp
}

private func receive(_ input: [UInt8]) {
  var bytes = input[...]
  let goals: [ReflectionQuery.Goal] = [
    .symbols(["demo.v1.Demo"]),
    .existing([
      .fileContaining(symbol: "demo.v1.Demo"), .fileContainingExtension(of: "a.B", number: 100),
    ]), .serviceNames, .allServices,
  ]
  var query = ReflectionQuery(goals[Int(bytes.popFirst() ?? 0) % goals.count])
  _ = query.start()
  while !bytes.isEmpty {
    let size = Int(bytes.popFirst() ?? 0) << 8 | Int(bytes.popFirst() ?? 0)
    let response = Array(bytes.prefix(size))
    bytes = bytes.dropFirst(size)
    // Another stream: the versions differ.
    let next = response.isEmpty ? try? query.streamEnded(nil) : try? query.receive(response)
    precondition(query.pending.count <= input.count + 2, "requests come from names that the server sent")
    guard case .done(let schema) = next else {
      if next == nil { return }
      continue
    }
    // A list of names alone has no files, and is not cached.
    if schema.descriptorSet.isEmpty { return }
    let file = CachedSchema.encode(schema)
    let stamp = CachedSchema.stamp(of: file.span.bytes)
    precondition(stamp?.fileCount == schema.fileCount, "a schema can be cached")
    let pool = DescriptorPool()
    try? pool.add(SchemaBytes(schema.descriptorSet), source: "server")
    return
  }
}
