@testable import RPCurlProtobuf

/// Loads a descriptor set and uses all that it defines.
func fuzzSchema(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let bytes = [UInt8](UnsafeBufferPointer(start: start, count: count))
  Fuzz.bounded("a descriptor set", bytes, times: 300, constantBytes: 1 << 20) { load(bytes) }
  return 0
}

/// Adds the set to a pool, and looks up all that it defines.
private func load(_ bytes: [UInt8]) {
  let pool = DescriptorPool()
  guard (try? pool.add(SchemaBytes(bytes), source: "fuzz")) != nil else { return }
  try? pool.add(WellKnownSchemas.set, source: WellKnownSchemas.sourceName)
  for name in pool.serviceNames {
    guard let service = try? pool.service(named: name) else { continue }
    _ = try? service.options.message()
    for method in service.methods {
      _ = try? pool.method(service: name, method: method.name)
      _ = try? method.options.message()
    }
  }
  for name in pool.messageNames {
    guard let type = try? pool.messageType(named: name) else { continue }
    _ = try? type.options().message()
    _ = try? pool.fileOptions(of: type.file())
    use(type)
  }
}

/// Reads a few messages of a type: one with each field, and nonsense.
private func use(_ type: MessageType) {
  let fields = (try? type.fields()) ?? []
  var bytes: [UInt8] = []
  for field in fields {
    _ = field.defaultValue
    _ = try? field.options.message()
    var out = OutputBuffer(capacity: 16)
    out.appendTag(Tag(field.number, field.kind.wireType))
    switch field.kind.wireType {
    case .varint, .lengthDelimited: out.append(0)
    case .fixed32: out.appendFixed32(0)
    case .fixed64: out.appendFixed64(0)
    default: out.appendTag(Tag(field.number, .endGroup))
    }
    bytes += out.copyBytes()
  }
  guard let message = try? Message(type, serialized: bytes) else { return }
  _ = message.missingRequiredFields()
  _ = message.text()
  if let json = try? message.json() {
    _ = try? Message(type, json: json)
  }
  Fuzz.require((try? Message(type, serialized: message.serialized())) != nil, "what is written can be read")
}
