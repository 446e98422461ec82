/// A line of input.
package struct InputLine {
  /// The line without its line end. U+FFFD replaces what is not UTF-8.
  package let text: String
  /// Why the line is invalid; nil if it is UTF-8.
  package let failure: Failure?

  package init(_ text: String) {
    self.text = text
    failure = nil
  }

  /// A line of which nothing was kept, because it is too long.
  ///
  /// - Parameters:
  ///   - source: The name of the input, for the error.
  ///   - limitBytes: The length of the longest line.
  package init(tooLongIn source: String, limitBytes: Int) {
    text = ""
    failure = Failure(.input, source, "a line is longer than \(limitBytes >> 20) MiB")
  }

  /// Reads a line. A carriage return at its end, which precedes the line feed, is dropped.
  ///
  /// - Parameters:
  ///   - bytes: The line without its line feed.
  ///   - source: The name of the input, for the error.
  package init(_ bytes: ArraySlice<UInt8>, of source: String = "") {
    let bytes = bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes
    let valid = String(validating: bytes, as: UTF8.self)
    text = valid ?? String(decoding: bytes, as: UTF8.self)
    failure =
      valid == nil
      ? Failure(.input, source, "not UTF-8", hint: "convert it with \"iconv -f LATIN1 -t UTF-8\"") : nil
  }
}
