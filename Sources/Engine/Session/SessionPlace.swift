/// Where a command of a script is.
package struct SessionPlace: Equatable, CustomStringConvertible {
  /// The file.
  package let file: String
  /// The line, from 1.
  package let line: Int

  /// Makes a place.
  package init(_ file: String, line: Int) {
    self.file = file
    self.line = line
  }

  /// `FILE, line N`.
  package var description: String { "\(file), line \(line)" }
}
