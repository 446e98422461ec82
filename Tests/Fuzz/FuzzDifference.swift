import RPCurlProtobuf
import RPCurlSchemaTools

/// Compares two descriptor sets. The first two bytes of the input are the length of the first set.
func fuzzDifference(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  guard count > 2 else { return 0 }
  let bytes = [UInt8](UnsafeBufferPointer(start: start + 2, count: count - 2))
  let length = min((Int(start[0]) << 8) | Int(start[1]), bytes.count)
  let (old, new) = (pool(bytes[..<length]), pool(bytes[length...]))
  let rules = Set(Rule.allCases)
  precondition(
    (try? SchemaComparison.findings(from: old, to: old, rules: rules))?.isEmpty ?? true,
    "a schema does not differ from itself")
  let findings = try? SchemaComparison.findings(from: old, to: new, rules: rules)
  let again = try? SchemaComparison.findings(from: old, to: new, rules: rules)
  precondition(findings == again, "a comparison has one result")
  return 0
}

private func pool(_ bytes: ArraySlice<UInt8>) -> DescriptorPool {
  let pool = DescriptorPool()
  try? pool.add(SchemaBytes(Array(bytes)), source: "fuzz")
  return pool
}
