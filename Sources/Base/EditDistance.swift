/// Finds similar names.
package enum EditDistance {
  /// Up to `limit` of `candidates` that differ little from `name` for its length, nearest first. Case, `_` and `-` do not count.
  package static func nearest(to name: String, among candidates: [String], limit: Int = 3) -> [String] {
    let wanted = name.utf8.compactMap(folded)
    let tolerance = tolerance(ofLength: wanted.count)
    var found: [(distance: Int, name: String)] = []
    var counts = [Int](repeating: 0, count: 256)
    for byte in wanted { counts[Int(byte)] += 1 }
    for candidate in candidates where candidate.utf8.count + tolerance >= wanted.count {
      // Each byte that only one of them has costs at least one step. This excludes most names of a large
      // schema.
      var (length, surplus) = (0, 0)
      for byte in candidate.utf8 {
        guard let byte = folded(byte) else { continue }
        counts[Int(byte)] -= 1
        if counts[Int(byte)] < 0 { surplus += 1 }
        length += 1
      }
      for byte in candidate.utf8 { if let byte = folded(byte) { counts[Int(byte)] += 1 } }
      guard surplus <= tolerance, abs(length - wanted.count) <= tolerance else { continue }
      let distance = between(wanted, candidate.utf8.compactMap(folded))
      if distance <= tolerance { found.append((distance, candidate)) }
    }
    found.sort { ($0.distance, $0.name) < ($1.distance, $1.name) }
    return found.prefix(limit).map(\.name)
  }

  /// The `candidates` that end with `name` after a separator, or else those similar to it, as a whole or by the part
  /// after a prefix that all have, up to a separator.
  package static func suggestions(
    for name: String, among candidates: [String], separator: Unicode.Scalar, prefix: Int = 0
  ) -> [String] {
    var found = endings(with: name, among: candidates, separator: separator)
    if found.isEmpty { found = nearest(to: name, among: candidates) }
    guard found.isEmpty, prefix > 0 else { return found }
    let parts = candidates.map { String(decoding: $0.utf8.dropFirst(prefix), as: UTF8.self) }
    return nearest(to: name, among: parts).compactMap { part in
      parts.firstIndex(of: part).map { candidates[$0] }
    }
  }

  /// The length in bytes of the prefix that all names have, up to and including its last separator.
  package static func commonPrefix(of names: [String], separator: UInt8) -> Int {
    guard var common = names.first?.utf8[...] else { return 0 }
    for name in names.dropFirst() {
      let count = zip(common, name.utf8).prefix { $0 == $1 }.count
      common = common.prefix(count)
    }
    return common.lastIndex(of: separator).map { common.distance(from: common.startIndex, to: $0) + 1 } ?? 0
  }

  /// The `candidates` that end with `name` after a separator, in any case: `paid` finds `ORDER_STATUS_PAID` with the
  /// separator `_`.
  package static func endings(
    with name: String, among candidates: [String], separator: Unicode.Scalar, limit: Int = 3
  ) -> [String] {
    if name.isEmpty { return [] }
    let suffix = [UInt8(truncatingIfNeeded: separator.value)] + name.utf8.map(lowercased)
    let found = candidates.filter { candidate in
      candidate.utf8.count > suffix.count
        && candidate.utf8.suffix(suffix.count).elementsEqual(suffix) { lowercased($0) == $1 }
    }
    return Array(found.sorted().prefix(limit))
  }

  /// How many letters of a name may be wrong.
  private static func tolerance(ofLength length: Int) -> Int {
    length < 2 ? 0 : length < 8 ? 1 : length < 12 ? 2 : max(3, length / 4)
  }

  private static func folded(_ byte: UInt8) -> UInt8? {
    byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-") ? nil : lowercased(byte)
  }

  private static func lowercased(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }

  /// The number of insertions, deletions, replacements and swaps of adjacent bytes from `a` to `b`.
  package static func between(_ a: [UInt8], _ b: [UInt8]) -> Int {
    if a.isEmpty || b.isEmpty { return max(a.count, b.count) }
    var beforeLast: [Int] = []
    var last = Array(0...b.count)
    for i in 1...a.count {
      var row = [i]
      row.reserveCapacity(b.count + 1)
      for j in 1...b.count {
        var best = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1))
        if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
          best = min(best, beforeLast[j - 2] + 1)
        }
        row.append(best)
      }
      beforeLast = last
      last = row
    }
    return last[b.count]
  }
}
