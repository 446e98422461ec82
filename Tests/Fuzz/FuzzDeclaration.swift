import RPCurlProtobuf
import RPCurlSchemaTools

/// What is made of one input is bounded. A template has its own limits, which are larger, so only the first messages
/// have one.
private let templateCount = 4

/// Lists the declarations of a descriptor set, prints each as text and as JSON, and makes templates of messages.
func fuzzDeclaration(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let pool = DescriptorPool()
  let bytes = [UInt8](UnsafeBufferPointer(start: start, count: count))
  guard (try? pool.add(SchemaBytes(bytes), source: "fuzz")) != nil else { return 0 }
  let ownFiles = pool.fileNames
  try? pool.add(WellKnownSchemas.set, source: WellKnownSchemas.sourceName)
  let symbols = pool.symbols(Set(SymbolKind.allCases))
  for symbol in pool.symbols([.service, .method]) { check(SchemaJSON.object(symbol)) }
  var files: [String: FileDeclaration] = [:]
  for name in ownFiles {
    guard let file = try? pool.file(named: name) else { continue }
    files[name] = file
    let text = ProtoPrinter(file, in: pool).print()
    check(text, count)
    check(SchemaJSON.object(file, proto: text))
  }
  for symbol in symbols {
    guard let file = files[symbol.file] else { continue }
    check(SchemaJSON.object(symbol))
    guard let declaration = file.declaration(named: symbol.name) else { continue }
    let text = ProtoPrinter(file, in: pool).print(declaration)
    check(text, count)
    check(SchemaJSON.object(declaration, of: file, proto: text))
  }
  for name in pool.messageNames.prefix(templateCount) {
    guard let type = try? pool.messageType(named: name), let template = try? MessageTemplate(type) else {
      continue
    }
    precondition((try? JSONValue(parsing: Array(template.json.utf8))) != nil, "a template is JSON")
  }
  if let set = try? pool.descriptorSet(ofFiles: ownFiles).serialized {
    precondition((try? DescriptorPool().add(SchemaBytes(set), source: "again")) != nil, "an export is a set")
  }
  return 0
}

/// A name that an input has once can occur wherever the input refers to it, and lines are indented by their depth.
private func check(_ text: String, _ count: Int) {
  precondition(text.utf8.count <= (count + 400) * (count + 100), "what is printed is bounded")
  let isPlain = text.unicodeScalars.allSatisfy { $0 == "\n" || $0.properties.generalCategory != .control }
  precondition(isPlain, "there are no control characters except line feeds")
}

private func check(_ json: JSONValue) {
  precondition((try? JSONValue(parsing: Array(json.text.utf8))) != nil, "a declaration is JSON")
}
