/// The completions at the cursor.
package struct Completion: Equatable {
  /// A possible completion.
  package struct Candidate: Equatable {
    /// The text shown in a list.
    package let label: String
    /// The text that replaces what was typed.
    package let text: String
    /// A short description; may be empty.
    package var note = ""

    package init(label: String, text: String, note: String = "") {
      self.label = label
      self.text = text
      self.note = note
    }
  }

  /// The part of the text before the cursor that a candidate replaces.
  package var replaced = ""
  package var candidates: [Candidate] = []

  package init(replaced: String = "", candidates: [Candidate] = []) {
    self.replaced = replaced
    self.candidates = candidates
  }

  /// The text to insert instead of `replaced`: the only candidate, or the longest common prefix of all; `replaced` if
  /// that is no longer.
  package var inserted: String {
    guard let first = candidates.first else { return replaced }
    guard candidates.count > 1 else { return first.text }
    var common = first.text.unicodeScalars[...]
    for candidate in candidates.dropFirst() {
      let count = zip(common, candidate.text.unicodeScalars).prefix { $0 == $1 }.count
      common = common.prefix(count)
    }
    // An opening quotation mark alone does not help the user. What is typed in another case is corrected.
    let text = String(common)
    let isMore =
      (common.count > replaced.unicodeScalars.count
        || text != replaced && text.lowercased() == replaced.lowercased())
      && !(replaced.isEmpty && common.elementsEqual("\"".unicodeScalars))
    return isMore ? text : replaced
  }
}
