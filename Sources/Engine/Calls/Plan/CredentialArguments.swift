import RPCurlLanguage
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols

/// The headers of options other than `-H`. A header of `-H` or `--rpc-header` with the same name takes precedence, but
/// an authorization of `-H` is an error beside `--user` and `--bearer`, and a host beside `--authority`.
package enum CredentialArguments {
  /// Adds the headers of options to given ones.
  ///
  /// - Parameter limit: The limit of `--max-time`.
  /// - Returns: The headers without a timeout, and the shortest of the timeouts in them and `limit`.
  package static func headers(
    _ options: Invocation, _ protocolName: ProtocolName, bearer: Secret?, given headers: Headers,
    limit: Duration?, _ sources: ArgumentSources
  ) throws(Failure) -> (headers: Headers, timeout: Duration?) {
    let user = options.last(.user)
    guard user == nil || bearer == nil else {
      throw Failure(.usage, "--user", "cannot be combined with --bearer", hint: "use one of the two")
    }
    var headers = headers
    if let user, headers.first("authorization") == nil {
      headers.add("authorization", "Basic \(Base64.encode(Array(try credentials(user, sources).utf8)))")
    }
    if let bearer, headers.first("authorization") == nil {
      headers.add("authorization", "Bearer \(bearer.revealed)")
    }
    if let refusal = HeaderSyntax.refusal(ofRepeated: headers) {
      throw Failure(.usage, "-H", refusal, hint: "give it once")
    }
    let others = [("user-agent", options.last(.userAgent)), ("host", options.last(.authority))]
    for (name, argument) in others where headers.first(name) == nil {
      guard let argument, let text = argument.text.map(HeaderSyntax.trimmed) else { continue }
      if let refusal = HeaderSyntax.refusal(of: name, value: text) {
        throw Failure(.usage, argument.name, refusal.why, hint: refusal.hint).at(argument.origin)
      }
      headers.add(name, text)
    }
    for (name, argument) in [("authorization", options.last(.bearer) ?? user)] + others {
      guard headers.values(name).allSatisfy({ HeaderSyntax.isValue($0) }) else {
        throw Failure(.usage, name, "the value contains a control character").at(argument?.origin)
      }
      guard !protocolName.requiresASCII || headers.values(name).allSatisfy({ HeaderSyntax.isASCIIValue($0) })
      else {
        throw Failure(.usage, name, HeaderSyntax.notASCII(name).why, hint: "percent-encode it")
          .at(argument?.origin)
      }
    }
    let timeout = protocolName.takeTimeout(from: &headers, limit: limit)
    return (headers, timeout)
  }

  /// Throws if `-H` contains an authorization in addition to `--user` or `--bearer`, or a host in addition to
  /// `--authority`, of which only one can be sent.
  ///
  /// - Parameters:
  ///   - options: The options.
  ///   - arguments: The options `-H`.
  ///   - headers: Their headers, also of files.
  package static func check(
    _ options: Invocation, _ arguments: [Argument], given headers: Headers
  ) throws(Failure) {
    try check(options.last(.authority), "host", arguments, given: headers)
    try check(options.last(.bearer) ?? options.last(.user), "authorization", arguments, given: headers)
  }

  /// Throws if headers contain the one of an option too, of which only one can be sent.
  private static func check(
    _ option: Argument?, _ name: String, _ arguments: [Argument], given headers: Headers
  ) throws(Failure) {
    guard let option, headers.first(name) != nil else { return }
    // A command of a session replaces what its start has set.
    let isSet = arguments.contains { header in
      header.origin == .session && header.text?.parted(at: ":").before.lowercased() == name
    }
    guard !isSet else { return }
    throw Failure(
      .usage, option.name, "\(option.name) and the header \(name) of -H contradict each other",
      hint: "omit one of them"
    ).at(option.origin)
  }

  /// `NAME:PASSWORD`, which may be elsewhere. Prompts for the password on the terminal if there is no colon.
  static func credentials(
    _ argument: Argument, _ sources: ArgumentSources
  ) throws(Failure) -> String {
    let text = String(try sources.value(of: argument).prefix { !$0.isNewline })
    guard !text.contains(":") else { return text }
    let isProxy = argument.id == .proxyUser
    guard let password = try sources.secrets.ask("\(isProxy ? "proxy " : "")password of \(text): ") else {
      throw Failure(
        .usage, argument.name, "missing password, and there is no terminal for a prompt",
        hint: "write \(argument.name) NAME:PASSWORD\(isProxy ? "" : ", or use --netrc-file FILE")"
      ).at(argument.origin)
    }
    return "\(text):\(password)"
  }

  /// The token of `--bearer`.
  package static func token(_ argument: Argument, _ sources: ArgumentSources) throws(Failure) -> Secret {
    let text = argument.text ?? ""
    var token = HeaderSyntax.trimmed(try sources.value(of: argument))
    // A file may have further text.
    if WholeValue.isElsewhere(text) {
      token = String(token.drop(while: \.isWhitespace).prefix { !$0.isWhitespace })
    }
    guard !token.isEmpty else {
      throw Failure(
        .usage, text.isEmpty ? argument.name : "\(argument.name) \(text)", "the token is empty",
        hint: "write \(argument.name) TOKEN, @FILE, env:NAME or cmd:COMMAND"
      ).at(argument.origin)
    }
    return Secret(token)
  }
}
