import RPCurlBase
import RPCurlPlatform
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
    /// The line of a source, if `what` is a place in it.
    package var excerpt: InputExcerpt?
    /// Further errors of the same cause, as those of a source.
    package var others: [Message] = []
    /// Whether `what` begins with a file and a line.
    package var isPlaced = false

    package init(what: String, why: String, hint: String? = nil, place: InputPlace? = nil) {
      self.what = what
      self.why = why
      self.hint = hint
      self.place = place
    }

    /// Puts a place before what it names.
    mutating func prefix(_ place: String, isLine: Bool = true) {
      what = what.isEmpty ? place : "\(place): \(what)"
      isPlaced = isPlaced || isLine
    }

    /// The text for standard error. Parts of it may come from a server or a file, so terminal control characters are
    /// escaped.
    ///
    /// - Parameter colors: The colours of the text.
    package func rendered(_ colors: TextColors = TextColors(areOn: false)) -> String {
      var text = "\(colors.paint(.boldRed, "rpcurl:")) "
      if !what.isEmpty { text += "\(colors.paint(.bold, "\(TerminalText.escape(what)):")) " }
      text += "\(TerminalText.escape(why))\n"
      if let excerpt = excerpt ?? place?.excerpt { text += excerpt.rendered(colors) }
      if let hint { text += "\(colors.paint(.faint, "hint: \(TerminalText.escape(hint))"))\n" }
      return others.reduce(text) { $0 + $1.rendered(colors) }
    }
  }

  /// A reason for which a caller does more than to report the failure.
  package enum Cause: Equatable, Sendable {
    /// Data contains names that the schema lacks: a server may have them.
    case missingNames([UnresolvedName])
    /// The command line contains a name that the schema lacks.
    case unknownName
    /// The schema is that of the server, which must not be asked.
    case notAsked
    /// The stream ended before the awaited response.
    case streamEnded
  }

  /// What a failure says. In an object, so that functions that may fail return one word, and not all of it.
  private final class Content: Sendable {
    let status: ExitStatus
    let message: Message?
    let cause: Cause?

    init(_ status: ExitStatus, _ message: Message?, _ cause: Cause?) {
      self.status = status
      self.message = message
      self.cause = cause
    }
  }

  private let content: Content

  private init(_ status: ExitStatus, _ message: Message?, _ cause: Cause?) {
    content = Content(status, message, cause)
  }

  package init(
    _ status: ExitStatus, _ what: String, _ why: String, hint: String? = nil, place: InputPlace? = nil
  ) {
    self.init(status, Message(what: what, why: why, hint: hint, place: place))
  }

  /// Creates the failure of a file or a process, which the error may name.
  package init(_ status: ExitStatus, _ what: String, _ error: SystemError) {
    self.init(status, error.path ?? what, error.reason, hint: error.hint)
  }

  package init(_ status: ExitStatus, _ message: Message) {
    self.init(status, message, nil)
  }

  /// Creates a failure for an error that was already reported.
  package init(reported status: ExitStatus) {
    self.init(status, nil, nil)
  }

  /// The exit code.
  package var status: ExitStatus { content.status }
  /// The message to print; nil if the error was already reported.
  package var message: Message? { content.message }
  /// The reason, if it matters to callers.
  package var cause: Cause? { content.cause }
  /// The names that the schema lacks, if that is why data is invalid.
  package var missingNames: [UnresolvedName] {
    if case .missingNames(let names)? = cause { names } else { [] }
  }

  /// The failure with a reason.
  package func with(_ cause: Cause?) -> Failure { Failure(status, message, cause) }

  /// The failure, because of a name that the schema lacks; nil for another reason.
  package func lacking(_ name: UnresolvedName?) -> Failure { with(name.map { .missingNames([$0]) }) }

  /// The failure with another message; the same if it was already reported.
  package func changed(_ change: (inout Message) -> Void) -> Failure {
    guard var message else { return self }
    change(&message)
    return Failure(status, message, cause)
  }

  /// The failure with a place before what it names: the file and line of a script. A failure that was already reported
  /// gets a message that only names the place.
  package func prefixed(_ place: String) -> Failure {
    guard let message else { return Failure(status, "", "the command failed").prefixed(place) }
    // An inner script, or the command that opened the stream.
    return message.isPlaced ? self : changed { $0.prefix(place) }
  }
}

extension Failure: CustomStringConvertible {
  /// The message on one line, as that of the error of a call.
  package var description: String {
    guard let message else { return "the command failed" }
    return message.what.isEmpty ? message.why : "\(message.what): \(message.why)"
  }
}

extension Failure {
  /// Checks that each report has a file of its own, which can be written. A device may have several.
  ///
  /// - Throws: `Failure` if two reports are written to one file, or if a file cannot be written.
  package static func check(reportFiles files: [String]) throws(Failure) {
    var seen: Set<String> = []
    for file in files {
      guard file.begins(with: "/dev/") || seen.insert(FileContents.identity(of: file)).inserted else {
        throw Failure(
          .usage, file, "two reports are written to this file", hint: "give each a file of its own")
      }
      if let problem = FileContents.problemOfReplacing(file) { throw Failure(.internalError, file, problem) }
    }
  }
}
