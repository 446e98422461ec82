import Calls
import Protobuf
import RPCProtocols

/// What can be known of a schema without asking anybody: descriptor sets, and what a server told before.
struct KnownSchema {
  /// From so many names on, packages are told before what is in them.
  private static let crowd = 100

  let sets: [SchemaBytes]
  /// Services that a server has, whether their files are known or not.
  private let services: [String]
  private let search: NameSearch
  private let isOver: () -> Bool

  /// The schema for a line, with what the server at `target` told, if one is named.
  init(_ line: CompletionLine, target: String?) {
    let known = target.flatMap { text -> ReflectionCache.Known? in
      guard line.flag(.noCache) != true, line.flag(.reflect) != false,
        let target = line.target(text)
      else { return nil }
      return ReflectionCache(environment: CompletionLine.environment)?.known(of: target)
    }
    sets = line.descriptorSets + (known?.sets ?? [])
    isOver = { line.isOver }
    search = NameSearch(sets, crowd: Self.crowd, limit: Candidate.limit, isOver: isOver)
    services = known?.services ?? []
  }

  /// The names that go on from `typed`, and packages where they are too many; ends of names where none does.
  func names(_ typed: String, _ kinds: Set<SymbolKind>) -> [NameSearch.Match] {
    let found = beginning(typed, kinds)
    return found.isEmpty ? ends(typed, kinds) : found
  }

  /// The full names that go on from `typed`, and packages where they are too many.
  func beginning(_ typed: String, _ kinds: Set<SymbolKind>) -> [NameSearch.Match] {
    var answer = search.names(.beginning, typed, kinds)
    // The next dot is of no use while there is only one way to it.
    while answer.matches.isEmpty, let only = answer.packages.first, answer.packages.count == 1,
      Candidate.isName(only), !isOver()
    {
      answer = search.names(.beginning, only, kinds)
    }
    let packages = answer.packages.map { NameSearch.Match(text: $0, name: $0, kind: .service) }
    var found = answer.matches + packages
    if kinds.contains(.service) {
      let known = Set(found.map(\.name))
      for service in services where service.hasPrefix(typed) && !known.contains(service) {
        found.append(NameSearch.Match(text: service, name: service, kind: .service))
      }
    }
    return Self.sorted(found)
  }

  /// The ends of names that go on from `typed`.
  func ends(_ typed: String, _ kinds: Set<SymbolKind>) -> [NameSearch.Match] {
    typed.isEmpty ? [] : Self.sorted(search.names(.end, typed, kinds).matches)
  }

  private static func sorted(_ found: [NameSearch.Match]) -> [NameSearch.Match] {
    found.filter { Candidate.isName($0.text) }.sorted { $0.text < $1.text }
  }
}
