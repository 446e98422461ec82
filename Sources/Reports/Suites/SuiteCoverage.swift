/// What suites have exercised of an API: its methods with their status codes, values of enums, and members of oneofs.
package struct SuiteCoverage: Sendable, Equatable {
  /// A status, a value or a member.
  package struct Item: Sendable, Equatable {
    /// The name.
    package let name: String
    /// How often it occurred.
    package var count: Int
  }

  /// Items by the full name of what has them: a method, an enum or a oneof.
  package struct Groups: Sendable, Equatable {
    /// The items of each, in the order of their declarations.
    package private(set) var items: [String: [Item]] = [:]

    /// The names, sorted.
    package var names: [String] { items.keys.sorted() }

    /// Adds a group without items, if it is not known.
    package mutating func add(_ group: String) {
      if items[group] == nil { items[group] = [] }
    }

    /// Adds to the count of an item, and the item if it is not known.
    ///
    /// - Parameters:
    ///   - count: The number; 0 only adds the item.
    ///   - name: The item.
    ///   - group: Its group.
    package mutating func add(_ count: Int, _ name: String, of group: String) {
      let items = items[group] ?? []
      if let index = items.firstIndex(where: { $0.name == name }) {
        // Sums of events from elsewhere stay in the range of the type.
        self.items[group]?[index].count = items[index].count.saturatingAdd(count)
      } else {
        self.items[group, default: []].append(Item(name: name, count: count))
      }
    }

    /// Adds the counts of other groups.
    package mutating func add(_ other: Groups) {
      for (group, added) in other.items {
        guard let own = items[group] else {
          items[group] = added
          continue
        }
        guard own.elementsEqual(added, by: { $0.name == $1.name }) else {
          for item in added { add(item.count, item.name, of: group) }
          continue
        }
        items[group] = zip(own, added).map {
          Item(name: $0.name, count: $0.count.saturatingAdd($1.count))
        }
      }
    }

    /// The items that occurred, and all.
    var used: Share {
      items.values.reduce(into: Share()) { share, items in
        share.used += items.count { $0.count > 0 }
        share.of += items.count
      }
    }
  }

  /// A number of a total number.
  package struct Share: Sendable, Equatable {
    /// How many occurred.
    package var used = 0
    /// How many there are.
    package var of = 0

    /// The share in percent, rounded down: 100 only if all occurred. Nothing of nothing is 100.
    package var percent: Int { of == 0 ? 100 : used * 100 / of }
  }

  /// The methods: for each status code, how many calls ended with it.
  package var methods = Groups()
  /// The enums of the messages of these methods: for each value, how many fields had it.
  package var enums = Groups()
  /// The oneofs of these messages (`pkg.Message.oneof`): for each member, how often it was set.
  package var oneofs = Groups()

  /// Nothing.
  package init() {}

  /// Adds what other suites have exercised.
  package mutating func add(_ other: SuiteCoverage) {
    methods.add(other.methods)
    enums.add(other.enums)
    oneofs.add(other.oneofs)
  }

  /// The methods that were called, and all.
  package var called: Share {
    Share(used: methods.items.values.count { !$0.isEmpty }, of: methods.items.count)
  }

  /// The totals with their nouns.
  var shares: [(noun: String, share: Share)] {
    [("methods", called), ("enum values", enums.used), ("oneof members", oneofs.used)]
  }

  /// The status codes of all calls, the most frequent first.
  var statuses: [Item] {
    var all = Groups()
    for items in methods.items.values {
      for item in items { all.add(item.count, item.name, of: "") }
    }
    return (all.items[""] ?? []).sorted { ($1.count, $0.name) < ($0.count, $1.name) }
  }

  /// The methods by service, both sorted by name.
  var services: [(name: String, methods: [(name: String, statuses: [Item])])] {
    var services: [(name: String, methods: [(name: String, statuses: [Item])])] = []
    for path in methods.names {
      let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
      let service = slash.map { String(path[..<$0]) } ?? ""
      let method = slash.map { String(path[path.index(after: $0)...]) } ?? path
      if services.last?.name != service { services.append((service, [])) }
      services[services.count - 1].methods.append((method, methods.items[path] ?? []))
    }
    return services
  }
}

extension Int {
  /// The sum; the largest number if it is not in the range of the type.
  fileprivate func saturatingAdd(_ other: Int) -> Int {
    let (sum, isOver) = addingReportingOverflow(other)
    return isOver ? .max : sum
  }
}
