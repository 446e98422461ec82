import CommandLine
import Protobuf

/// What is being typed in a session, by its grammar: a command with its arguments, or a message.
package struct CursorPlace {
  /// What the cursor is in.
  package enum Place {
    /// The first word.
    case command(String)
    /// An argument of a command.
    case argument(SessionVerb.Argument, String, of: SessionVerb)
    /// A message, with the text that was typed of it; the type is nil when nothing is known of it.
    case message(MessageType?, String)
    /// Nothing that has a meaning here.
    case nothing
  }

  package let place: Place
  /// The command, when its name is complete.
  package let verb: SessionVerb?

  /// - Parameter head: What stands before the cursor.
  package init(_ head: String, _ knowledge: any SessionKnowledge) {
    let begun = knowledge.begun
    let text = begun.isEmpty ? head : "\(begun)\n\(head)"
    let line = text.drop(while: \.isWhitespace)
    guard !SessionStatementReader.beginsValue(line) else {
      verb = nil
      place = .message(knowledge.currentRequestType, String(line))
      return
    }
    let command = line.drop { $0 == ":" }
    guard let end = command.firstIndex(of: " ") else {
      let name = String(command)
      verb = knowledge.commands.first { $0.name == name }
      place = .command(name)
      return
    }
    let name = command[..<end]
    verb = knowledge.commands.first { $0.name == name }
    place = verb.map { Self.place(command[end...], of: $0, knowledge) } ?? .nothing
  }

  /// Gives the words to the arguments, one after the other.
  private static func place(
    _ text: Substring, of verb: SessionVerb, _ knowledge: any SessionKnowledge
  ) -> Place {
    var rest = text.drop { $0 == " " }
    var arguments = verb.arguments[...]
    var method: String?
    while let argument = arguments.first {
      let beginsMessage = rest.hasPrefix("{") && arguments.contains(.json)
      if argument == .json || beginsMessage {
        if rest.hasPrefix("@") { return .argument(.file, String(rest.dropFirst()), of: verb) }
        return .message(method.flatMap(knowledge.requestType), String(rest))
      }
      let end =
        argument == .method ? rest.firstIndex { $0 == " " || $0 == "{" } : SessionWords.end(of: rest)
      guard let end else { return .argument(argument, String(rest), of: verb) }
      let word = String(rest[..<end])
      rest = rest[end...].drop { $0 == " " }
      // Options come before arguments, and are none.
      if word.hasPrefix("-") { continue }
      if argument == .method { method = word }
      if arguments.count > 1 { arguments = arguments.dropFirst() }
    }
    return .nothing
  }
}
