import RPCurlLanguage
import RPCurlProtobuf

/// Sources of functions without I/O.
private let sources = TemplateSources(
  nanosecondsSince1970: { 0 }, environment: { name in name == "E" ? "${env.E}" : nil },
  file: { path throws(LanguageError) in
    guard path == "f" else { throw LanguageError("no such file") }
    return Array("${env.E}".utf8)
  })

/// The values of text that is typed, and of the content of files.
private let values = [true, false].map { readsElsewhere in
  let pool = DescriptorPool()
  try? pool.add(WellKnownSchemas.set, source: WellKnownSchemas.sourceName)
  return FunctionValues(
    TemplateFunctions(sources, seed: 1), pool: pool, piece: FilePiece(offset: 1, isLast: true),
    readsElsewhere: readsElsewhere)
}

private let limitBytes = 1 << 20

/// Parses a template as text, as JSON and as the value of a field; what is printed is read as the same.
func fuzzTemplate(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let text = String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  _ = Template.reference(in: text)
  if let template = try? Template(parsing: text) {
    precondition((try? Template(parsing: "\(template)")) == template, "a template is read as printed")
    for values in values {
      guard let result = try? template.text(values, limitBytes: limitBytes) else { continue }
      precondition(result.utf8.count <= max(limitBytes, text.utf8.count), "a text with its values is bounded")
    }
  }
  if let template = try? FieldTemplate(parsing: text) {
    for isText in [true, false] { _ = try? template.text(values[0], isText: isText) }
  }
  let json = Array(text.utf8)
  for index in json.indices.prefix(100) { _ = JSONTemplate.expression(ofValueAt: index, in: json) }
  for hasShortForm in [true, false] {
    guard let template = try? JSONTemplate(parsing: json, hasShortForm: hasShortForm) else { continue }
    for values in values {
      guard let result = try? template.json(values, limitBytes: limitBytes) else { continue }
      guard (try? JSONValue(parsing: json)) != nil else { continue }
      precondition((try? JSONValue(parsing: result)) != nil, "values in strings of JSON leave it JSON")
    }
  }
  return 0
}
