import CommandLine
import Interceptors
import Protobuf

/// The environment variables that replace credentials in commands that the program writes.
package enum SecretVariables {
  /// The options whose value is a header.
  package static let headerOptions: Set<OptionID> = [.header, .rpcHeader, .reflectHeader]
  /// The variables for the values of the other options with credentials.
  package static let names: [OptionID: String] = [
    .user: "RPCURL_USER", .bearer: "RPCURL_BEARER", .proxy: "RPCURL_PROXY", .proxyUser: "RPCURL_PROXY_USER",
    .pass: "RPCURL_PASS",
  ]

  /// The variable that replaces the value of an option; nil if the value is no credential.
  package static func name(for value: String, of option: OptionID) -> String? {
    let isHarmless =
      value.hasPrefix("@") || option == .proxy && !value.contains("@")
      || option == .pass && value.hasPrefix("env:")
    return isHarmless ? nil : names[option]
  }

  /// The name of a header `NAME: VALUE` whose value is a credential; nil for other headers, and for a file of headers.
  package static func secretHeader(_ line: String) -> String? {
    let name = String(line.prefixOfScalars { $0 != ":" })
    guard !line.begins(with: "@"), line.utf8.contains(UInt8(ascii: ":")),
      Redaction.isSecret(name.lowercased())
    else { return nil }
    return name
  }

  /// `text` as the name of a variable: in upper case, with `_` for other characters than letters and digits.
  package static func name(from text: String) -> String {
    let name = text.uppercased().unicodeScalars.map { scalar in
      switch scalar {
      case "A"..."Z", "0"..."9": "\(scalar)"
      default: "_"
      }
    }.joined()
    return name.utf8.first.map { $0 > UInt8(ascii: "9") } == true ? name : "_\(name)"
  }
}
