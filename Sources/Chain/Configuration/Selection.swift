import RPCurlLanguage

/// A list of what to select and what to exclude, such as `demo.v1.*/*+!demo.v1.Demo/Chat`.
///
/// It selects what one of the wanted elements matches, or everything without any, except what one of the unwanted
/// elements matches.
public struct Selection<Element: Sendable & Hashable>: Sendable, Hashable {
  /// What to select; everything if empty.
  public var wanted: [Element]
  /// What not to select.
  public var unwanted: [Element]

  /// Makes a selection; without elements it selects everything.
  public init(_ wanted: [Element] = [], except unwanted: [Element] = []) {
    self.wanted = wanted
    self.unwanted = unwanted
  }

  /// Parses a list: elements with `+`, a comma or a blank between them; `!` before an element excludes it.
  ///
  /// - Parameters:
  ///   - text: The list.
  ///   - rule: What its elements must be.
  ///   - element: Parses an element; returns nil if it is invalid.
  package init(
    parsing text: String, _ rule: String, _ element: (Substring) -> Element?
  ) throws(LanguageError) {
    self.init()
    let hint = "write + between several, and ! before one to exclude it"
    for word in text.split(whereSeparator: { "+, ".contains($0) }) {
      let isWanted = word.first != "!"
      guard let parsed = element(isWanted ? word : word.dropFirst()) else {
        throw LanguageError("\(word): \(rule)", hint: hint)
      }
      if isWanted { wanted.append(parsed) } else { unwanted.append(parsed) }
    }
    guard !selectsAll else { throw LanguageError(rule, hint: hint) }
  }

  /// Whether the selection has no elements, and so selects everything.
  package var selectsAll: Bool { wanted.isEmpty && unwanted.isEmpty }

  /// Whether the selection contains what elements are compared with.
  ///
  /// - Parameter matches: Whether an element matches it.
  package func contains(where matches: (Element) -> Bool) -> Bool {
    (wanted.isEmpty || wanted.contains(where: matches)) && !unwanted.contains(where: matches)
  }

  /// The list as text.
  ///
  /// - Parameter text: The text of an element.
  package func text(_ text: (Element) -> String) -> String {
    (wanted.map(text) + unwanted.map { "!" + text($0) }).joined(separator: "+")
  }
}
