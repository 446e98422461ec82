import Protobuf

/// A reference to a variable or to a value in it: `last.items[0].name`.
package struct VariableReference {
  package let name: String
  /// The path within the variable, as typed; empty for the whole value.
  package let path: String

  /// Parses the text after a dollar sign or between braces. Returns nil if it is invalid.
  package init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard let end = Self.endOfPath(bytes, from: 0), end == bytes.count else { return nil }
    let name = text.prefixOfScalars { $0 != "." && $0 != "[" }
    self.name = String(name)
    path = String(text[name.endIndex...])
  }

  /// The end of the reference that starts with the dollar sign at `start`: `$name.path` or `${name.path}`; nil if
  /// there is none.
  package static func end(in bytes: [UInt8], from start: Int) -> Int? {
    let index = start + 1
    guard index < bytes.count else { return nil }
    guard bytes[index] == UInt8(ascii: "{") else { return endOfPath(bytes, from: index) }
    guard let end = endOfPath(bytes, from: index + 1), end < bytes.count, bytes[end] == UInt8(ascii: "}")
    else {
      return nil
    }
    return end + 1
  }

  private static func endOfPath(_ bytes: [UInt8], from start: Int) -> Int? {
    guard var index = endOfName(bytes, from: start) else { return nil }
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "."):
        // A full stop at the end of a reference is not part of it.
        guard let end = endOfStep(bytes, from: index + 1) else { return index }
        index = end
      case UInt8(ascii: "["):
        guard let end = endOfBrackets(bytes, from: index + 1) else { return index }
        index = end
      default: return index
      }
    }
    return index
  }

  private static func endOfName(_ bytes: [UInt8], from start: Int) -> Int? {
    var index = start
    while index < bytes.count, isNamePart(bytes[index], isFirst: index == start) { index += 1 }
    return index > start ? index : nil
  }

  private static func endOfStep(_ bytes: [UInt8], from start: Int) -> Int? {
    guard start < bytes.count, bytes[start] == UInt8(ascii: "(") else { return endOfName(bytes, from: start) }
    return bytes[start...].firstIndex(of: UInt8(ascii: ")")).map { $0 + 1 }
  }

  private static func endOfBrackets(_ bytes: [UInt8], from start: Int) -> Int? {
    var index = start
    var isString = false
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "\\") where isString: index += 1
      case UInt8(ascii: "\""): isString.toggle()
      case UInt8(ascii: "]") where !isString: return index + 1
      default: break
      }
      index += 1
    }
    return nil
  }

  package static func isNamePart(_ byte: UInt8, isFirst: Bool) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"): true
    case UInt8(ascii: "0")...UInt8(ascii: "9"): !isFirst
    default: false
    }
  }
}
