import RPCurlProtobuf

@testable import RPCurlCEL

/// Compiles an expression of a schema's rules, and evaluates it for messages and other values.
func fuzzRule(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let text = String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  guard let node = try? CELParser.parse(text, variables: ["this", "now"]) else { return 0 }
  let values: [CELValue] = [
    .string("a.b@c.example"), .int(-7), .uint(.max), .double(1e300), .bytes([0, 255]), .bool(true), .null,
    .list([.int(1), .int(.min), .string("x")]), .map([(.string("k"), .int(1))]), .duration(1_500_000_000),
    .timestamp(1 << 60),
  ]
  for value in values {
    var run = RuleRun(budget: 100_000, now: 0)
    _ = try? CELEvaluator.evaluate(node, [value, .timestamp(0)], &run)
    precondition(run.budget <= 100_000, "an expression does not add to its budget")
  }
  return 0
}
