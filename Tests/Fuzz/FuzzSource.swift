import RPCurlProtobuf

@testable import RPCurlEngine

/// Reads the imports of `.proto` files, files of buf, and descriptor sets in other forms.
func fuzzSource(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let content = [UInt8](UnsafeBufferPointer(start: start, count: count))
  let outline = ProtoOutline(content)
  precondition(outline.imports.count <= count, "imports are those of the file")
  if let file = try? BufFile(content) {
    precondition(file.modules.count <= count, "modules are those of the file")
  }
  // JSON and text are read by other targets.
  if ![.json, .text].contains(content.withUnsafeBytes { DescriptorSetForm($0) }),
    let set = try? DescriptorSetReader.set(SchemaBytes(content))
  {
    try? DescriptorPool().add(set, source: "fuzz")
  }
  var found = EmbeddedDescriptors()
  content.withUnsafeBytes { found.addProgram($0) }
  content.withUnsafeBytes { found.addPython($0) }
  content.withUnsafeBytes { found.addArchive($0) }
  precondition(
    found.set.isEmpty || (try? DescriptorPool().add(SchemaBytes(found.set), source: "fuzz")) != nil,
    "what is found is a set")
  return 0
}
