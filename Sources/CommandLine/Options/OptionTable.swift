/// The definitions of all options. Parser, help, manual, completions and configuration file are made of them.
package enum OptionTable {
  /// All options, in the order of `OptionID` and of help.
  package static let all: [Option] =
    schema + reflection + server + request + data + chain + output + own + load + test + common

  /// The definition of an option.
  package static subscript(_ id: OptionID) -> Option { all[Int(id.rawValue)] }

  /// The options of a command, in the order of help.
  package static func options(of command: CommandID) -> [Option] {
    all.filter { $0.commands.contains(CommandSet(command)) }
  }

  /// The option of a command that has this name, with its dashes.
  static func find(_ name: Substring, _ command: CommandID) -> Option? {
    let set = CommandSet(command)
    // By index, which copies no definition but the one that is found.
    for index in all.indices where all[index].commands.contains(set) && all[index].isNamed(name) {
      return all[index]
    }
    return nil
  }

  /// The options of a command that grpcurl's option of this name, without dashes, stands for.
  static func find(grpcurl name: Substring, _ command: CommandID) -> [Option] {
    let set = CommandSet(command)
    return all.indices.lazy
      .filter { all[$0].commands.contains(set) && Option.has(all[$0].grpcurlList, name) }
      .map { all[$0] }
  }
}
