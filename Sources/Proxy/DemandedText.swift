import RPCurlBase
import RPCurlLanguage
import RPCurlValidate

/// Makes text and bytes that probably meet what rules demand of them.
struct DemandedText {
  /// The longest text that is made, in characters.
  private static let limit = 65_536

  private(set) var random: SeededGenerator
  private var characters: ClosedRange<UInt64> = 0...UInt64.max
  private var byteCounts: ClosedRange<UInt64> = 0...UInt64.max
  private var prefix: [UInt8] = []
  private var suffix: [UInt8] = []
  private var content: [UInt8] = []
  private var pattern: TextPattern?
  private var format: String?

  /// Whether nothing is demanded.
  private let isFree: Bool
  private static let formats = [
    "email", "hostname", "ip", "ipv6", "uri", "uuid", "ip_prefix", "ipv6_prefix", "host_and_port",
    "protobuf_fqn",
  ]

  init(_ demands: [Demand], _ random: SeededGenerator) {
    self.random = random
    isFree = demands.isEmpty
    for demand in demands {
      switch demand {
      case .length(let lengths, isCharacters: true): characters = characters.clamped(to: lengths)
      case .length(let lengths, isCharacters: false): byteCounts = byteCounts.clamped(to: lengths)
      case .prefix(let part): prefix = part
      case .suffix(let part): suffix = part
      case .contains(let part): content = part
      case .pattern(let pattern): self.pattern = pattern
      case .format(let format): self.format = format
      default: break
      }
    }
  }

  // MARK: Text

  /// A text.
  ///
  /// - Parameters:
  ///   - word: Text that it may contain.
  ///   - attempt: How many texts were made before: others are tried each time.
  mutating func text(around word: String, _ attempt: Int) -> String {
    if let format, attempt % 4 != 3 {
      let example = example(of: format)
      return attempt % 2 == 1 ? padded(example, format) : String(decoding: prefix, as: UTF8.self) + example
    }
    if let pattern, attempt % 8 != 7 {
      let more = [0, 2, 8, 32, 200][attempt / 2 % 5]
      if let example = pattern.example(repeating: more, using: &random) { return example }
    }
    if isFree {
      // Expressions of CEL ask for formats too.
      return ["", "a", example(of: Self.formats.randomElement(using: &random) ?? "")][min(attempt % 5, 2)]
    }
    let (before, inside, after) = (
      String(decoding: prefix, as: UTF8.self), String(decoding: content, as: UTF8.self),
      String(decoding: suffix, as: UTF8.self)
    )
    // What has no room is omitted; parts may overlap.
    let longest = Int(clamping: min(characters.upperBound, byteCounts.upperBound, UInt64(Self.limit)))
    let candidates = [
      before + word + inside + after, before + inside + after, before + after, before, inside, after,
    ]
    let fitting = candidates.filter { $0.unicodeScalars.count <= longest && $0.utf8.count <= longest }
    let base = attempt % 2 == 1 ? fitting.first : fitting.randomElement(using: &random)
    let made = base ?? String(word.prefix(longest))
    return lengthened(made, keeping: after)
  }

  /// The text with letters before its end, until it is long enough.
  private mutating func lengthened(_ text: String, keeping end: String) -> String {
    let missing = Int(clamping: min(characters.lowerBound, UInt64(Self.limit))) - text.unicodeScalars.count
    var letters = String(
      decoding: (0..<max(missing, 0)).map { _ in UInt8.random(in: 0x61...0x7a, using: &random) },
      as: UTF8.self)
    // Characters of several bytes, if there must be more bytes than characters.
    var missingBytes =
      Int(clamping: min(byteCounts.lowerBound, UInt64(Self.limit))) - text.utf8.count - letters.utf8.count
    if missingBytes > 0, characters.upperBound != .max {
      let room = Int(clamping: characters.upperBound) - text.unicodeScalars.count
      while letters.unicodeScalars.count < room, missingBytes > 0 {
        letters += "a"
        missingBytes -= 1
      }
      var longer = ""
      for letter in letters {
        let added = [0, 1, 2, 3][min(missingBytes, 3)]
        longer += ["\(letter)", "é", "€", "😀"][added]
        missingBytes -= added
      }
      letters = longer
    } else if missingBytes > 0 {
      letters += String(repeating: "a", count: missingBytes)
    }
    guard text.hasSuffix(end) else { return text + letters }
    return text.dropLast(end.count) + letters + end
  }

  /// The example of a format with more characters at a place where they are possible.
  private func padded(_ example: String, _ format: String) -> String {
    let missing =
      Int(clamping: min(max(characters.lowerBound, byteCounts.lowerBound), UInt64(Self.limit)))
      - example.utf8.count
    guard missing > 0 else { return example }
    let letters = String(repeating: "a", count: missing)
    return ["uri", "uri_ref"].contains(format) || format.hasPrefix("well_known")
      ? example + letters : letters + example
  }

  /// A text of a format, which are those of the rules of strings.
  private mutating func example(of format: String) -> String {
    let number = Int.random(in: 1...250, using: &random)
    let short = Int(clamping: min(characters.upperBound, byteCounts.upperBound)) < 20
    switch format {
    case "email": return short ? "a@b.c" : "user\(number)@example.com"
    case "hostname", "address": return short ? "a.b" : "host\(number).example.com"
    case "ip", "ipv4": return "192.0.2.\(number)"
    case "ipv6": return "2001:db8::\(number)"
    case "uri": return short ? "a:b" : "https://example.com/\(number)"
    case "uri_ref": return "/\(number)"
    case "uuid", "tuuid":
      let text = Self.uuid(&random)
      return format == "uuid" ? text : text.filter { $0 != "-" }
    case "ulid":
      let digits = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")
      return "01" + String((0..<24).compactMap { _ in digits.randomElement(using: &random) })
    case "ip_with_prefixlen", "ipv4_with_prefixlen": return "192.0.2.\(number)/24"
    case "ipv6_with_prefixlen": return "2001:db8::\(number)/64"
    case "ip_prefix", "ipv4_prefix": return "192.0.\(number).0/24"
    case "ipv6_prefix": return "2001:db8:\(number)::/64"
    case "host_and_port": return "host\(number).example.com:8080"
    case "protobuf_fqn": return "example.v1.Type\(number)"
    case "protobuf_dot_fqn": return ".example.v1.Type\(number)"
    default: return "x-value\(number)"
    }
  }

  /// A random UUID.
  static func uuid(_ random: inout SeededGenerator) -> String {
    let digits = String(random.next() | 1 << 63, radix: 16) + String(random.next() | 1 << 63, radix: 16)
    let parts = [(0, 8), (8, 4), (12, 3), (16, 3), (20, 12)].map {
      String(digits.dropFirst($0.0).prefix($0.1))
    }
    return "\(parts[0])-\(parts[1])-4\(parts[2])-a\(parts[3])-\(parts[4])"
  }

  // MARK: Bytes

  /// Bytes.
  mutating func bytes(_ attempt: Int) -> [UInt8] {
    if let format {
      let count = format == "ipv4" || format == "ip" && attempt % 2 == 1 ? 4 : 16
      return random(count)
    }
    if let pattern, let example = pattern.example(repeating: [0, 2, 8, 32][attempt / 2 % 4], using: &random) {
      return Array(example.utf8)
    }
    let longest = min(byteCounts.upperBound, UInt64(Self.limit))
    let candidates = [prefix + content + suffix, prefix + suffix, prefix, content, suffix]
      .filter { $0.count <= longest }
    let base = (attempt % 2 == 1 ? candidates.first : candidates.randomElement(using: &random)) ?? []
    let least = min(byteCounts.lowerBound, UInt64(Self.limit))
    let missing = max(Int(least) - base.count, 0)
    let more = random(byteCounts.upperBound == .max ? missing + 4 : missing)
    guard base.suffix(suffix.count).elementsEqual(suffix) else { return base + more }
    return Array(base.dropLast(suffix.count)) + more + suffix
  }

  private mutating func random(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
  }
}
