import Protobuf
import RPCProtocols

/// Completes field paths: of a method's response for `--filter`, and of its request for `--set` and `--set-file`.
struct FieldCompletion {
  private let line: CompletionLine

  init(_ line: CompletionLine) { self.line = line }

  /// The fields of the response at the typed path. A path that continues in messages ends with a full stop.
  var paths: [Candidate] {
    fields(of: method?.output).flatMap { path, field in
      [Candidate(path, Self.description(field))]
        + Self.inside(path, field).map { Candidate($0, "field of this message") }
    }
  }

  /// The fields of the request at the typed path. A path that can have a value ends with an equals sign.
  var assignments: [Candidate] {
    guard !line.typed.contains("=") else { return [] }
    return fields(of: method?.input).flatMap { path, field in
      let inside = Self.inside(path, field).map { Candidate($0, "field of this message") }
      guard !field.isMap, field.messageType == nil || inside.isEmpty else { return inside }
      return [Candidate(field.isRepeated ? "\(path)[]=" : "\(path)=", Self.description(field))] + inside
    }
  }

  private var method: MethodDescriptor? {
    guard let (target, method) = MethodCompletion.call(line) else { return nil }
    let pool = DescriptorPool()
    for set in KnownSchema(line, target: target).sets { try? pool.add(set, source: "") }
    try? pool.add(WellKnownSchemas.set, source: WellKnownSchemas.sourceName)
    let service = (try? pool.service(named: method.service)) ?? nil
    return service?.method(named: method.method)
  }

  /// The fields whose path begins with what is typed, with their paths.
  private func fields(of type: MessageType?) -> [(path: String, field: Field)] {
    let stem = line.typed.lastIndex(of: ".").map { String(line.typed[...$0]) } ?? ""
    // The path of the message: without the full stop after it, and "." for a single one.
    let path = stem.utf8.count > 1 ? String(stem.dropLast()) : "."
    guard let type, let inner = try? FieldPath(path).messageType(in: type), let fields = try? inner.fields()
    else { return [] }
    return fields.map { (stem + $0.name, $0) }
      .filter { $0.path.hasPrefix(line.typed) && Candidate.isName($0.field.name) }
  }

  /// The paths that continue in the messages of a field.
  private static func inside(_ path: String, _ field: Field) -> [String] {
    let type = field.isMap ? field.mapValue?.messageType : field.messageType
    guard let type, ((try? type.wellKnown()) ?? nil) == nil else { return [] }
    return [field.isRepeated || field.isMap ? "\(path)[]." : "\(path)."]
  }

  private static func description(_ field: Field) -> String {
    let type = field.messageType?.name ?? field.enumType?.name ?? "\(field.kind)"
    return field.isMap ? "map" : field.isRepeated ? "repeated \(type)" : type
  }
}
