/// A difference between two schemas.
package struct SchemaFinding: Sendable, Equatable {
  /// Where a difference is in one of the schemas.
  package struct Side: Sendable, Equatable {
    /// The `.proto` file.
    package let file: String
    /// Its package.
    package let package: String
    /// The place of what differs, of its declaration, or of what contained it; nil for a schema without places.
    package let place: SourcePlace?
  }

  /// The rule that the new schema breaks; nil for a compatible addition.
  package let rule: Rule?
  /// The `.proto` file: of the new schema, or of the old one if the new one has no such file.
  package let file: String
  /// The full name of the declaration; for a file, its package.
  package let symbol: String
  /// What differs, with the name of the declaration: `message demo.v1.Item was removed`.
  package let text: String
  /// Other full names that it concerns: the old name of a renamed field, all names of an enum value, and the
  /// declarations of a removed package or of a file whose package changed.
  package var others: [String] = []
  /// Where it is in the old schema; nil for an addition.
  package var old: Side?
  /// Where it is in the new schema; nil if that has no such file.
  package var new: Side?

  /// The place in ``file``.
  package var place: SourcePlace? { new == nil ? old?.place : new?.place }

  /// Whether it concerns a package or a declaration, or something in it.
  ///
  /// - Parameter name: The full name, with a dot before the method.
  package func concerns(_ name: String) -> Bool {
    let symbol = symbol.replacing("/", with: ".")
    // What the new schema no longer has, with everything in it.
    let removed: [String] =
      switch rule {
      case .packageNoDelete, .fileNoDelete, .fileSamePackage: others
      case .packageMessageNoDelete, .packageEnumNoDelete, .packageServiceNoDelete, .messageNoDelete,
        .enumNoDelete, .serviceNoDelete:
        [symbol]
      default: []
      }
    return ([symbol] + others).contains { Self.contains(name, $0) }
      || removed.contains { Self.contains($0, name) }
  }

  private static func contains(_ scope: String, _ name: String) -> Bool {
    name.hasPrefix(scope) && [nil, "."].contains(name.dropFirst(scope.count).first)
  }
}
