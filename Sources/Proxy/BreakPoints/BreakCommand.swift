import RPCurlBase
import RPCurlProgram

extension LineWords {
  /// Throws if arguments are left that a command does not have.
  func end(_ command: BreakCommand) throws(Failure) {
    guard rest.isEmpty else {
      throw Failure(.usage, command.name, "unexpected argument \(first)", hint: "usage: \(command.usage)")
    }
  }
}

/// A command of the prompt of `--interactive`.
enum BreakCommand: CaseIterable {
  case add, delete, calls, show, edit, set, proceed, fail, respond, help, quit

  /// The name and the arguments.
  var usage: String {
    switch self {
    case .add: "break \(BreakPoint.form)"
    case .delete: "delete NUMBER"
    case .calls: "calls"
    case .show: "show [N]"
    case .edit: "edit [N]"
    case .set: "set [N] PATH=VALUE"
    case .proceed: "continue [N|all]"
    case .fail: "fail [N] CODE [MESSAGE]"
    case .respond: "respond [N] JSON"
    case .help: "help [COMMAND]"
    case .quit: "quit"
    }
  }

  /// A summary on one line.
  var summary: String {
    switch self {
    case .add:
      "hold such values; calls that began without break points run on; without arguments, list the break points"
    case .delete: "remove a break point; what it holds stays held"
    case .calls: "list the calls that are held"
    case .show: "show what is held of a call, with its metadata"
    case .edit: "write the message in $VISUAL or $EDITOR, and send it on"
    case .set: "set a field of the message, as --set does"
    case .proceed: "send on what is held of a call"
    case .fail: "fail the call with this status"
    case .respond: "respond to the call with this message and status ok"
    case .help: "list the commands, or describe one"
    case .quit: "fail what is held, and end"
    }
  }

  var name: String { String(usage.prefix { $0 != " " }) }
  /// Whether the number of a call may follow.
  var hasCall: Bool { usage.contains("[N") }

  static func named(_ name: String) -> BreakCommand? { allCases.first { $0.name == name } }

  /// The text of `help`.
  static func help(_ name: String) throws(Failure) -> [String] {
    guard name.isEmpty else {
      guard let command = named(name) else {
        throw Failure(.usage, name, "no such command", hint: "help lists the commands")
      }
      return ["\(command.usage): \(command.summary)"]
    }
    return TextLayout.table(allCases.map { ($0.usage, $0.summary) }, columns: nil)
      + ["N is the number of a call; without it, the call that is held for the longest time is meant."]
  }
}
