/// What the reader of a text throws: it becomes a ``JSONError`` or a ``TextError`` when it leaves the reader, which is
/// when its line is counted and its path put together.
struct ReadFailure<Reason: Sendable>: Error {
  let reason: Reason
  let offset: Int
  /// The innermost part first.
  var path: [String] = []

  func inside(_ part: String) -> ReadFailure {
    var failure = self
    failure.path.append(part)
    return failure
  }

  /// The place in the text that was read.
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
  /// The same place in a text of which the one that was read is a part.
  func moved(to start: JSONPosition) -> JSONPosition {
    var position = self
    position.byteOffset += start.byteOffset
    if line == 1 { position.column += start.column - 1 }
    position.line += start.line - 1
    return position
  }
}

/// How an error in a text is shown to a person.
func describe(_ reason: String, at position: JSONPosition, of fieldPath: String) -> String {
  let place = "line \(position.line), column \(position.column)"
  return fieldPath.isEmpty ? "\(reason) (\(place))" : "\(fieldPath): \(reason) (\(place))"
}
