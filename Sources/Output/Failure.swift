import Interceptors

/// Why a command cannot go on, in words for the person who typed it.
package struct Failure: Error {
  /// `rpcurl: WHAT: WHY`, and what to do about it.
  package struct Words: Equatable {
    package var what: String
    package var why: String
    package var hint: String?
    /// Where in the input, if it is about that.
    package var place: InputPlace?

    package init(what: String, why: String, hint: String? = nil, place: InputPlace? = nil) {
      self.what = what
      self.why = why
      self.hint = hint
      self.place = place
    }

    /// The text for standard error. Parts of it may come from a server or a file, so nothing in it may
    /// steer a terminal.
    package var rendered: String {
      let first = what.isEmpty ? "rpcurl: \(why)" : "rpcurl: \(what): \(why)"
      var text = TerminalText.escape(first) + "\n"
      if let excerpt = place?.excerpt { text += excerpt.rendered }
      if let hint { text += "hint: \(TerminalText.escape(hint))\n" }
      return text
    }
  }

  /// The exit code.
  package let status: ExitStatus
  /// What to print; `nil` when all was said already.
  package let words: Words?

  package init(
    _ status: ExitStatus, _ what: String, _ why: String, hint: String? = nil, place: InputPlace? = nil
  ) {
    self.status = status
    words = Words(what: what, why: why, hint: hint, place: place)
  }

  package init(_ status: ExitStatus, _ words: Words) {
    self.status = status
    self.words = words
  }

  /// The command ends with this code, and has said why.
  package init(reported status: ExitStatus) {
    self.status = status
    words = nil
  }
}
