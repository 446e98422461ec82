import RPCurlBase
import RPCurlInterceptors
import RPCurlProgram

/// What is known of an option or an interceptor, for `help NAME`.
package enum HelpTopic {
  /// Paragraphs about each option and interceptor of this name; nil if there is none.
  ///
  /// - Parameters:
  ///   - name: The name, of an option also without its dashes.
  ///   - isSession: Whether a session asks, where `use` is a command.
  package static func paragraphs(of name: String, inSession isSession: Bool = false) -> [String]? {
    let interceptor = BuiltIns.all.first { $0.name == name }.map { entry in
      ["\(isSession ? "" : "--")use \(name)[,KEY=VALUE…]: \(entry.summary)"]
        + entry.keys.map { "  \($0.form)  \($0.summary)" }
        + ["The page rpcurl-\(name)(7) has examples; the keys of every interceptor are in rpcurl(1)."]
    }
    let names = [name, "--\(name)"]
    let option = OptionTable.all.first {
      $0.names.contains(where: names.contains) || $0.aliases.contains(name)
    }
    let parts = [interceptor, option.map(paragraphs)].compactMap(\.self)
    return parts.isEmpty ? nil : Array(parts.joined(separator: [""]))
  }

  /// The command, interceptor or option whose name differs little; nil if there is none.
  package static func nearest(to name: String) -> String? {
    let names = CommandTable.names + BuiltIns.all.map(\.name)
    let options = OptionTable.all.flatMap(\.names)
    return EditDistance.nearest(to: name, among: names, limit: 1).first
      ?? EditDistance.nearest(to: name, among: options, limit: 1).first
  }

  private static func paragraphs(of option: Option) -> [String] {
    let names = option.names.joined(separator: ", ") + (option.hasValue ? " \(option.placeholder)" : "")
    let facts = [
      option.discussion, option.values.isEmpty ? "" : "Values: \(option.values.joined(separator: ", "))",
      option.standard.isEmpty ? "" : "Default: \(option.standard)",
    ]
    return ["\(names): \(option.summary)"] + facts.filter { !$0.isEmpty } + ["Example: \(option.example)"]
  }
}
