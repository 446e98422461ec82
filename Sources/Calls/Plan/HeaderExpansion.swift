import Protobuf

/// Replaces `${NAME}` in header values by environment variables (`--expand-headers`).
///
/// As in grpcurl, nothing else is replaced and there is no escape: text that is not a variable name, such as `${a-b}`
/// or `$a`, is not changed.
package struct HeaderExpansion {
  /// Why a value cannot be expanded. Does not contain the value, which may be a secret.
  package enum Problem: Error {
    case unset(variable: String)
    case hasLineBreak(variable: String)
  }

  private let environment: (String) -> String?

  package init(_ environment: @escaping (String) -> String?) {
    self.environment = environment
  }

  /// Replaces the variables in a value. Their values are not expanded again.
  package func expand(_ value: String) throws(Problem) -> String {
    var expanded = ""
    var rest = value[...]
    while let start = rest.firstRange(of: "${") {
      expanded += rest[..<start.lowerBound]
      let name = rest[start.upperBound...].prefixOfScalars(while: Self.isNamePart)
      let end = name.endIndex
      guard !name.isEmpty, end < rest.endIndex, rest.unicodeScalars[end] == "}" else {
        expanded += rest[start]
        rest = rest[start.upperBound...]
        continue
      }
      guard let content = environment(String(name)) else { throw .unset(variable: String(name)) }
      guard !content.contains(where: \.isNewline) else { throw .hasLineBreak(variable: String(name)) }
      expanded += content
      rest = rest[rest.unicodeScalars.index(after: end)...]
    }
    return expanded + rest
  }

  private static func isNamePart(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", "_": true
    default: false
    }
  }
}
