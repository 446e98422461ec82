import RPCurlLanguage
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols

/// The headers of `-H` and similar options: `NAME: VALUE`, or `@FILE` with one per line.
package struct HeaderArguments {
  /// How long to wait for data from a pipe; nil for no limit.
  private let waitLimit: Duration?
  /// Replaces templates in values; nil without `--expand`.
  private let expansion: TextExpansion?
  /// The protocol and the codec of the requests; nil if they are not determined yet.
  private let form: Form?

  package typealias Form = (protocolName: ProtocolName, codec: CodecName)

  package init(
    expansion: TextExpansion?, waitLimit: Duration? = nil, form: Form? = nil
  ) {
    self.waitLimit = waitLimit
    self.expansion = expansion
    self.form = form
  }

  /// Parses the values of `option`.
  ///
  /// - Throws: `Failure` if a header is invalid; its value is not part of the error.
  package func parse(_ arguments: [Argument], option: String = "-H") throws(Failure) -> Headers {
    var headers = Headers()
    for argument in arguments {
      let text = argument.text ?? ""
      if text.begins(with: "@") {
        for line in try lines(of: argument, option: option) {
          try add(line, isTyped: false, to: &headers)
        }
      } else {
        // The values of a header that a session set are inserted already.
        let isLiteral = argument.origin == .session
        let line = Line(text: text, source: argument.origin.place ?? option)
        try add(line, isTyped: true, isLiteral: isLiteral, to: &headers)
      }
    }
    return headers
  }

  package typealias Line = OptionFile.Line

  /// Parses the header of a line of a file.
  package func parse(_ line: Line) throws(Failure) -> Headers {
    var headers = Headers()
    do throws(Failure) {
      try add(line, isTyped: false, to: &headers)
    } catch {
      throw error.changed { $0.isPlaced = true }
    }
    return headers
  }

  /// The text of a line of a file, with its values.
  package func expanded(_ line: Line) throws(Failure) -> String {
    guard case let (name, value?) = line.text.parted(at: ":") else { return line.text }
    return "\(name):\(try expanded(value, isTyped: false, of: name.lowercased(), from: line.source))"
  }

  /// The first template in headers that are typed; nil if there is none, or if templates are replaced.
  func unexpandedTemplate(in arguments: [Argument]) -> String? {
    guard expansion == nil else { return nil }
    return arguments.lazy.compactMap { argument in
      guard argument.origin != .session, let text = argument.text, !text.begins(with: "@") else { return nil }
      return Template.reference(in: text)
    }.first
  }

  /// The lines of a file that contain a header.
  package func lines(of argument: Argument, option: String) throws(Failure) -> [Line] {
    try OptionFile.lines(of: argument, option: option, waitLimit: waitLimit)
  }

  private func add(
    _ line: Line, isTyped: Bool, isLiteral: Bool = false, to headers: inout Headers
  ) throws(Failure) {
    let source = line.source
    // The value may be a secret, so no error contains it.
    guard case let (before, after?) = line.text.parted(at: ":") else {
      throw Failure(.usage, source, "missing colon in the header", hint: "write -H 'NAME: VALUE'")
    }
    let name = before.lowercased()
    if name.isEmpty {
      let pseudo = String(after.prefixOfScalars { $0 != ":" && !$0.properties.isWhitespace })
      throw Failure(
        .usage, source,
        pseudo.isEmpty ? "the header has no name" : "\":\(pseudo)\" is a part of HTTP, not a header",
        hint: pseudo == "authority"
          ? "use --authority HOST" : "the target, the method and --authority set these parts")
    }
    guard HeaderSyntax.isName(name) else {
      throw Failure(.usage, source, "\(name.debugDescription) is not a header name")
    }
    let text = isLiteral ? String(after) : try expanded(after, isTyped: isTyped, of: name, from: source)
    let value = HeaderSyntax.trimmed(text)
    if let refusal = HeaderSyntax.refusal(of: name, value: value) {
      throw Failure(.usage, source, refusal.why, hint: refusal.hint)
    }
    guard HeaderSyntax.isValue(value) else {
      throw Failure(.usage, source, "the value of \(name) contains a control character")
    }
    if Headers.isBinary(name), Headers([(name, value)]).binaryValues(name).contains(nil) {
      throw Failure(.usage, source, "the value of \(name) is not base64, which a name in -bin requires")
    }
    guard let form else { return headers.add(name, value) }
    guard !form.protocolName.requiresASCII || HeaderSyntax.isASCIIValue(value) else {
      let (why, hint) = HeaderSyntax.notASCII(name)
      throw Failure(.usage, source, why, hint: hint)
    }
    switch name {
    case HeaderSyntax.contentType:
      guard let type = try contentType(value, form, from: source) else { return }
      headers.add(name, type)
    case form.protocolName.timeoutHeader.name where form.protocolName.timeout(value) == nil:
      throw Failure(
        .usage, source, "the value of \(name) is not a timeout",
        hint: "write \(form.protocolName.timeoutHeader.syntax)")
    default: headers.add(name, value)
    }
  }

  /// The `content-type` that a value chooses; nil for the one that is sent without it.
  private func contentType(_ value: String, _ form: Form, from source: String) throws(Failure) -> String? {
    let type = value.lowercased()
    let types = form.protocolName.contentTypes(form.codec)
    if types.others.contains(type) { return type }
    guard types.sent.contains(type) else {
      let others = types.others.isEmpty ? "" : "; it may be \(types.others.joined(separator: " or "))"
      throw Failure(
        .usage, source, "the header content-type is set by --protocol and --codec and cannot be changed",
        hint: "omit it\(others); --protocol connect --codec json sends application/json")
    }
    return nil
  }

  private func expanded(
    _ value: Substring, isTyped: Bool, of name: String, from source: String
  ) throws(Failure) -> String {
    guard let values = expansion?.values(isTyped: isTyped) else { return String(value) }
    do throws(LanguageError) {
      return try Template(parsing: value).text(values)
    } catch {
      throw Failure(.usage, "\(source): \(name)", error)
    }
  }
}
