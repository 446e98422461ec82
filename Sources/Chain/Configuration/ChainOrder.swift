/// The order of interceptors on the request path: by priority, higher first, then in the order registered. Those that
/// are placed before or after others are moved from there as far as necessary; the others keep this order.
struct ChainOrder {
  private let registrations: [InterceptorRegistration]
  /// For each registration, those that precede it.
  private var predecessors: [[Int]] = []

  init(_ registrations: [InterceptorRegistration]) {
    self.registrations =
      registrations.contains { $0.priority != 0 }
      ? registrations.enumerated().sorted {
        ($1.element.priority, $0.offset) < ($0.element.priority, $1.offset)
      }
      .map(\.element)
      : registrations
  }

  /// The registrations in their order.
  ///
  /// - Throws: An error if the placements contradict each other, or name an interceptor that is not registered.
  consuming func sorted() throws(ConfigurationError) -> [InterceptorRegistration] {
    guard registrations.contains(where: \.isPlaced) else { return registrations }
    predecessors = Array(repeating: [], count: registrations.count)
    for index in registrations.indices {
      for name in registrations[index].before {
        for other in try targets(name, of: index, "before") { predecessors[other].append(index) }
      }
      for name in registrations[index].after {
        predecessors[index] += try targets(name, of: index, "after")
      }
    }
    let fixed = registrations.indices.filter { !registrations[$0].isPlaced }
    for (first, second) in zip(fixed, fixed.dropFirst()) { predecessors[second].append(first) }
    return try merged()
  }

  /// Takes the first registration whose predecessors are all taken, until none is left.
  private func merged() throws(ConfigurationError) -> [InterceptorRegistration] {
    var order: [Int] = []
    var isTaken = Array(repeating: false, count: registrations.count)
    var rest = Array(registrations.indices)
    while !rest.isEmpty {
      guard let place = rest.firstIndex(where: { predecessors[$0].allSatisfy { isTaken[$0] } }) else {
        throw contradiction(among: rest)
      }
      isTaken[rest[place]] = true
      order.append(rest.remove(at: place))
    }
    return order.map { registrations[$0] }
  }

  /// The registrations that a placement names.
  private func targets(
    _ reference: String, of index: Int, _ key: String
  ) throws(ConfigurationError) -> [Int] {
    let isOptional = reference.hasPrefix("?")
    let name = isOptional ? String(reference.dropFirst()) : reference
    let found = registrations.indices.filter { $0 != index && registrations[$0].name == name }
    guard found.isEmpty, !isOptional else { return found }
    let others = registrations.indices.filter { $0 != index }.map { registrations[$0].name }
    throw ConfigurationError(
      interceptor: registrations[index].name, key: key,
      reason: "no other interceptor on the chain is named \(name)",
      hint: (others.isEmpty
        ? "the chain has no other interceptor" : "on the chain: \(others.joined(separator: ", "))")
        + "; \(key)=?\(name) also accepts a chain without it")
  }

  /// The error for registrations that each have a predecessor among them: it names a circle of them.
  private func contradiction(among rest: [Int]) -> ConfigurationError {
    // Backwards from any of them, a predecessor comes again.
    var path = [rest[0]]
    while let next = predecessors[path[path.count - 1]].first(where: rest.contains) {
      if let start = path.firstIndex(of: next) {
        path.removeFirst(start)
        break
      }
      path.append(next)
    }
    let circle = Array(path.reversed())
    let names = (circle + circle.prefix(1)).map { registrations[$0].name }
    let placed = circle.first { registrations[$0].isPlaced } ?? circle[0]
    return ConfigurationError(
      interceptor: registrations[placed].name, key: registrations[placed].before.isEmpty ? "after" : "before",
      reason: "the placements contradict each other: \(names.joined(separator: " before "))",
      hint: "remove or change a placement: "
        + circle.map { "\(registrations[$0].name) (\(registrations[$0].placement))" }.joined(separator: ", "))
  }
}

extension InterceptorRegistration {
  /// Whether it is placed relative to others.
  fileprivate var isPlaced: Bool { !before.isEmpty || !after.isEmpty }
}
