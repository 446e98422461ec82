import RPCurlProgram

extension CompletionScript {
  static var bash: String {
    let nested = nested.map(\.name).joined(separator: " ")
    return filled(
      PackageResources.completion_bash,
      [
        ("@COMMANDS@", CommandTable.names.joined(separator: " ")), ("@DEFAULT@", "call"),
        (
          "@NESTED@",
          "    \(group.name)) nested='\(nested)' command=\(Leaf(group.standard).name("-")) ;;"
        ),
        ("@TABLES@", leaves.map(table).joined(separator: "\n")),
      ])
  }

  private static func table(_ command: Leaf) -> String {
    let places = command.definition.places.map { $0.completion + ($0.repeats ? "+" : "") }
    return """
          \(command.name("-"))) options='\(command.options.map(line).joined(separator: "\n"))'
            positionals='\(places.joined(separator: " "))' ;;
      """
  }

  /// NAMES|+ if it repeats|names that are read and not offered|KIND and its values
  private static func line(_ option: Option) -> String {
    let kind = [option.hasValue ? option.completion : "flag"] + option.values
    return [
      option.names.joined(separator: " "), option.mayRepeat ? "+" : "", option.aliases.joined(separator: " "),
      kind.joined(separator: " "),
    ].joined(separator: "|")
  }
}
