import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlSchemaTools

/// Resolves a typed name: a full name or a unique suffix.
package struct SymbolLookup {
  package typealias Symbol = DescriptorPool.Symbol

  /// The kinds that take precedence over members.
  private static let prominent: Set<SymbolKind> = [
    .service, .method, .message, .enumeration, .extensionField,
  ]

  private let pool: DescriptorPool

  package init(_ pool: DescriptorPool) { self.pool = pool }

  /// The declaration of one of these kinds that `text` names.
  package func find(_ text: String, among kinds: Set<SymbolKind>) throws(Failure) -> Symbol {
    if let exact = try exactly(text, kinds) { return exact }
    if let found = try ending(text, kinds) { return found }
    if let other = try exactly(text, Set(SymbolKind.allCases)) ?? (try? ending(text, Self.prominent)) {
      let wanted = SymbolKind.allCases.filter(kinds.contains).map(Self.withArticle)
      throw Failure(
        .schema, text, "this is \(Self.withArticle(other.kind))",
        hint: "name \(wanted.joined(separator: ", or "))")
    }
    throw unknown(text, among: kinds)
  }

  private static func withArticle(_ kind: SymbolKind) -> String {
    switch kind {
    case .enumeration, .extensionField: "an \(kind.rawValue)"
    case .enumValue: "an enum value"
    default: "a \(kind.rawValue)"
    }
  }

  /// The declaration with this full name.
  package func exactly(_ text: String, _ kinds: Set<SymbolKind>) throws(Failure) -> Symbol? {
    let found = try SchemaOutput.schema { () throws(SchemaError) in try pool.declaration(named: text) }
    guard let found, kinds.contains(found.declaration.kind) else { return nil }
    return Symbol(name: found.declaration.name, kind: found.declaration.kind, file: found.file.name)
  }

  /// The full name of a method; nil if `name` does not name one.
  package func method(_ name: MethodName) throws(Failure) -> MethodName? {
    let text = name.service.isEmpty ? name.method : name.description
    if let exact = try exactly(text, [.method]) { return MethodName(exact.name) }
    return try ending(text, [.method]).flatMap { MethodName($0.name) }
  }

  /// The only declaration whose name ends with `text`. Well-known types match only if nothing else does.
  private func ending(_ text: String, _ kinds: Set<SymbolKind>) throws(Failure) -> Symbol? {
    let end = Array(Self.dotted(text).utf8)
    let last = String(decoding: end.reversed().prefix { $0 != UInt8(ascii: ".") }.reversed(), as: UTF8.self)
    guard !last.isEmpty else { return nil }
    let all = pool.symbols(kinds, ending: last).filter { Self.ends($0, with: end) }
    let own = all.filter { $0.source != WellKnownSchemas.sourceName }
    let found = own.isEmpty ? all : own
    let prominent = found.filter { Self.prominent.contains($0.kind) }
    let candidates = prominent.isEmpty ? found : prominent
    guard let first = candidates.first else { return nil }
    guard candidates.count > 1 else { return first }
    throw Self.ambiguous(text, candidates.map(\.name))
  }

  /// The only one of `names`, which all end with `text`.
  package static func only(_ text: String, among names: [String]) throws(Failure) -> String {
    guard let first = names.first, names.count == 1 else { throw ambiguous(text, names) }
    return first
  }

  private static func ambiguous(_ text: String, _ names: [String]) -> Failure {
    let sorted = names.sorted()
    let rest = sorted.count > 20 ? ", and \(sorted.count - 20) more" : ""
    return Failure(
      .schema, text, "\(sorted.count) names end with this",
      hint: "one of \(sorted.prefix(20).joined(separator: ", "))\(rest)")
  }

  /// The failure for an unknown name, with similar ones.
  package func unknown(_ text: String, among kinds: Set<SymbolKind>) -> Failure {
    let mostLikely = kinds.intersection(Self.prominent)
    let symbols = pool.symbols(mostLikely.isEmpty ? kinds : mostLikely)
    let own = symbols.filter(SchemaQuery.isOwn)
    let names = (own.isEmpty ? symbols : own).map(\.name)
    let filter = kinds.count == 1 ? kinds.first.map { " --kind \($0.rawValue)" } ?? "" : ""
    return Failure(
      .schema, text, "not found in the schema",
      hint: SchemaSource.suggestion(Self.nearest(to: text, among: names))
        ?? "run \"rpcurl list\(filter)\" to see what exists\(missingImports)"
    ).with(.unknownName)
  }

  /// What the hint for an unknown name says of imports that no source has; empty if none is missing.
  private var missingImports: String {
    let files = pool.fileNames(exceptOf: WellKnownSchemas.sourceName)
    guard let missing = try? pool.importedFiles(ofFiles: files).missingImports, !missing.isEmpty else {
      return ""
    }
    return
      "; \(missing.joined(separator: ", ")), which is imported, is in no source: \(SchemaError.importsHint)"
  }

  /// The names similar to `text`, nearest first: as a whole, by as many of their last parts as `text` has, or
  /// because their last part contains `text`.
  static func nearest(to text: String, among names: [String]) -> [String] {
    let wanted = dotted(text)
    let parts = wanted.split(separator: ".").count
    var nearest = parts > 1 ? DescriptorPool.nearestNames(to: text, among: names) : []
    if nearest.isEmpty {
      let ends = Dictionary(grouping: names) { lastParts(parts, of: $0) }
      let similar = DescriptorPool.nearestNames(to: wanted, among: Array(ends.keys))
      nearest = similar.flatMap { ends[$0, default: []].sorted() }
    }
    if nearest.isEmpty, parts == 1, wanted.utf8.count >= 3 {
      let small = wanted.lowercased()
      nearest = names.filter { lastParts(1, of: $0).lowercased().contains(small) }.sorted()
    }
    return Array(nearest.prefix(4))
  }

  private static func lastParts(_ count: Int, of name: String) -> String {
    var left = count
    let end = name.utf8.reversed().prefix { byte in
      if byte == UInt8(ascii: ".") || byte == UInt8(ascii: "/") { left -= 1 }
      return left > 0
    }
    return dotted(String(decoding: end.reversed(), as: UTF8.self))
  }

  /// The name with dots only: a method is `Service/Method`, and also `Service.Method`.
  private static func dotted(_ name: String) -> String {
    guard name.utf8.contains(UInt8(ascii: "/")) else { return name }
    return String(name.map { $0 == "/" ? "." : $0 })
  }

  private static func ends(_ symbol: Symbol, with end: [UInt8]) -> Bool {
    if ends(symbol.name, with: end) { return true }
    // An enum value also has a name in the enum's scope.
    guard symbol.kind == .enumValue else { return false }
    let parts = symbol.name.split(separator: ".")
    return ends((parts.dropLast(2) + parts.suffix(1)).joined(separator: "."), with: end)
  }

  private static func ends(_ name: String, with end: [UInt8]) -> Bool {
    let bytes = name.utf8
    guard bytes.count >= end.count else { return false }
    let start = bytes.index(bytes.endIndex, offsetBy: -end.count)
    let matches = zip(bytes[start...], end).allSatisfy {
      $0 == $1 || $0 == UInt8(ascii: "/") && $1 == UInt8(ascii: ".")
    }
    guard matches, start > bytes.startIndex else { return matches }
    let before = bytes[bytes.index(before: start)]
    return before == UInt8(ascii: ".") || before == UInt8(ascii: "/")
  }
}
