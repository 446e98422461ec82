/// A set of characters.
struct ScalarSet {
  /// A predefined class.
  enum Kind {
    case ranges([ClosedRange<UInt32>])
    /// A general category of Unicode such as `Lu`, or all that start with a letter; all characters if it is empty.
    case category(String)

    // The classes of RE2, in ASCII only.
    static let digit = Kind.ranges([48...57])
    static let word = Kind.ranges([48...57, 65...90, 95...95, 97...122])
    static let space = Kind.ranges([9...10, 12...13, 32...32])

    func contains(_ scalar: Unicode.Scalar) -> Bool {
      switch self {
      case .ranges(let ranges): ranges.contains { $0.contains(scalar.value) }
      case .category(let name): scalar.properties.generalCategory.abbreviation.hasPrefix(name)
      }
    }
  }

  var ranges: [ClosedRange<UInt32>] = []
  var kinds: [(kind: Kind, isNegated: Bool)] = []
  var isNegated = false
  var ignoresCase = false

  func contains(_ scalar: Unicode.Scalar) -> Bool {
    let scalars = ignoresCase ? scalar.foldings : [scalar]
    let isIn =
      ranges.contains { range in scalars.contains { range.contains($0.value) } }
      || kinds.contains { kind in scalars.contains(where: kind.kind.contains) != kind.isNegated }
    return isIn != isNegated
  }
}

extension Unicode.Scalar {
  /// The characters that differ from it by case only, and itself, as in RE2.
  fileprivate var foldings: [Unicode.Scalar] {
    // The letters of Turkish: their other case is one of another letter.
    guard value != 0x130, value != 0x131 else { return [self] }
    let key = Self.single(Self.single(self, \.uppercaseMapping), \.lowercaseMapping)
    let upper = Self.single(key, \.uppercaseMapping)
    return [self, key, upper] + Self.others(key).compactMap { Unicode.Scalar($0) }
  }

  private static func single(
    _ scalar: Unicode.Scalar, _ mapping: (Unicode.Scalar.Properties) -> String
  ) -> Unicode.Scalar {
    let text = mapping(scalar.properties).unicodeScalars
    return text.count == 1 ? text.first ?? scalar : scalar
  }

  /// Other characters whose lower case is this one, besides its upper case.
  private static func others(_ key: Unicode.Scalar) -> [UInt32] {
    switch key {
    case "k": [0x212a]
    case "s": [0x17f]
    case "å": [0x212b]
    case "ß": [0x1e9e]
    case "ǆ": [0x1c5]
    case "ǉ": [0x1c8]
    case "ǌ": [0x1cb]
    case "ǳ": [0x1f2]
    case "β": [0x3d0]
    case "ε": [0x3f5]
    case "θ": [0x3d1, 0x3f4]
    case "ι": [0x345, 0x1fbe]
    case "κ": [0x3f0]
    case "μ": [0xb5]
    case "π": [0x3d6]
    case "ρ": [0x3f1]
    case "σ": [0x3c2]
    case "φ": [0x3d5]
    case "ω": [0x2126]
    case "ṡ": [0x1e9b]
    case "в": [0x1c80]
    case "д": [0x1c81]
    case "о": [0x1c82]
    case "с": [0x1c83]
    case "т": [0x1c84, 0x1c85]
    case "ъ": [0x1c86]
    case "ѣ": [0x1c87]
    case "ꙋ": [0x1c88]
    default: []
    }
  }
}

extension Unicode.GeneralCategory {
  /// The name in Unicode's property files, such as `Lu`.
  fileprivate var abbreviation: String {
    switch self {
    case .uppercaseLetter: "Lu"
    case .lowercaseLetter: "Ll"
    case .titlecaseLetter: "Lt"
    case .modifierLetter: "Lm"
    case .otherLetter: "Lo"
    case .nonspacingMark: "Mn"
    case .spacingMark: "Mc"
    case .enclosingMark: "Me"
    case .decimalNumber: "Nd"
    case .letterNumber: "Nl"
    case .otherNumber: "No"
    case .connectorPunctuation: "Pc"
    case .dashPunctuation: "Pd"
    case .openPunctuation: "Ps"
    case .closePunctuation: "Pe"
    case .initialPunctuation: "Pi"
    case .finalPunctuation: "Pf"
    case .otherPunctuation: "Po"
    case .mathSymbol: "Sm"
    case .currencySymbol: "Sc"
    case .modifierSymbol: "Sk"
    case .otherSymbol: "So"
    case .spaceSeparator: "Zs"
    case .lineSeparator: "Zl"
    case .paragraphSeparator: "Zp"
    case .control: "Cc"
    case .format: "Cf"
    case .surrogate: "Cs"
    case .privateUse: "Co"
    // As in RE2, whose tables have assigned characters only.
    case .unassigned: ""
    @unknown default: ""
    }
  }
}
