/// Words of a command line, of which options can be taken out.
struct OptionWords {
  /// The letters of those that have no value.
  private static let flags = "sSvkn"

  private(set) var words: [String]

  init(_ words: [String]) {
    self.words = words.flatMap(Self.apart)
  }

  /// A word, or two where an option stands behind flags of one letter: `-vu` is `-v` and `-u`.
  static func apart(_ word: String) -> [String] {
    let name = word.prefix { $0 != "=" }
    guard name.count > 2, let letter = name.last, !flags.contains(letter), isFlags(String(name)) else {
      return [word]
    }
    return [String(name.dropLast()), "-\(word[word.index(before: name.endIndex)...])"]
  }

  /// Takes out an option of these names, and gives its values in order.
  mutating func take(_ names: Set<String>) -> [String] {
    var values: [String] = []
    var rest: [String] = []
    var index = 0
    while index < words.count {
      let word = words[index]
      if names.contains(word), index + 1 < words.count {
        values.append(words[index + 1])
        index += 2
        continue
      }
      if let equals = word.firstIndex(of: "="), names.contains(String(word[..<equals])) {
        values.append(String(word[word.index(after: equals)...]))
      } else {
        rest.append(word)
      }
      index += 1
    }
    words = rest
    return values
  }

  /// Those of the names that are there.
  func names(_ names: Set<String>) -> Set<String> {
    names.intersection(words.map { String($0.prefix { $0 != "=" }) })
  }

  /// Takes out a flag, also where its letter stands with others in one word; gives how often it was there.
  mutating func takeFlag(_ name: String, short: Character? = nil) -> Int {
    var count = 0
    words = words.compactMap { word in
      if word == name {
        count += 1
        return nil
      }
      guard let short, Self.isFlags(word), word.contains(short) else { return word }
      let rest = word.filter { $0 != short }
      count += word.count - rest.count
      return rest == "-" ? nil : rest
    }
    return count
  }

  /// Whether it is flags of one letter in one word, such as `-sS`, of which the last may have a value: `-sd DATA`.
  static func isFlags(_ word: String) -> Bool {
    guard word.count > 1, word.first == "-", let last = word.last else { return false }
    return word.dropFirst().dropLast().allSatisfy(flags.contains) && "\(flags)AEHIdou".contains(last)
  }
}
