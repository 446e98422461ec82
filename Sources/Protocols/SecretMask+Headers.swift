import RPCurlLanguage
import RPCurlProtobuf

extension SecretMask {
  /// The schemes of an authorization, which are not secret.
  package static let schemes: Set<String> = ["basic", "bearer", "digest", "negotiate", "ntlm", "token"]

  /// The secrets in headers: their values, and the parts of these that are secret.
  package static func secrets(of headers: Headers, names: SecretNames = .standard) -> [String] {
    headers.fields.filter { names.contains($0.name) }.flatMap(parts)
  }

  /// The value of a header, and its parts that are secret: what follows a scheme, the password of HTTP Basic, the values of
  /// cookies, and the bytes of a binary header.
  private static func parts(_ field: Headers.Field) -> [String] {
    var parts = [field.value]
    if let blank = field.value.firstRange(of: " ") {
      let credentials = String(field.value[blank.upperBound...])
      if schemes.contains(field.value[..<blank.lowerBound].lowercased()) { parts = [] }
      parts.append(credentials)
      if let login = Base64.decode(credentials).map({ String(decoding: $0, as: UTF8.self) }),
        let colon = login.firstRange(of: ":")
      {
        parts += [login, String(login[colon.upperBound...])]
      }
    }
    if field.name == "cookie" {
      for pair in field.value.split(separator: ";") {
        if let sign = pair.firstRange(of: "=") {
          parts.append(HeaderSyntax.trimmed(pair[sign.upperBound...]))
        }
      }
    }
    if Headers.isBinary(field.name), let bytes = Base64.decode(field.value) {
      parts.append(String(decoding: bytes, as: UTF8.self))
    }
    return parts
  }
}
