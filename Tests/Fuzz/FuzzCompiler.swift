@testable import RPCurlProtoCompiler

/// Compiles a file and what it imports. Lines `%%` separate the files: `t.proto`, `a.proto`, `b.proto`.
func fuzzCompiler(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let bytes = [UInt8](UnsafeBufferPointer(start: start, count: count))
  Fuzz.bounded("sources", bytes, times: 1000, constantBytes: 8 << 20) { compile(bytes) }
  return 0
}

private func compile(_ bytes: [UInt8]) {
  let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
  let sources = lines.split(separator: Array("%%".utf8)[...], omittingEmptySubsequences: false)
    .map { Array($0.joined(separator: [UInt8(ascii: "\n")])) }
  let names = ["t.proto", "a.proto", "b.proto"]
  let isTolerant = bytes.count % 2 == 0
  let compiler = ProtoCompiler(options: ProtoCompilerOptions(sourceInfo: true, isTolerant: isTolerant)) {
    name in
    guard let index = names.firstIndex(of: name), index < sources.count else { return .missing(tried: []) }
    return .found(sources[index])
  }
  let result = compiler.compile(["t.proto"])
  Fuzz.require(
    result.hasErrors || result.files.last?.name == "t.proto", "a file without errors has a descriptor")
  Fuzz.require(result.diagnostics.count <= 3 * Report.limit + sources.count, "errors are limited")
  if result.hasErrors { return }
  // The descriptor is an import as good as its source.
  let again = ProtoCompiler { name in
    if name == "u.proto" { return .found(Array("syntax = \"proto3\"; import \"t.proto\";".utf8)) }
    return result.files.first { $0.name == name }.map { .descriptor($0.descriptor) } ?? .missing(tried: [])
  }
  Fuzz.require(!again.compile(["u.proto"]).hasErrors, "a descriptor can be imported")
}
