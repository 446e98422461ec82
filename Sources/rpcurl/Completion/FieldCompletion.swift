import Protobuf
import RPCProtocols

/// Completes field paths of a method's response, for `--filter`.
struct FieldCompletion {
  private let line: CompletionLine

  init(_ line: CompletionLine) { self.line = line }

  /// The fields of the message at the typed path. A path of a message field ends with a dot.
  var paths: [Candidate] {
    guard let type = output else { return [] }
    let dot = line.typed.lastIndex(of: ".")
    let stem = dot.map { String(line.typed[...$0]) } ?? ""
    guard let type = message(at: stem, in: type) else { return [] }
    var found: [Candidate] = []
    for field in (try? type.fields()) ?? [] where "\(stem)\(field.name)".hasPrefix(line.typed) {
      guard Candidate.isName(field.name) else { continue }
      let path = stem + field.name
      found.append(Candidate(path, Self.description(field)))
      if field.messageType != nil, !field.isRepeated, !field.isMap {
        found.append(Candidate("\(path).", "field of this message"))
      }
    }
    return found
  }

  private var output: MessageType? {
    guard let (target, method) = MethodCompletion.call(line) else { return nil }
    let pool = DescriptorPool()
    for set in KnownSchema(line, target: target).sets { try? pool.add(set, source: "") }
    try? pool.add(WellKnownSchemas.set, source: WellKnownSchemas.sourceName)
    let service = (try? pool.service(named: method.service)) ?? nil
    return service?.method(named: method.method)?.output
  }

  private func message(at stem: String, in type: MessageType) -> MessageType? {
    guard !stem.isEmpty else { return type }
    guard let path = try? FieldPath(String(stem.dropLast())), let field = try? type.field(at: path) else {
      return nil
    }
    return field.isMap ? field.mapValue?.messageType : field.messageType
  }

  private static func description(_ field: Field) -> String {
    let type = field.messageType?.name ?? field.enumType?.name ?? "\(field.kind)"
    return field.isMap ? "map" : field.isRepeated ? "repeated \(type)" : type
  }
}
