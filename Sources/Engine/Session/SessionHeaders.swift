import RPCurlProgram

/// The values of `-H` in a session, in order. The time to set many of different names is linear in their number.
package struct SessionHeaders {
  /// The options.
  package private(set) var arguments: [Argument] = []
  /// How many options each name has.
  private var counts: [String: Int] = [:]

  /// The names, in lowercase, in the order of the options.
  package var names: [String] { arguments.map(Self.name) }

  /// The name of a header in lowercase.
  private static func name(_ header: Argument) -> String {
    (header.text ?? "").prefixOfScalars { $0 != ":" }.lowercased()
  }

  /// Adds a header after those with its name.
  package mutating func append(_ header: Argument) {
    arguments.append(header)
    counts[Self.name(header), default: 0] += 1
  }

  /// Sets a header in place of those with its name.
  package mutating func set(_ header: Argument) {
    remove(Self.name(header))
    append(header)
  }

  /// Removes the headers with a name, in lowercase. Returns whether there were some.
  @discardableResult package mutating func remove(_ name: String) -> Bool {
    guard counts.removeValue(forKey: name) != nil else { return false }
    arguments.removeAll { Self.name($0) == name }
    return true
  }
}
