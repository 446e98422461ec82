import CommandLine
import Protobuf
import RPCProtocols

/// The headers of `-H` and the like: `NAME: VALUE`, or `@FILE` with one on each line.
struct HeaderArguments {
  /// Puts the environment's values in; `nil` when that was not asked for.
  var expansion: HeaderExpansion?

  /// Reads the values of `option`.
  func parse(_ arguments: [Argument], option: String = "-H") throws(Failure) -> Headers {
    var headers = Headers()
    for argument in arguments {
      let text = argument.text ?? ""
      if text.begins(with: "@") {
        for line in try Self.lines(of: argument, option: option) {
          try add(line.text, from: line.source, to: &headers)
        }
      } else {
        try add(text, from: argument.origin.place ?? option, to: &headers)
      }
    }
    return headers
  }

  /// A line of a file of headers.
  struct Line {
    let text: String
    /// What it is called in errors.
    let source: String
  }

  /// The header of one line.
  func parse(_ line: Line) throws(Failure) -> Headers {
    var headers = Headers()
    try add(line.text, from: line.source, to: &headers)
    return headers
  }

  /// The lines of a file that have a header.
  static func lines(of argument: Argument, option: String) throws(Failure) -> [Line] {
    let file = String((argument.text ?? "").unicodeScalars.dropFirst())
    let contents: [UInt8]
    do {
      contents = try FileContents.read(file, limitBytes: FileContents.optionLimitBytes)
    } catch {
      throw Failure(.usage, "\(option) @\(file)", error.why).at(argument.origin)
    }
    let lines = String(decoding: contents, as: UTF8.self).split(
      omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    return lines.enumerated().compactMap { index, line in
      guard !line.allSatisfy(\.isWhitespace), !line.begins(with: "#") else { return nil }
      return Line(text: String(line), source: "\(file), line \(index + 1)")
    }
  }

  private func add(_ text: String, from source: String, to headers: inout Headers) throws(Failure) {
    // The value is never repeated in an error: it may be a secret.
    guard case let (before, after?) = text.parted(at: ":") else {
      throw Failure(.usage, source, "no colon in the header", hint: "write -H 'NAME: VALUE'")
    }
    let name = before.lowercased()
    let written = String(after.droppingScalars { $0 == " " || $0 == "\t" })
    guard HeaderSyntax.isName(name) else {
      throw Failure(.usage, source, "\(name.debugDescription) is not a header name")
    }
    guard !HeaderSyntax.framing.contains(name) else {
      throw Failure(.usage, source, "the header \(name) is written by the transport, and cannot be set")
    }
    let value = try expand(written, of: name, from: source)
    guard HeaderSyntax.isValue(value) else {
      throw Failure(.usage, source, "the value of \(name) holds a control character")
    }
    if Headers.isBinary(name), Headers([(name, value)]).binaryValues(name).contains(nil) {
      throw Failure(.usage, source, "the value of \(name) is not base64, as a name in -bin demands")
    }
    headers.add(name, value)
  }

  private func expand(_ value: String, of name: String, from source: String) throws(Failure) -> String {
    guard let expansion else { return value }
    do throws(HeaderExpansion.Problem) {
      return try expansion.expand(value)
    } catch {
      switch error {
      case .unset(let variable):
        throw Failure(
          .usage, source, "the value of \(name) refers to the variable \(variable), which is not set",
          hint: "without --expand-headers, ${…} is sent as it is")
      case .hasLineBreak(let variable):
        throw Failure(
          .usage, source, "the variable \(variable) in the value of \(name) holds a line break")
      }
    }
  }
}
