/// What may stand where the cursor is.
package struct Completion: Equatable {
  /// One of several.
  package struct Candidate: Equatable {
    /// What it is called in a list.
    package let label: String
    /// What takes the place of what was typed.
    package let text: String
    /// What is to be known of it.
    package var note = ""

    package init(label: String, text: String, note: String = "") {
      self.label = label
      self.text = text
      self.note = note
    }
  }

  /// What was typed of it, before the cursor.
  package var replaced = ""
  package var candidates: [Candidate] = []

  package init(replaced: String = "", candidates: [Candidate] = []) {
    self.replaced = replaced
    self.candidates = candidates
  }

  /// What takes the place of what was typed: the candidate if it is the only one, or what all have in common; what was
  /// typed when that is no more.
  package var inserted: String {
    guard let first = candidates.first else { return replaced }
    guard candidates.count > 1 else { return first.text }
    var common = first.text.unicodeScalars[...]
    for candidate in candidates.dropFirst() {
      let count = zip(common, candidate.text.unicodeScalars).prefix { $0 == $1 }.count
      common = common.prefix(count)
    }
    // A quotation mark alone is no step forward.
    let isMore =
      common.count > replaced.unicodeScalars.count
      && !(replaced.isEmpty && common.elementsEqual("\"".unicodeScalars))
    return isMore ? String(common) : replaced
  }
}
