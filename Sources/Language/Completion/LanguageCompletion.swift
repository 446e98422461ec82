import RPCurlBase
import RPCurlProtobuf

/// What can be written next in a path, a condition or a text with values, for prompts and shells. rpcurl-language(7).
package struct LanguageCompletion: Equatable {
  /// A text that can be written, and what it is. Text that continues ends with a blank, a full stop or another sign of
  /// `continuing`.
  package struct Candidate: Equatable {
    package let text: String
    package let note: String

    private static let continuing = " .[(,=:/$"

    /// Whether nothing has to follow.
    package var isWhole: Bool { text.last.map { !Self.continuing.contains($0) } ?? false }

    /// Makes a candidate.
    package init(_ text: String, _ note: String = "") {
      self.text = text
      self.note = note
    }
  }

  /// The end of the typed text that a candidate replaces.
  package let replaced: String
  package let candidates: [Candidate]

  /// Nothing is known.
  package static let none = LanguageCompletion("", [])

  /// The candidates that match the end of a typed text, each text once.
  package init(_ replaced: some StringProtocol, _ all: [Candidate]) {
    self.replaced = String(replaced)
    var seen: Set<String> = []
    candidates = NameMatch.indices(of: replaced, in: all.map(\.text)).map { all[$0] }
      .filter { seen.insert($0.text).inserted }
  }

  /// The same for text that is written in another way.
  package func written(_ form: (String) -> String) -> LanguageCompletion {
    LanguageCompletion(form(replaced), candidates.map { Candidate(form($0.text), $0.note) })
  }
}

/// A place where the language is written.
package enum LanguagePlace: Sendable {
  /// The path of a value.
  case path
  /// `PATH=VALUE`, where the path may append.
  case assignment
  /// `PATH:PATH`
  case copy
  /// `PATH:WORD`
  case transform([String])
  /// A condition on a call.
  case condition
  /// `NAME [TEST]`, a condition on one of several values: texts, or numbers.
  case named([String], isText: Bool)
  /// A value that may be elsewhere: `@FILE`, `env:NAME` or `cmd:COMMAND`.
  case elsewhere
  /// Text in which only `${…}` has a meaning.
  case text
}

/// What can be named.
package struct LanguageScope {
  /// A call whose values can be named.
  package struct Call {
    /// The type of its messages; nil if it is not known.
    package var type: MessageType?
    /// A message with keys of maps, such as the last one.
    package var message: Message?
    /// The names of its headers and trailers.
    package var headers: [String]
    package var trailers: [String]
    /// The full names of the types of its details.
    package var details: [String]
    /// The names of its properties.
    let words: [CallValue.Word]

    /// Makes a call.
    package init(
      type: MessageType?, message: Message? = nil, words: [CallValue.Word] = [], headers: [String] = [],
      trailers: [String] = [], details: [String] = []
    ) {
      self.type = type
      self.message = message
      self.words = words
      self.headers = headers
      self.trailers = trailers
      self.details = details
    }
  }

  /// The types of the messages that paths and conditions are about.
  package var types: [MessageType] = []
  /// The codes of a status.
  package var statuses: StatusNames
  /// The variables.
  package var variables: [String] = []
  /// The variables of the environment.
  package var environment: [String]
  /// The last call; nil before the first one.
  package var last: Call?
  /// The current request; nil if there is none.
  package var request: Call?
  /// The value of a variable, or of the row of a test; nil if there is none.
  package var value: (Reference) -> JSONValue? = { _ in nil }
  /// The functions that have a value here.
  package var functions = Function.allCases
  /// Whether `$name.path` is an expression too.
  package var hasShortForm = false
  /// Whether `${…}` is text here.
  package var isLiteral = false
  /// The message types that can be named.
  package var typeNames: () -> [String] = { [] }
  /// Completes the path of a golden file; nil where there are none.
  package var files: ((String) -> LanguageCompletion)?

  /// Makes a scope without variables and calls.
  package init(statuses: StatusNames, environment: [String]) {
    self.statuses = statuses
    self.environment = environment
  }
}

extension LanguageCompletion {
  /// The completions at the end of a text.
  ///
  /// - Parameters:
  ///   - typed: The text so far.
  ///   - place: Where it is written.
  ///   - scope: What can be named.
  package init(_ typed: String, at place: LanguagePlace, in scope: LanguageScope) {
    if !scope.isLiteral, let value = Self.expression(at: typed, scope) {
      self = value
      return
    }
    self =
      switch place {
      case .path: Self.path(typed[...], scope, end: "")
      case .assignment: Self.assignment(typed, scope)
      case .copy: Self.pair(typed, scope) { Self.path($0, scope, end: "") }
      case .transform(let words):
        Self.pair(typed, scope) { LanguageCompletion($0, words.map { Candidate($0) }) }
      case .condition: Self.condition(typed[...], scope)
      case .named(let names, let isText):
        Self.named(typed[...], names, isText ? Self.textTests : Self.tests(of: Int.comparisons), scope)
      case .elsewhere: Self.elsewhere(typed, scope)
      case .text: .none
      }
  }

  /// Completes `PATH=VALUE`.
  private static func assignment(_ typed: String, _ scope: LanguageScope) -> LanguageCompletion {
    guard let (path, value) = FieldPath.split(typed, at: "=") else {
      return Self.path(typed[...], scope, end: "=", isWritten: true)
    }
    let leaves = scope.types.compactMap { type in try? FieldPath(path).leaf(in: type) }
    return LanguageCompletion(value, leaves.flatMap(values))
  }

  /// Completes a path, a colon and what follows it.
  private static func pair(
    _ typed: String, _ scope: LanguageScope, _ second: (Substring) -> LanguageCompletion
  ) -> LanguageCompletion {
    guard let (_, rest) = FieldPath.split(typed, at: ":") else {
      return path(typed[...], scope, end: ":")
    }
    return second(rest[...])
  }

  private static func elsewhere(_ typed: String, _ scope: LanguageScope) -> LanguageCompletion {
    let prefix = WholeValue.Prefix.environment.rawValue
    if typed.hasPrefix(prefix) {
      return LanguageCompletion(typed.dropFirst(prefix.count), scope.environment.map { Candidate($0) })
    }
    return LanguageCompletion(typed, WholeValue.Prefix.allCases.map { Candidate($0.rawValue, $0.summary) })
  }
}

extension WholeValue.Prefix {
  /// What follows it.
  fileprivate var summary: String {
    switch self {
    case .file: "content of a file"
    case .environment: "variable of the environment"
    case .command: "output of a command"
    }
  }
}
