import RPCurlEngine
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlSchemaTools

/// The schema that is available without a request: descriptor sets, and the cache of server schemas.
struct KnownSchema {
  /// From this number of names on, packages are suggested first.
  private static let crowd = 100

  let sets: [SchemaBytes]
  /// The services of the server, including those without a cached schema.
  private let services: [String]
  private let search: NameSearch
  private let isOver: () -> Bool

  /// Loads the schema for a line, including the cached schema of the server at `target`.
  init(_ line: CompletionLine, target: String?) {
    let known = target.flatMap { text -> ReflectionCache.Known? in
      guard line.flag(.noCache) != true, line.flag(.reflect) != false,
        var target = line.target(text), let cache = ReflectionCache(environment: CompletionLine.environment)
      else { return nil }
      let known = cache.known(of: target)
      guard known.sets.isEmpty, known.services.isEmpty else { return known }
      // A server of this machine may have been called without --plaintext.
      target.isTLS = false
      return cache.known(of: target)
    }
    sets = line.descriptorSets + (known?.sets ?? [])
    isOver = { line.isOver }
    search = NameSearch(sets, crowd: Self.crowd, limit: Candidate.limit, isOver: isOver)
    services = known?.services ?? []
  }

  /// The names that start with `typed`, or packages if there are too many; if there are none, unique suffixes.
  func names(_ typed: String, _ kinds: Set<SymbolKind>) -> [NameSearch.Match] {
    let found = beginning(typed, kinds)
    return found.isEmpty ? ends(typed, kinds) : found
  }

  /// The full names that start with `typed`, or packages if there are too many.
  func beginning(_ typed: String, _ kinds: Set<SymbolKind>) -> [NameSearch.Match] {
    var result = search.names(.beginning, typed, kinds)
    // Skip dots where only one package follows.
    while result.matches.isEmpty, let only = result.packages.first, result.packages.count == 1,
      Candidate.isName(only), !isOver()
    {
      result = search.names(.beginning, only, kinds)
    }
    let packages = result.packages.map { NameSearch.Match(text: $0, name: $0, kind: .service) }
    var found = result.matches + packages
    if kinds.contains(.service) {
      let known = Set(found.map(\.name))
      for service in services where service.hasPrefix(typed) && !known.contains(service) {
        found.append(NameSearch.Match(text: service, name: service, kind: .service))
      }
    }
    return Self.sorted(found)
  }

  /// The unique suffixes that start with `typed`.
  func ends(_ typed: String, _ kinds: Set<SymbolKind>) -> [NameSearch.Match] {
    typed.isEmpty ? [] : Self.sorted(search.names(.end, typed, kinds).matches)
  }

  private static func sorted(_ found: [NameSearch.Match]) -> [NameSearch.Match] {
    found.filter { Candidate.isName($0.text) }.sorted { $0.text < $1.text }
  }
}
