import Protobuf

/// Puts the environment's values into those of headers, for `--expand-headers`: `${NAME}` stands for the variable.
///
/// As in grpcurl, nothing else is expanded, and nothing escapes: what is no name of a variable, such as `${a-b}` or `$a`,
/// stays as it is.
package struct HeaderExpansion {
  /// Why a value cannot be expanded. It is never repeated: it may be a secret.
  package enum Problem: Error {
    case unset(variable: String)
    case hasLineBreak(variable: String)
  }

  private let environment: (String) -> String?

  package init(_ environment: @escaping (String) -> String?) {
    self.environment = environment
  }

  /// The value with the variables in it replaced. What a variable holds is not looked at again.
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
