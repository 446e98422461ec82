/// Words of a command line, of which options can be taken out.
struct OptionWords {
  private(set) var words: [String]

  init(_ words: [String]) {
    self.words = words
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
    return word.dropFirst().dropLast().allSatisfy("sSvkn".contains) && "sSvknAEHIdou".contains(last)
  }
}
