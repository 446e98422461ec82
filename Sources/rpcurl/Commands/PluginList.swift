import RPCurlBase
import RPCurlInterceptors
import RPCurlPluginHost
import RPCurlProgram
import RPCurlProtobuf

/// The interceptors that can be added to the chain: the built-in ones, and the plugins in the search path.
struct PluginList {
  private let searchPath: PluginSearchPath
  private let plugins: [PluginListing]
  private let refused: [PluginError]

  /// Reads the search path.
  init(_ loader: PluginLoader) {
    searchPath = loader.searchPath
    var plugins: [PluginListing] = []
    var refused: [PluginError] = []
    for entry in loader.catalog() {
      switch entry {
      case .success(let plugin): plugins.append(plugin)
      case .failure(let error): refused.append(error)
      }
    }
    self.plugins = plugins
    self.refused = refused
  }

  // MARK: - Text

  /// The list as text.
  ///
  /// - Parameter columns: The width of the terminal, where lines are wrapped; nil for no limit.
  func text(columns: Int?) -> String {
    var lines = ["Built in, for --use:"]
    for entry in BuiltIns.all {
      lines += TextLayout.wrapped("  \(entry.name): \(entry.summary)", columns: columns, indent: 4)
      let keys = entry.keys.map { (name: "      \($0.form)", text: $0.summary) }
      lines += TextLayout.table(keys, columns: columns)
    }
    lines.append("Plugins, for --plugin:")
    for plugin in plugins {
      lines += Self.lines(of: plugin).flatMap { TextLayout.wrapped($0, columns: columns, indent: 8) }
    }
    if plugins.isEmpty { lines.append("  none found in \(searchPath.directories.joined(separator: ", "))") }
    for directory in searchPath.ignored {
      lines.append("  ignored in RPCURL_PLUGIN_PATH: '\(directory)' is not absolute")
    }
    if !refused.isEmpty { lines.append("Refused:") }
    for error in refused {
      lines.append("  \(error)")
      if let hint = error.hint { lines.append("      hint: \(hint)") }
    }
    return lines.map { "\(TerminalText.escape($0))\n" }.joined()
  }

  private static func lines(of plugin: PluginListing) -> [String] {
    var title = plugin.fileName
    if plugin.name != plugin.fileName { title += " (\(plugin.name))" }
    if !plugin.version.isEmpty { title += " \(plugin.version)" }
    if !plugin.summary.isEmpty { title += ": \(plugin.summary)" }
    let keys = plugin.configurationHelp.split(separator: "\n").map { "      \($0)" }
    return ["  \(title)"] + keys + ["      \(plugin.path)"]
  }

  // MARK: - JSON

  /// The list as one JSON object on one line.
  var json: String {
    var object = JSONObject()
    object.add("builtIns", raw: array(BuiltIns.all.map(self.object)))
    object.add("plugins", raw: array(plugins.map(self.object)))
    object.add("refused", raw: array(refused.map(self.object)))
    object.add("searchPath", raw: array(searchPath.directories.map { JSONValue.quoted($0) }))
    object.add("ignoredDirectories", raw: array(searchPath.ignored.map { JSONValue.quoted($0) }))
    return object.object + "\n"
  }

  private func array(_ elements: [String]) -> String { "[\(elements.joined(separator: ","))]" }

  private func object(_ entry: BuiltIns.Description) -> String {
    var object = JSONObject()
    object.add("name", entry.name)
    object.add("summary", entry.summary)
    let keys = entry.keys.map { key in
      var object = JSONObject()
      object.add("form", key.form)
      object.add("summary", key.summary)
      return object.object
    }
    object.add("keys", raw: array(keys))
    return object.object
  }

  private func object(_ plugin: PluginListing) -> String {
    var object = JSONObject()
    object.add("name", plugin.fileName)
    object.add("pluginName", plugin.name)
    object.add("version", plugin.version)
    object.add("summary", plugin.summary)
    object.add(
      "keys", raw: array(plugin.configurationHelp.split(separator: "\n").map { JSONValue.quoted(String($0)) })
    )
    object.add("path", plugin.path)
    return object.object
  }

  private func object(_ error: PluginError) -> String {
    var object = JSONObject()
    object.add("reason", error.description)
    if let hint = error.hint { object.add("hint", hint) }
    return object.object
  }
}
