import RPCurlPlatform
import RPCurlProgram

/// A file with values of an option that repeats, one per line: `-H @FILE`, `--var @FILE`.
package enum OptionFile {
  /// A line of the file.
  package struct Line {
    package let text: String
    /// The file and line, for errors.
    package let source: String
  }

  /// The lines that contain a value: neither blank nor a comment, which begins with `#`.
  ///
  /// - Parameters:
  ///   - argument: The option, whose value is `@FILE`.
  ///   - option: The name of the option for errors.
  ///   - waitLimit: How long to wait for data from a pipe; nil for no limit.
  package static func lines(
    of argument: Argument, option: String, waitLimit: Duration?
  ) throws(Failure) -> [Line] {
    let file = String((argument.text ?? "").unicodeScalars.dropFirst())
    let contents: [UInt8]
    do {
      contents = try FileContents.read(
        file, limitBytes: FileContents.optionLimitBytes, waitLimit: waitLimit
      ).withoutByteOrderMark
    } catch {
      throw Failure(.usage, "\(option) @\(file)", error).at(argument.origin)
    }
    guard let text = String(validating: contents, as: UTF8.self) else {
      throw Failure(.usage, "\(option) @\(file)", "not UTF-8").at(argument.origin)
    }
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    return lines.enumerated().compactMap { index, line in
      guard !line.allSatisfy(\.isWhitespace), !line.begins(with: "#") else { return nil }
      return Line(text: String(line), source: "\(file), line \(index + 1)")
    }
  }
}
