@testable import RPCurlEngine

/// Reads `.proto` files as far as rpcurl does without protoc, `buf.yaml`, and the errors of protoc.
func fuzzSource(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let content = [UInt8](UnsafeBufferPointer(start: start, count: count))
  let outline = ProtoOutline(content)
  precondition(outline.imports.count <= count, "imports are those of the file")
  let text = String(decoding: content, as: UTF8.self)
  precondition(BufFile(text).directories.count <= count, "directories are those of the file")
  let lines = text.split(separator: "\n").map(String.init)
  precondition(ProtocReport(lines).others <= lines.count, "errors are those of protoc")
  return 0
}
