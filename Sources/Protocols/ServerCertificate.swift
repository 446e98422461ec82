/// A certificate of a server or of its authority, as libcurl describes it.
package struct ServerCertificate: Sendable, Equatable {
  /// The distinguished name of the owner.
  package var subject = ""
  /// The distinguished name of the authority.
  package var issuer = ""
  /// The names and addresses that it is for.
  package var names: [String] = []
  /// The start of its validity.
  package var start: String?
  /// The end of its validity.
  package var end: String?
  /// How long it is valid from the start of the response on; negative if it has expired, nil if that is not known.
  package var validity: Duration?

  /// Makes an empty description.
  package init() {}

  /// Reads libcurl's lines, each of the form `NAME:VALUE`.
  package init(lines: [String]) {
    for line in lines {
      guard let colon = line.firstIndex(of: ":") else { continue }
      let value = String(line[line.index(after: colon)...])
      switch line[..<colon] {
      case "Subject": subject = Self.spaced(value)
      case "Issuer": issuer = Self.spaced(value)
      case "Start date": start = Self.singleSpaced(value)
      case "Expire date": end = Self.singleSpaced(value)
      case "X509v3 Subject Alternative Name": names = Self.names(value)
      default: break
      }
    }
  }

  /// The certificate with its validity from a time on, in seconds since 1970.
  package func valid(from time: Int64) -> ServerCertificate {
    var certificate = self
    certificate.validity = end.flatMap(HTTPDate.seconds(ofCertificate:)).map { .seconds($0 - time) }
    return certificate
  }

  /// `DNS:localhost, IP Address:127.0.0.1` as names.
  private static func names(_ value: String) -> [String] {
    value.split(separator: ",").compactMap { entry in
      let entry = entry.drop { $0 == " " }
      for prefix in ["DNS:", "IP Address:"] where entry.hasPrefix(prefix) {
        return String(entry.dropFirst(prefix.count))
      }
      return nil
    }
  }

  /// `CN = a` and `CN=a` as `CN=a`: versions of OpenSSL differ.
  private static func spaced(_ name: String) -> String {
    name.split(separator: " ").joined(separator: " ").replacing(" = ", with: "=")
  }

  private static func singleSpaced(_ text: String) -> String {
    text.split(separator: " ").joined(separator: " ")
  }
}
