import RPCurlBase
import RPCurlProgram

extension CompletionScript {
  static var fish: String {
    let plugins = group.name
    let nestedNames = nested.map(\.name).joined(separator: " ")
    let topics = names.map(\.name).filter { $0 != "help" }
    let first = names.map { line("__rpcurl_first", " -a \(quoted($0.name)) -d \(quoted($0.summary))") }
    let second = nested.map {
      line("'__rpcurl_second \(plugins)'", " -a \(quoted($0.name)) -d \(quoted($0.summary))")
    }
    let help = line("'__rpcurl_second help'", " -a \(quoted(topics.joined(separator: " ")))")
    return filled(
      PackageResources.completion_fish,
      [
        ("@COMMANDS@", CommandTable.names.joined(separator: " ")), ("@DEFAULT@", "call"),
        ("@VALUED@", leaves.map(valued).joined(separator: "\n")),
        (
          "@NESTED@",
          """
                      case \(plugins)
                          set __rpcurl_command \(Leaf(group.standard).name("-"))
                          if contains -- "$tokens[3]" \(nestedNames)
                              set __rpcurl_command \(plugins)-$tokens[3]
                              set index 4
                          end
          """
        ),
        ("@COMPLETE@", (first + second + [help] + leaves.flatMap(places) + options).joined(separator: "\n")),
      ])
  }

  private static func line(_ condition: String, _ rest: String) -> String {
    "complete -c rpcurl -n \(condition)\(rest)"
  }

  /// The options of a command that have a value.
  private static func valued(_ command: Leaf) -> String {
    let names = command.options.filter(\.hasValue).flatMap { $0.names + $0.aliases }
    return """
              case \(command.name("-"))
                  contains -- $argv[2] \(names.isEmpty ? "x" : names.joined(separator: " "))
      """
  }

  private static func places(_ command: Leaf) -> [String] {
    let places = command.definition.places
    return places.enumerated().compactMap { index, place in
      let (kind, detail) = parted(place.completion)
      let rest: String
      switch kind {
      case "file": rest = " -F"
      case "ask": rest = " -a '(__rpcurl_ask \(detail))'"
      default: return nil
      }
      let count = index + 1 == places.count && place.repeats ? "-ge \(index)" : "-eq \(index)"
      return line("'__rpcurl_is \(command.name("-"))' -n '__rpcurl_places \(count)'", rest)
    }
  }

  /// The options. One that several commands share is one line.
  private static var options: [String] {
    var commands: [(rest: String, names: [String])] = []
    var indices: [String: Int] = [:]
    for command in leaves {
      for rest in command.options.map(conditioned) {
        if let index = indices[rest] {
          commands[index].names.append(command.name("-"))
        } else {
          indices[rest] = commands.count
          commands.append((rest, [command.name("-")]))
        }
      }
    }
    return commands.map { line("'__rpcurl_is \($0.names.joined(separator: " "))'", $0.rest) }
  }

  /// The end of a line that completes an option, without the condition on the command.
  private static func conditioned(_ option: Option) -> String {
    let all = (option.names + option.aliases).joined(separator: " ")
    let unused = option.mayRepeat ? "" : " -n \(quoted("__rpcurl_unused \(all)"))"
    let names = option.names.map { $0.hasPrefix("--") ? "-l \($0.dropFirst(2))" : "-s \($0.dropFirst())" }
    let list = option.values.joined(separator: " ")
    let value =
      option.hasValue ? value(option.completion, list) : list.isEmpty ? "" : " -f -a \(quoted(list))"
    return "\(unused) \(names.joined(separator: " "))\(value) -d \(quoted(summary(option)))"
  }

  /// The completions of a value; files only if the value is a file.
  private static func value(_ completion: String, _ list: String) -> String {
    let (kind, detail) = parted(completion)
    return switch kind {
    case "list": " -x -a \(quoted(list))"
    case "comma": " -x -a \(quoted("(__rpcurl_list \(list))"))"
    case "file": " -r -F"
    case "dir": " -x -a '(__fish_complete_directories)'"
    case "at": " -x -a '(__rpcurl_atfiles) (__rpcurl_ask \(detail))'"
    case "ask": " -x -a '(__rpcurl_ask \(detail))'"
    default: " -x"
    }
  }

  private static func quoted(_ text: String) -> String {
    "'\(text.replacing("\\", with: "\\\\").replacing("'", with: "\\'"))'"
  }
}
