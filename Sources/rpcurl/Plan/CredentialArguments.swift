import Protobuf
import RPCProtocols

/// The headers that options other than `-H` stand for. One given with `-H` wins.
enum CredentialArguments {
  static func headers(
    _ request: CommonRequestOptions, _ server: ServerOptions, bearer: String?, given headers: Headers
  ) throws(Failure) -> Headers {
    guard request.user == nil || bearer == nil else {
      throw Failure(.usage, "--user", "--user and --bearer contradict each other")
    }
    var headers = headers
    if let user = request.user, headers.first("authorization") == nil {
      headers.add("authorization", "Basic \(Base64.encode(Array(user.utf8)))")
    }
    if let bearer, headers.first("authorization") == nil {
      headers.add("authorization", "Bearer \(bearer)")
    }
    if let agent = request.userAgent, headers.first("user-agent") == nil { headers.add("user-agent", agent) }
    if let authority = server.authority, headers.first("host") == nil { headers.add("host", authority) }
    for name in ["authorization", "user-agent", "host"] {
      guard headers.values(name).allSatisfy({ HeaderSyntax.isValue($0) }) else {
        throw Failure(.usage, name, "the value holds a control character")
      }
    }
    return headers
  }

  /// The token that `--bearer` names.
  static func token(_ argument: String) throws(Failure) -> String {
    guard argument.hasPrefix("@") else { return argument }
    let path = String(argument.dropFirst())
    do {
      let contents = String(
        decoding: try FileContents.read(path, limitBytes: FileContents.optionLimitBytes), as: UTF8.self)
      return String(contents.drop(while: \.isWhitespace).prefix { !$0.isWhitespace })
    } catch {
      throw Failure(.usage, "--bearer @\(path)", error.why)
    }
  }
}
