import RPCurlBase
import RPCurlProtobuf

/// Why a command failed, and its exit code.
package struct Failure: Error {
  /// The message: `rpcurl: WHAT: WHY`, and a hint.
  package struct Message: Equatable {
    package var what: String
    package var why: String
    package var hint: String?
    /// The place in the input, if the input is invalid.
    package var place: InputPlace?

    package init(what: String, why: String, hint: String? = nil, place: InputPlace? = nil) {
      self.what = what
      self.why = why
      self.hint = hint
      self.place = place
    }

    /// The text for standard error. Parts of it may come from a server or a file, so terminal control characters are
    /// escaped.
    package var rendered: String {
      let first = what.isEmpty ? "rpcurl: \(why)" : "rpcurl: \(what): \(why)"
      var text = TerminalText.escape(first) + "\n"
      if let excerpt = place?.excerpt { text += excerpt.rendered }
      if let hint { text += "hint: \(TerminalText.escape(hint))\n" }
      return text
    }
  }

  /// What a failure says. In an object, so that functions that may fail return one word, and not all of it.
  private final class Content: Sendable {
    let status: ExitStatus
    let message: Message?
    let missingNames: [UnresolvedName]

    init(_ status: ExitStatus, _ message: Message?, _ missingNames: [UnresolvedName]) {
      self.status = status
      self.message = message
      self.missingNames = missingNames
    }
  }

  private let content: Content

  private init(_ status: ExitStatus, _ message: Message?, lacking names: [UnresolvedName]) {
    content = Content(status, message, names)
  }

  package init(
    _ status: ExitStatus, _ what: String, _ why: String, hint: String? = nil, place: InputPlace? = nil
  ) {
    self.init(status, Message(what: what, why: why, hint: hint, place: place))
  }

  package init(_ status: ExitStatus, _ message: Message) {
    self.init(status, message, lacking: [])
  }

  /// Creates a failure for an error that was already reported.
  package init(reported status: ExitStatus) {
    self.init(status, nil, lacking: [])
  }

  /// The exit code.
  package var status: ExitStatus { content.status }
  /// The message to print; nil if the error was already reported.
  package var message: Message? { content.message }
  /// The names that the schema lacks, if that is why data is invalid: a server may have them.
  package var missingNames: [UnresolvedName] { content.missingNames }

  /// The failure, because of a name that the schema lacks; nil for another reason.
  package func lacking(_ name: UnresolvedName?) -> Failure { lacking(name.map { [$0] } ?? []) }

  /// The failure, because of names that the schema lacks.
  package func lacking(_ names: [UnresolvedName]) -> Failure {
    Failure(status, message, lacking: names)
  }

  /// The failure with a place before what it names: the file and line of a script. A failure that was already reported
  /// gets a message that only names the place.
  package func prefixed(_ place: String) -> Failure {
    guard var message else { return Failure(status, place, "the command failed") }
    // This error already has a place: that of the command that opened the stream.
    if message.what.contains(", line ") { return self }
    message.what = message.what.isEmpty ? place : "\(place): \(message.what)"
    return Failure(status, message)
  }
}

extension Failure {
  /// Checks that each report has a file of its own. A device may have several.
  ///
  /// - Throws: `Failure` if two reports are written to one file.
  package static func check(reportFiles files: [String]) throws(Failure) {
    var seen: Set<String> = []
    for file in files where !file.begins(with: "/dev/") && !seen.insert(file).inserted {
      throw Failure(.usage, file, "two reports are written to this file", hint: "give each a file of its own")
    }
  }
}
