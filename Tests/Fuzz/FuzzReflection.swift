import Protobuf
import RPCProtocols

@testable import Reflection

/// Receives the responses of a reflection service: each has two bytes with its length before it. Then the schema is read
/// like the file that caches it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  var bytes = [UInt8](UnsafeBufferPointer(start: start, count: count))[...]
  let goals: [ReflectionQuery.Goal] = [
    .symbols(["demo.v1.Demo"]), .existingSymbols(["demo.v1.Demo", "a.B"]), .serviceNames, .allServices,
  ]
  var query = ReflectionQuery(goals[Int(bytes.popFirst() ?? 0) % goals.count])
  _ = query.start()
  while !bytes.isEmpty {
    let size = Int(bytes.popFirst() ?? 0) << 8 | Int(bytes.popFirst() ?? 0)
    let response = Array(bytes.prefix(size))
    bytes = bytes.dropFirst(size)
    // Another stream: the versions differ.
    let next = response.isEmpty ? try? query.streamEnded(nil) : try? query.receive(response)
    precondition(query.pending.count <= count + 2, "requests come from names that the server sent")
    guard case .done(let schema) = next else {
      if next == nil { return 0 }
      continue
    }
    // A list of names alone has no files, and is not cached.
    if schema.descriptorSet.isEmpty { return 0 }
    let file = CachedSchema.encode(schema)
    let stamp = CachedSchema.stamp(of: file.span.bytes)
    precondition(stamp?.fileCount == schema.fileCount, "a schema can be cached")
    let pool = DescriptorPool()
    try? pool.add(SchemaBytes(schema.descriptorSet), source: "server")
    return 0
  }
  return 0
}
