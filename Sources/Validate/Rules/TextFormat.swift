import RPCurlCEL
import RPCurlProtobuf

/// A well-known format of strings, such as `email`.
struct TextFormat: Sendable {
  /// The identifier of the rule, without `string.`.
  let id: String
  /// The format in messages.
  let name: String
  /// The format in the message for an empty string.
  let nameIfEmpty: String
  /// Whether an empty string breaks a rule of its own.
  let isEmptyInvalid: Bool
  /// The number of the field of `buf.validate.StringRules`; 0 for bytes.
  private let number: UInt32
  /// Whether a header is strict.
  private var isStrict = true
  /// The lengths that bytes may have.
  private var lengths: [Int] = []

  /// The numbers of the fields of `buf.validate.StringRules`, the identifiers, and the formats in messages; the last ones are those
  /// of `OlderRules`.
  private static let table = """
    12 email email address
    13 hostname hostname
    14 ip IP address
    15 ipv4 IPv4 address
    16 ipv6 IPv6 address
    17 uri URI
    18 uri_ref URI Reference
    21 address hostname, or ip address
    22 uuid UUID
    26 ip_with_prefixlen IP prefix
    27 ipv4_with_prefixlen IPv4 address with prefix length
    28 ipv6_with_prefixlen IPv6 address with prefix length
    29 ip_prefix IP prefix
    30 ipv4_prefix IPv4 prefix
    31 ipv6_prefix IPv6 prefix
    32 host_and_port host (hostname or IP address) and port pair
    33 tuuid trimmed UUID
    35 ulid ULID
    37 protobuf_fqn fully-qualified Protobuf name
    38 protobuf_dot_fqn fully-qualified Protobuf name with a leading dot
    212 email email address
    213 hostname hostname
    221 address hostname, or ip address
    """

  /// The format that rules of strings require; nil if they require none, or one that is not known.
  static func required(by options: WireFields) -> TextFormat? {
    let lines = table.split(separator: "\n").map { $0.split(separator: " ", maxSplits: 2).map(String.init) }
    // The formats are a oneof: the last one in the bytes counts.
    for field in options.records.reversed() {
      if field.number == 24 { return header(options) }
      guard let line = lines.first(where: { UInt32($0[0]) == field.number }) else { continue }
      guard options.flag(field.number) else { return nil }
      return TextFormat(
        id: line[1], name: line[2], nameIfEmpty: field.number == 32 ? "host and port pair" : line[2],
        isEmptyInvalid: field.number != 18, number: field.number)
    }
    return nil
  }

  /// The format that rules of bytes require; nil if they require none.
  static func ofBytes(_ options: WireFields) -> TextFormat? {
    guard let number = options.records.last(where: { [10, 11, 12, 15].contains($0.number) })?.number,
      options.flag(number)
    else { return nil }
    let id = number == 10 ? "ip" : number == 11 ? "ipv4" : number == 12 ? "ipv6" : "uuid"
    let name =
      number == 10 ? "IP address" : number == 11 ? "IPv4 address" : number == 12 ? "IPv6 address" : "UUID"
    return TextFormat(
      id: id, name: name, nameIfEmpty: name, isEmptyInvalid: true, number: 0,
      lengths: number == 10 ? [4, 16] : number == 11 ? [4] : [16])
  }

  /// A header's name (1) or value (2).
  private static func header(_ options: WireFields) -> TextFormat? {
    guard let kind = options.bits(24), kind == 1 || kind == 2 else { return nil }
    let part = kind == 1 ? "name" : "value"
    return TextFormat(
      id: "well_known_regex.header_\(part)", name: "HTTP header \(part)", nameIfEmpty: "HTTP header \(part)",
      isEmptyInvalid: kind == 1, number: kind == 1 ? 24 : 25, isStrict: options.bits(25) != 0)
  }

  /// Whether a value has the format.
  func holds(_ text: InternetFormat.Bytes) -> Bool {
    switch number {
    case 0: lengths.contains(text.count)
    case 12: InternetFormat.isEmail(text)
    case 13: InternetFormat.isHostname(text)
    case 14: InternetFormat.isAddress(text, version: nil)
    case 15: InternetFormat.isAddress(text, version: 4)
    case 16: InternetFormat.isAddress(text, version: 6)
    case 17: URIFormat.isURI(text)
    case 18: URIFormat.isReference(text)
    case 21: InternetFormat.isHostname(text) || InternetFormat.isAddress(text, version: nil)
    case 22: Self.isUUID(text)
    case 24, 25: isHeader(text)
    case 26...31:
      InternetFormat.isPrefix(text, version: [nil, 4, 6][Int(number - 26) % 3], isStrict: number >= 29)
    case 32: InternetFormat.isHostAndPort(text, requiresPort: true)
    case 33: text.count == 32 && text.allSatisfy(\.isHexDigit)
    case 35:
      text.count == 26 && text.first.map { (0x30...0x37).contains($0) } == true
        && text.allSatisfy { $0.isLetterOrDigit && !"ILOUilou".utf8.contains($0) }
    case 37: Self.isName(text)
    case 212: InternetFormat.isMailbox(text)
    case 213: InternetFormat.isHostname(text, allowsNumbers: true)
    case 221:
      InternetFormat.isHostname(text, allowsNumbers: true) || InternetFormat.isAddress(text, version: nil)
    default: text.first == UInt8(ascii: ".") && Self.isName(text.dropFirst())
    }
  }

  private func isHeader(_ text: InternetFormat.Bytes) -> Bool {
    guard number == 24, isStrict else {
      return (number == 25 || !text.isEmpty)
        && text.allSatisfy {
          isStrict ? $0 == 9 || $0 >= 0x20 && $0 != 0x7f : $0 != 0 && $0 != 10 && $0 != 13
        }
    }
    let name = text.first == UInt8(ascii: ":") ? text.dropFirst() : text
    // The expression of the standard contains the range from + to period.
    return !name.isEmpty
      && name.allSatisfy {
        $0.isLetterOrDigit || (0x2b...0x2e).contains($0) || "!#$%&'*^_|~`".utf8.contains($0)
      }
  }

  private static func isUUID(_ text: InternetFormat.Bytes) -> Bool {
    let parts = text.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    return parts.map(\.count) == [8, 4, 4, 4, 12] && parts.allSatisfy { $0.allSatisfy(\.isHexDigit) }
  }

  /// Whether a text is identifiers with dots between them.
  private static func isName(_ text: InternetFormat.Bytes) -> Bool {
    text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy { part in
      part.first.map { $0.isLetter || $0 == UInt8(ascii: "_") } == true
        && part.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "_") }
    }
  }
}
