/// The table of commands and options as JSON, for `scripts/generate-docs` and the tests of documents.
package enum TableDump {
  /// All of it.
  package static var json: String {
    let commands = CommandID.allCases.map(command).joined(separator: ",\n")
    return object([
      ("summary", quoted(CommandTable.summary)), ("usage", quoted(CommandTable.usage)),
      ("plugins", quoted(CommandTable.plugins.summary)), ("names", list(CommandTable.names)),
      ("commands", "[\n\(commands)\n]"),
      ("foreign", "[\n\(ForeignOptions.all.map(foreign).joined(separator: ",\n"))\n]"),
    ]) + "\n"
  }

  private static func foreign(_ entry: ForeignOptions.Entry) -> String {
    object([
      ("tool", quoted(entry.tool.rawValue)),
      ("names", list(entry.names.split(separator: " ").map(String.init))), ("hint", quoted(entry.hint)),
    ])
  }

  private static func command(_ id: CommandID) -> String {
    let command = CommandTable[id]
    return object([
      ("name", quoted(command.name)), ("summary", quoted(command.summary)), ("usage", quoted(command.usage)),
      ("discussion", quoted(command.discussion)), ("examples", quoted(command.examples)),
      ("options", "[\(OptionTable.options(of: id).map(option).joined(separator: ",\n"))]"),
      ("places", "[\(command.places.map(place).joined(separator: ","))]"),
    ])
  }

  private static func option(_ option: Option) -> String {
    object([
      ("names", list(option.names)), ("aliases", list(option.aliases)),
      ("grpcurl", list(option.grpcurlList.split(separator: " ").map(String.init))),
      ("value", quoted(option.placeholder)), ("values", list(option.values)),
      ("has_value", option.hasValue ? "true" : "false"), ("repeats", option.mayRepeat ? "true" : "false"),
      ("group", quoted(option.group.title)), ("summary", quoted(option.summary)),
      ("discussion", quoted(option.discussion)), ("example", quoted(option.example)),
      ("default", quoted(option.standard)), ("completion", quoted(option.completion)),
      ("configurable", option.isConfigurable ? "true" : "false"), ("trust", quoted(option.trust.rawValue)),
    ])
  }

  private static func place(_ place: Command.Place) -> String {
    object([
      ("name", quoted(place.name)), ("summary", quoted(place.summary)),
      ("completion", quoted(place.completion)),
      ("repeats", place.repeats ? "true" : "false"),
    ])
  }

  private static func object(_ members: [(String, String)]) -> String {
    "{" + members.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}"
  }

  private static func list(_ texts: [String]) -> String {
    "[" + texts.map(quoted).joined(separator: ",") + "]"
  }

  private static func quoted(_ text: String) -> String {
    var json = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": json += "\\\""
      case "\\": json += "\\\\"
      case "\n": json += "\\n"
      default: json.unicodeScalars.append(scalar)
      }
    }
    return json + "\""
  }
}
