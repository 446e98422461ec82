import RPCurlProtobuf

extension ReflectedSchema {
  /// The maximum number of types that are searched.
  private static let limit = 10_000

  /// Types that are reachable from `symbols` and that no file of the schema defines.
  func unknownTypes(from symbols: [String]) -> [String] {
    let pool = DescriptorPool()
    do {
      try pool.add(SchemaBytes(descriptorSet), source: "reflection")
      try pool.add(WellKnownSchemas.set, source: WellKnownSchemas.sourceName)
    } catch {
      // An invalid schema is reported when it is used.
      return []
    }
    var unknown: [String] = []
    var seen: Set<String> = []
    var rest: [MessageType] = []
    func visit(_ find: () throws(SchemaError) -> [MessageType]) {
      do throws(SchemaError) {
        for type in try find() where seen.insert(type.name).inserted { rest.append(type) }
      } catch {
        guard case .unknownType(let name, _, _) = error.reason else { return }
        if seen.insert(name).inserted { unknown.append(name) }
      }
    }
    for symbol in symbols {
      visit { () throws(SchemaError) in try pool.messageType(named: symbol).map { [$0] } ?? [] }
      let methods = (try? pool.service(named: symbol))?.methods ?? []
      for method in methods { visit { [method.input, method.output] } }
      visit { () throws(SchemaError) in
        _ = try pool.service(named: symbol)
        return []
      }
    }
    while let type = rest.popLast(), seen.count < Self.limit {
      visit { () throws(SchemaError) in
        try type.fields().compactMap { $0.isMap ? $0.mapValue?.messageType : $0.messageType }
      }
    }
    return unknown
  }
}
