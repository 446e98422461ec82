import RPCurlBase
import RPCurlChain
import RPCurlProtobuf
import RPCurlProtobufSupport
import RPCurlProtocols
import Testing

@testable import RPCurlLanguage

/// A type of the test schemas.
func type(_ name: String) throws -> MessageType {
  try #require(try makePool().messageType(named: name))
}

/// The result of a successful call with these response messages.
func response(_ typeName: String, _ messages: [String]) throws -> CallResult {
  let type = try type(typeName)
  var result = CallResult(
    method: MethodName(service: "test.Service", method: "Method"), type: type, status: .ok)
  for json in messages { result.add(try Message(type, json: Array(json.utf8))) }
  return result
}

/// The result of a failed call.
func failure(_ code: StatusCode, _ message: String, _ details: [StatusDetail] = []) throws -> CallResult {
  var result = try response("test3.Node", [])
  result.status = code
  result.error = message
  result.details = details
  return result
}

/// The outcome as text: `holds`, `EXPECTED | GOT`, or `invalid: REASON | HINT`.
func outcome(
  _ check: String, _ result: CallResult, _ files: MemoryFiles = MemoryFiles()
) throws -> String {
  switch try Condition(parsing: check).evaluate(result, files: files) {
  case .holds: return "holds"
  case .fails(let mismatch): return "\(mismatch.expected) | \(mismatch.got)"
  case .invalid(let reason, let hint): return "invalid: \(reason)\(hint.map { " | \($0)" } ?? "")"
  }
}

/// The mismatch of a check that fails.
func mismatch(
  _ check: String, _ result: CallResult, _ files: MemoryFiles = MemoryFiles()
) throws -> Mismatch {
  let outcome = try Condition(parsing: check).evaluate(result, files: files)
  guard case .fails(let mismatch) = outcome else {
    Issue.record("\(outcome)")
    return Mismatch("", got: "")
  }
  return mismatch
}

/// Golden files in memory.
final class MemoryFiles: GoldenFiles {
  var files: [String: String]
  let isUpdating: Bool
  /// The files that were written.
  var written: [String] = []

  init(_ files: [String: String] = [:], isUpdating: Bool = false) {
    self.files = files
    self.isUpdating = isUpdating
  }

  func read(_ path: String) throws(SystemError) -> [UInt8]? {
    if path == "unreadable" { throw SystemError("permission denied") }
    return files[path].map { Array($0.utf8) }
  }

  func write(_ path: String, _ content: [UInt8]) throws(SystemError) {
    if path == "readonly/file" { throw SystemError("read-only file system") }
    let text = String(decoding: content, as: UTF8.self)
    guard files[path] != text else { return }
    guard !written.contains(path) else { throw SystemError("written before") }
    files[path] = text
    written.append(path)
  }
}
