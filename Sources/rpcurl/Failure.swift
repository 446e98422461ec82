/// Why a command cannot go on, in words for the person who typed it.
struct Failure: Error {
  /// `rpcurl: WHAT: WHY`, and what to do about it.
  struct Words: Equatable {
    var what: String
    var why: String
    var hint: String?
    /// Where in the input, if it is about that.
    var place: InputPlace?

    /// The text for standard error. Parts of it may come from a server or a file, so nothing in it may
    /// steer a terminal.
    var rendered: String {
      let first = what.isEmpty ? "rpcurl: \(why)" : "rpcurl: \(what): \(why)"
      var text = TerminalText.escape(first) + "\n"
      if let excerpt = place?.excerpt { text += excerpt.rendered }
      if let hint { text += "hint: \(TerminalText.escape(hint))\n" }
      return text
    }
  }

  /// The exit code.
  let status: ExitStatus
  /// What to print; `nil` when all was said already.
  let words: Words?

  init(_ status: ExitStatus, _ what: String, _ why: String, hint: String? = nil, place: InputPlace? = nil) {
    self.status = status
    words = Words(what: what, why: why, hint: hint, place: place)
  }

  init(_ status: ExitStatus, _ words: Words) {
    self.status = status
    self.words = words
  }

  /// The command ends with this code, and has said why.
  init(reported status: ExitStatus) {
    self.status = status
    words = nil
  }
}
