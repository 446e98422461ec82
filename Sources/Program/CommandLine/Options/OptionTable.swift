/// The definitions of all options. Parser, help, manual, completions and configuration file are made of them.
package enum OptionTable {
  // A list of lists: joined, each start of the program would copy all definitions.
  private static let sections = [
    schema, reflection, server, request, data, chain, output, own, load, test, listening, common,
  ]

  /// All options, in the order of `OptionID` and of help.
  package static var all: [Option] { sections.flatMap(\.self) }

  /// The definition of an option.
  package static subscript(_ id: OptionID) -> Option {
    var index = Int(id.rawValue)
    for section in sections {
      if index < section.count { return section[index] }
      index -= section.count
    }
    return all[Int(id.rawValue)]
  }

  /// The options of a command, in the order of help.
  package static func options(of command: CommandID) -> [Option] {
    let set = CommandSet(command)
    return options { $0.commands.contains(set) }
  }

  /// The option of a command that has this name, with its dashes.
  package static func find(_ name: Substring, _ command: CommandID) -> Option? {
    let set = CommandSet(command)
    // By index, which copies no definition but the one that is found.
    for section in sections {
      for index in section.indices where section[index].commands.contains(set) && section[index].isNamed(name)
      {
        return section[index]
      }
    }
    return nil
  }

  /// The options of a command that grpcurl's option of this name, without dashes, stands for.
  static func find(grpcurl name: Substring, _ command: CommandID) -> [Option] {
    let set = CommandSet(command)
    return options { $0.commands.contains(set) && Option.has($0.grpcurlList, name) }
  }

  private static func options(where isIncluded: (borrowing Option) -> Bool) -> [Option] {
    var found: [Option] = []
    for section in sections {
      for index in section.indices where isIncluded(section[index]) { found.append(section[index]) }
    }
    return found
  }
}
