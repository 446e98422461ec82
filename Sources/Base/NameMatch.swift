/// Finds names by what is typed of them.
package enum NameMatch {
  /// The indices of the names that begin with a typed text; if there are none, of those that do in another case; else of
  /// those that contain it, if it is more than a character.
  package static func indices(of typed: some StringProtocol, in names: [String]) -> [Int] {
    let exact = names.indices.filter { names[$0].hasPrefix(typed) }
    guard exact.isEmpty, !typed.isEmpty else { return exact }
    let sought = Array(typed.lowercased().utf8)
    let folded = names.map { Array($0.lowercased().utf8) }
    let beginning = names.indices.filter { folded[$0].starts(with: sought) }
    guard beginning.isEmpty, sought.count > 1 else { return beginning }
    return names.indices.filter { contains(folded[$0], sought) }
  }

  private static func contains(_ text: [UInt8], _ sought: [UInt8]) -> Bool {
    text.indices.contains { text[$0] == sought[0] && text[$0...].starts(with: sought) }
  }

  /// The names of types and services, those of protobuf and gRPC themselves last.
  package static func ownFirst(_ names: [String]) -> [String] {
    let isOwn = { (name: String) in !name.hasPrefix("google.protobuf.") && !name.hasPrefix("grpc.") }
    return names.filter(isOwn) + names.filter { !isOwn($0) }
  }
}
