import RPCurlBase
import RPCurlProgram

extension CompletionScript {
  static var zsh: String {
    filled(
      PackageResources.completion_zsh,
      [
        (
          "@COMMANDS@",
          described(names.filter { $0.name != "help" }) + "\n    'help:Show how a command is called'"
        ), ("@DEFAULT@", "call"),
        (
          "@NESTED@",
          "    \(group.name))\n      nested=(\n\(described(nested))\n      )\n      default=\(Leaf(group.standard).path[1]) ;;"
        ),
        ("@FUNCTIONS@", leaves.map(function).joined(separator: "\n")),
      ])
  }

  private static func function(_ command: Leaf) -> String {
    let places = command.definition.places.enumerated().map { index, place in
      let value = "\(message(place.name)):\(action(place.completion, [], isPlace: true))"
      return quoted("\(place.repeats ? "*" : "\(index + 1)"):\(value)")
    }
    let lines = command.options.flatMap(specifications) + places
    return """
      _rpcurl_\(command.name("_"))() {
        _arguments -s -S : \\
          \(lines.joined(separator: " \\\n    "))
      }

      """
  }

  /// One for each name, which excludes the others unless the option repeats. An alias (!) is not offered.
  private static func specifications(_ option: Option) -> [String] {
    let names = option.names + option.aliases
    return names.map { name in
      var before = option.mayRepeat ? "*" : names.count > 1 ? "(\(names.joined(separator: " ")))" : ""
      if option.aliases.contains(name) { before = "!" + before }
      var (join, value) = ("", "")
      if option.hasValue {
        join = name.hasPrefix("--") ? "=" : "+"
        value = ":\(message(option.placeholder)):\(action(option.completion, option.values, isPlace: false))"
      } else if !option.values.isEmpty {
        // A value that may be omitted is in the same word.
        (join, value) = ("=-", "::VALUE:(\(option.values.joined(separator: " ")))")
      }
      return quoted("\(before)\(name)\(join)[\(words(summary(option)))]\(value)")
    }
  }

  private static func action(_ completion: String, _ values: [String], isPlace: Bool) -> String {
    let (kind, detail) = parted(completion)
    return switch kind {
    case "list": "(\(values.joined(separator: " ")))"
    case "comma": "_sequence compadd - \(values.joined(separator: " "))"
    // With a leading space it is called with these words only.
    case "ask": " _rpcurl_ask \(detail)" + (isPlace ? " place" : "")
    case "at": " _rpcurl_at \(detail)"
    case "file": "_files"
    case "dir": "_files -/"
    default: " "
    }
  }

  private static func described(_ commands: [Name]) -> String {
    commands.map { "    " + quoted("\(message($0.name)):\($0.summary)") }.joined(separator: "\n")
  }

  private static func quoted(_ text: String) -> String { "'\(text.replacing("'", with: "'\\''"))'" }

  private static func words(_ text: String) -> String {
    text.replacing("\\", with: "\\\\").replacing("[", with: "\\[").replacing("]", with: "\\]")
  }

  private static func message(_ text: String) -> String {
    text.replacing("\\", with: "\\\\").replacing(":", with: "\\:")
  }
}
