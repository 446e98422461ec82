/// An error of a text parser. When it leaves the parser, it becomes a ``JSONError`` or a ``TextError`` with
/// its line and path.
struct ReadFailure<Reason: Sendable>: Error {
  let reason: Reason
  let offset: Int
  /// The path, innermost part first.
  var path: [String] = []

  func inside(_ part: String) -> ReadFailure {
    var failure = self
    failure.path.append(part)
    return failure
  }

  /// The position in the parsed text.
  func position(in text: UnsafeRawBufferPointer) -> JSONPosition {
    var position = JSONPosition()
    position.advance(over: UnsafeRawBufferPointer(rebasing: text[..<min(offset, text.count)]))
    return position
  }

  /// The path of the field: `user.addresses[2].city`.
  var fieldPath: String {
    path.reversed().reduce(into: "") { path, part in
      if !path.isEmpty, !part.hasPrefix("[") { path += "." }
      path += part
    }
  }
}

extension JSONPosition {
  /// The same position in a text that contains the parsed text as a part.
  func moved(to start: JSONPosition) -> JSONPosition {
    var position = self
    position.byteOffset += start.byteOffset
    if line == 1 { position.column += start.column - 1 }
    position.line += start.line - 1
    return position
  }
}

/// Formats an error in a text for people.
func describe(_ reason: String, at position: JSONPosition, of fieldPath: String) -> String {
  let place = "line \(position.line), column \(position.column)"
  return fieldPath.isEmpty ? "\(reason) (\(place))" : "\(fieldPath): \(reason) (\(place))"
}
