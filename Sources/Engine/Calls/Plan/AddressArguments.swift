import RPCurlProgram
import RPCurlProtocols
import RPCurlTransport

/// The options with other addresses than the URL's. libcurl reports an invalid one late and in its own words, or ignores it.
enum AddressArguments {
  /// Checks the value of `--connect-to`.
  static func connectTo(_ argument: Argument) throws(Failure) -> String {
    let text = argument.text ?? ""
    // Colons in the brackets of an IPv6 address do not count.
    var depth = 0
    var colons = 0
    for character in text {
      switch character {
      case "[": depth += 1
      case "]": depth -= 1
      case ":" where depth == 0: colons += 1
      default: break
      }
    }
    guard colons == 3, depth == 0 else {
      throw Failure(
        .usage, "\(argument.name) \(text)", "not of the form HOST:PORT:HOST:PORT",
        hint: "an IPv6 address is written in brackets"
      ).at(argument.origin)
    }
    return text
  }

  /// Checks the value of `--resolve`: `[+]HOST:PORT:ADDRESS[,ADDRESS…]`, or `-HOST:PORT`.
  static func resolve(_ argument: Argument) throws(Failure) -> String {
    let text = argument.text ?? ""
    var rest = text[...]
    let removes = rest.first == "-"
    if removes || rest.first == "+" { rest.removeFirst() }
    // Colons in the brackets of an IPv6 address do not count.
    if rest.first == "[" { rest = rest.drop { $0 != "]" } }
    let parts = rest.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
    let addresses = parts.count == 3 ? parts[2].split(separator: ",") : []
    guard parts.count > 1, UInt16(parts[1]) != nil, removes || !addresses.isEmpty else {
      throw Failure(
        .usage, "\(argument.name) \(text)", "not of the form HOST:PORT:ADDRESS",
        hint: "such as --resolve demo.example:443:127.0.0.1"
      ).at(argument.origin)
    }
    if let name = addresses.first(where: { !isAddress($0) }), !removes {
      throw Failure(
        .usage, "\(argument.name) \(text)", "\(name) is not an IP address",
        hint: "--connect-to HOST:PORT:HOST:PORT accepts a name"
      ).at(argument.origin)
    }
    return text
  }

  private static func isAddress(_ text: Substring) -> Bool {
    let isBracketed = text.first == "[" && text.last == "]"
    return IPAddress.bytes(isBracketed ? text.dropFirst().dropLast() : text) != nil
  }

  /// Checks the value of `--proxy`. The error does not contain it: it may have a password.
  static func proxy(_ argument: Argument) throws(Failure) -> String {
    let text = argument.text ?? ""
    let schemes = ["http", "https", "socks", "socks4", "socks4a", "socks5", "socks5h"]
    let mark = text.firstRange(of: "://")
    let rest = mark.map { text[$0.upperBound...] } ?? text[...]
    // A password may contain any character, so the host follows the last "@".
    let host = rest.lastIndex(of: "@").map { rest[rest.index(after: $0)...] } ?? rest
    let isKnown = mark.map { schemes.contains(text[..<$0.lowerBound].lowercased()) } ?? true
    guard text.isEmpty || isKnown && Origin.split(host.prefix { $0 != "/" }) != nil else {
      throw Failure(
        .usage, "--proxy", isKnown ? "not of the form [SCHEME://]HOST[:PORT]" : "unknown scheme of the URL",
        hint: "the schemes are \(schemes.joined(separator: ", "))"
      ).at(argument.origin)
    }
    return text
  }
}
