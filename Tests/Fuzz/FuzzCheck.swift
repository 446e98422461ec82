import RPCurlChain
import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtobufSupport
import RPCurlProtocols

/// Golden files that do not exist.
private struct NoFiles: GoldenFiles {
  let isUpdating = false
  func read(_ path: String) -> [UInt8]? { nil }
  func write(_ path: String, _ content: [UInt8]) {}
}

/// Results of calls: with every kind of field, and with an error.
private let results: [CallResult] = {
  let pool = DescriptorPool()
  guard (try? pool.add(SchemaBytes(Base64.decode(FixtureData.encoded) ?? []), source: "fixtures")) != nil,
    let scalars = try? pool.messageType(named: "test3.Scalars"),
    let node = try? pool.messageType(named: "test3.Node")
  else { fatalError("the fixtures are not a schema") }
  let method = MethodName(service: "test.Service", method: "Method")
  var response = CallResult(method: method, type: node, status: .ok)
  for json in [#"{"name":"a","next":{"name":"b"}}"#, #"{"next":{"next":{}}}"#] {
    if let message = try? Message(node, json: Array(json.utf8)) { response.add(message) }
  }
  response.headers = Headers([("content-type", "application/grpc")])
  var failure = CallResult(method: method, type: scalars, status: .notFound)
  failure.error = "no such item"
  return [response, failure]
}()

/// Parses a check, and applies it to results.
func fuzzCheck(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let text = String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  guard let check = try? Condition(parsing: text) else { return 0 }
  for result in results {
    let outcome = check.evaluate(result, files: NoFiles())
    precondition(check.evaluate(result, files: NoFiles()) == outcome, "a check has one outcome")
    if case .fails(let mismatch) = outcome {
      precondition(mismatch.expected.utf8.count <= 8 << 10, "texts of a mismatch are cut")
    }
  }
  return 0
}
