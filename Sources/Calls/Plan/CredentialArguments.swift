import CommandLine
import Output
import Protobuf
import RPCProtocols
import System

/// The headers of options other than `-H`. A header of `-H` with the same name takes precedence.
package enum CredentialArguments {
  package static func headers(
    _ request: CommonRequestOptions, _ server: ServerOptions, bearer: String?, given headers: Headers,
    _ secrets: SecretPrompt
  ) throws(Failure) -> Headers {
    guard request.user == nil || bearer == nil else {
      throw Failure(.usage, "--user", "--user and --bearer contradict each other")
    }
    var headers = headers
    if let user = request.user, headers.first("authorization") == nil {
      headers.add("authorization", "Basic \(Base64.encode(Array(try credentials(user, secrets).utf8)))")
    }
    if let bearer, headers.first("authorization") == nil {
      headers.add("authorization", "Bearer \(bearer)")
    }
    if let agent = request.userAgent, headers.first("user-agent") == nil { headers.add("user-agent", agent) }
    if let authority = server.authority, headers.first("host") == nil { headers.add("host", authority) }
    for name in ["authorization", "user-agent", "host"] {
      guard headers.values(name).allSatisfy({ HeaderSyntax.isValue($0) }) else {
        throw Failure(.usage, name, "the value contains a control character")
      }
    }
    return headers
  }

  /// `NAME:PASSWORD`. Prompts for the password on the terminal if there is no colon.
  private static func credentials(
    _ argument: Argument, _ secrets: SecretPrompt
  ) throws(Failure) -> String {
    let text = argument.text ?? ""
    guard !text.contains(":") else { return text }
    guard let password = secrets.ask("password of \(text): ") else {
      throw Failure(
        .usage, argument.name, "missing password, and there is no terminal for a prompt",
        hint: "write \(argument.name) NAME:PASSWORD, or use --netrc-file FILE"
      ).at(argument.origin)
    }
    return "\(text):\(password)"
  }

  /// The token of `--bearer`.
  package static func token(_ argument: Argument, _ sources: ArgumentSources) throws(Failure) -> String {
    let text = argument.text ?? ""
    guard text.hasPrefix("@") else { return text }
    let path = String(text.dropFirst())
    do {
      let contents = String(
        decoding: try sources.contents(ofFile: path), as: UTF8.self)
      return String(contents.drop(while: \.isWhitespace).prefix { !$0.isWhitespace })
    } catch {
      throw Failure(.usage, "--bearer @\(path)", error.why).at(argument.origin)
    }
  }
}
