import RPCurlProgram
import RPCurlProtobuf

/// The part of a session's line that contains the cursor, by the grammar of statements.
package struct CursorPlace {
  /// The element at the cursor.
  package enum Place {
    /// The name of a command.
    case command(String)
    /// An argument of a command, as typed so far.
    case argument(SessionVerb.Argument, String, of: SessionVerb)
    /// The path of `--filter`, as typed so far, in responses of a type, which is nil if unknown.
    case filter(MessageType?, String)
    /// The name of an option of a call, as typed so far.
    case callOption(String)
    /// A message, as typed so far; the type is nil if unknown.
    case message(MessageType?, String)
    /// No known element.
    case nothing
  }

  package let place: Place
  /// The command; nil until its name is complete.
  package let verb: SessionVerb?

  /// Finds the place of the cursor.
  ///
  /// - Parameters:
  ///   - head: The text before the cursor.
  ///   - knowledge: The data of the session.
  package init(_ head: String, _ knowledge: any SessionKnowledge) {
    let line = head.drop(while: \.isWhitespace)
    if line.hasPrefix("@"), let open = SessionVerb.all.first(where: { $0.subject == .newStream }) {
      verb = nil
      place = .argument(.file, String(line.dropFirst()), of: open)
      return
    }
    guard !SessionStatementReader.beginsValue(line) else {
      verb = nil
      place = .message(knowledge.currentRequestType, String(line))
      return
    }
    let call = SessionStatementReader.asCall(line)
    let command = (call.map { $0[...] } ?? line).drop { $0 == ":" }
    let name = command.prefix { $0 != " " }
    verb = SessionVerb.named(name)
    guard name.endIndex < command.endIndex else {
      place = .command(String(name))
      return
    }
    place = verb.map { Self.place(command[name.endIndex...], of: $0, knowledge) } ?? .nothing
  }

  /// The name of the file after the values of a call, `{…} > FILE`; nil if absent.
  private static func output(_ text: Substring) -> String? {
    guard let mark = text.lastIndex(of: ">") else { return nil }
    var reader = SessionStatementReader()
    // Only after complete values is it not a part of one.
    guard (try? reader.add("call M \(text[..<mark])")) != nil, !reader.isWithin else { return nil }
    return String(text[text.index(after: mark)...].drop { $0 == " " })
  }

  /// The options after the values of a call, as typed so far; nil if there are none.
  private static func options(_ text: Substring) -> Substring? {
    guard
      let dashes = text.indices.last(where: { text[$0] == " " && text[$0...].hasPrefix(" --") }).map(
        text.index(after:))
    else { return nil }
    var reader = SessionStatementReader()
    guard (try? reader.add("call M \(text[..<dashes])")) != nil, !reader.isWithin else { return nil }
    return text[dashes...]
  }

  /// Matches the words of `text` with the arguments of a command.
  private static func place(
    _ text: Substring, of verb: SessionVerb, _ knowledge: any SessionKnowledge
  ) -> Place {
    var rest = text.drop { $0 == " " }
    var arguments = verb.arguments[...]
    var method: String?
    while let argument = arguments.first {
      if [.condition, .specification, .option].contains(argument) {
        return .argument(argument, String(rest), of: verb)
      }
      let beginsMessage = rest.hasPrefix("{") && arguments.contains(.json)
      if argument == .json || beginsMessage {
        if let typed = options(rest) {
          guard let space = typed.firstIndex(of: " ") else { return .callOption(String(typed)) }
          let path = typed[space...].drop { $0 == " " }
          guard typed[..<space] == "--filter", !path.contains(" ") else { return .nothing }
          return .filter(method.flatMap(knowledge.responseType), String(path))
        }
        if let file = output(rest) { return .argument(.file, file, of: verb) }
        if rest.hasPrefix("@") { return .argument(.file, String(rest.dropFirst()), of: verb) }
        return .message(method.flatMap(knowledge.requestType), String(rest))
      }
      let end =
        argument == .method ? rest.firstIndex { $0 == " " || $0 == "{" } : SessionWords.end(of: rest)
      guard let end else { return .argument(argument, String(rest), of: verb) }
      let word = String(rest[..<end])
      rest = rest[end...].drop { $0 == " " }
      // Options precede the arguments.
      if word.hasPrefix("-") { continue }
      if argument == .method { method = word }
      if arguments.count > 1 { arguments = arguments.dropFirst() }
    }
    return .nothing
  }
}
