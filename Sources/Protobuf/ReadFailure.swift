/// An error of a parser of JSON or text format. When it leaves the parser, it becomes a ``MessageParseError``
/// with its line and path.
struct ReadFailure: Error {
  let reason: MessageParseError.Reason
  let offset: Int
  /// The path, innermost part first.
  var path: [String] = []

  func inside(_ part: String) -> ReadFailure {
    var failure = self
    failure.path.append(part)
    return failure
  }

  /// The position in the parsed text.
  func position(in text: UnsafeRawBufferPointer) -> TextPosition {
    var position = TextPosition()
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

/// A position in a text from which tokens are read.
protocol TokenScanner {
  var bytes: UnsafeRawBufferPointer { get }
  var position: Int { get }
}

extension TokenScanner {
  func failure(_ reason: MessageParseError.Reason) -> ReadFailure { failure(reason, at: position) }

  func failure(_ reason: MessageParseError.Reason, at offset: Int) -> ReadFailure {
    ReadFailure(reason: reason, offset: offset)
  }

  /// The error for a missing `expected`, or for the end of the text.
  func expected(_ what: String) -> ReadFailure {
    failure(position >= bytes.count ? .unexpectedEnd : .syntax(expected: what))
  }
}
