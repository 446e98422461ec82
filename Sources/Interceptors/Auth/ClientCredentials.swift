import RPCurlBase
import RPCurlChain
import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtocols

/// OAuth 2.0's client credentials grant (RFC 6749, section 4.4): a client requests a token for itself.
struct ClientCredentials: Sendable {
  /// How the client authenticates (section 2.3.1).
  enum ClientAuthentication: String, CaseIterable, Sendable {
    /// In a header, which every server must support.
    case basic
    /// Among the parameters.
    case body
  }

  var url: String
  var clientID: String
  var clientSecret: Secret
  var scope: String?
  var audience: String?
  var authentication: ClientAuthentication
  /// Whether the secret may be sent without TLS beyond this machine.
  var allowsPlaintext: Bool
  var timeout: Duration

  /// The request for a token (section 4.4.2).
  var request: HTTPFetch {
    var parameters = [("grant_type", "client_credentials")]
    if let scope { parameters.append(("scope", scope)) }
    if let audience { parameters.append(("audience", audience)) }
    var headers = Headers([
      ("content-type", "application/x-www-form-urlencoded"), ("accept", "application/json"),
    ])
    switch authentication {
    case .basic:
      let pair = "\(Self.encode(clientID)):\(Self.encode(clientSecret.revealed))"
      headers.add("authorization", "Basic \(Base64.encode(Array(pair.utf8)))")
    case .body:
      parameters += [("client_id", clientID), ("client_secret", clientSecret.revealed)]
    }
    let body = parameters.map { "\($0)=\(Self.encode($1))" }.joined(separator: "&")
    var fetch = HTTPFetch(
      method: "POST", url: url, headers: headers, body: Array(body.utf8), timeout: timeout)
    fetch.allowsPlaintext = allowsPlaintext
    return fetch
  }

  /// Reads the response (sections 5.1 and 5.2).
  func token(from answer: Result<HTTPFetchResponse, RPCError>, now: Int64) throws(SystemError)
    -> AccessToken
  {
    let fetched: HTTPFetchResponse
    switch answer {
    case .success(let success): fetched = success
    case .failure(let error): throw SystemError("\(server): \(error.message)")
    }
    let json = try? JSONValue(parsing: fetched.body)
    guard fetched.status == 200 else {
      throw SystemError(
        "\(server) \(json.flatMap(refusal) ?? "responded with HTTP \(fetched.status)")")
    }
    guard case .string(let value)? = json?["access_token"] else {
      throw SystemError("\(server) responded without an access_token")
    }
    if case .string(let type)? = json?["token_type"], type.lowercased() != "bearer" {
      throw SystemError("\(server) returned a token of a type other than bearer")
    }
    do throws(SystemError) {
      return try AccessToken(value, expiry: AccessToken.expiry(in: json?["expires_in"], now: now), now: now)
    } catch {
      throw SystemError("\(server): \(error.reason)")
    }
  }

  private var server: String { "the token server \(Origin(url: url)?.description ?? "")" }

  /// The message of an error response, without the secret.
  private func refusal(_ json: JSONValue) -> String? {
    guard case .string(let code)? = json["error"] else { return nil }
    let mask = SecretMask([clientSecret.revealed, Self.encode(clientSecret.revealed)])
    var words = "refused: \(mask.apply(code).prefix(100))"
    if case .string(let description)? = json["error_description"] {
      words += " (\(mask.apply(description).prefix(300)))"
    }
    return words
  }

  /// The form encoding of section 2.3.1, with `%20` for a blank, which every server supports.
  private static func encode(_ text: String) -> String { PercentEncoding.encode(Array(text.utf8)) }
}
