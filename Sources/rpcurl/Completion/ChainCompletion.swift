import Calls
import Glibc
import Interception
import Interceptors
import PluginHost
import RPCProtocols
import System

/// Completes values of `--use` and `--plugin`: a name, then keys and values. Loads no plugin.
enum ChainCompletion {
  /// The keys of every interceptor.
  private static let commonKeys = CommonSettings.keys.map {
    BuiltIns.Key($0.form, $0.summary, mayRepeat: $0.mayRepeat)
  }
  private static let pluginKeys = [
    BuiltIns.Key("strict=true|false", "fail calls in which the plugin misuses its interface (false)")
  ]

  // MARK: Built in

  static func interceptors(_ typed: String) -> [Candidate] {
    guard let comma = typed.firstIndex(of: ",") else {
      return BuiltIns.all.filter { $0.name.hasPrefix(typed) }.map { Candidate($0.name, $0.summary) }
    }
    guard let entry = BuiltIns.all.first(where: { $0.name == typed[..<comma] }) else { return [] }
    let names = Set(entry.keys.map(\.name))
    return settings(typed, entry.keys + commonKeys.filter { !names.contains($0.name) })
  }

  // MARK: Plugins

  static func plugins(_ typed: String) -> [Candidate] {
    if typed.contains(",") { return settings(typed, commonKeys + pluginKeys) }
    if typed.contains("/") || typed.hasPrefix("~") {
      return files(typed).filter { $0.text.hasSuffix("/") || $0.text.hasSuffix(".so") }
    }
    let mark = typed.hasPrefix("?") ? "?" : ""
    let names = ChainSource.searchPath.directories.flatMap { directory in
      entries(directory).filter { $0.hasSuffix(".so") && $0 != ".so" }.sorted()
        .map { Candidate("\(mark)\($0.dropLast(3))", directory) }
    }
    return names.filter { $0.text.hasPrefix(typed) }
  }

  // MARK: Settings

  /// Completes the settings of `NAME,key=value,…`.
  private static func settings(_ typed: String, _ keys: [BuiltIns.Key]) -> [Candidate] {
    let (stem, last, used) = parts(typed)
    guard let equals = last.firstIndex(of: "=") else {
      return keys.filter { $0.name.hasPrefix(last) && ($0.mayRepeat || !used.contains($0.name)) }
        .map { Candidate("\(stem)\($0.name)=", $0.summary) }
    }
    guard let key = keys.first(where: { $0.name == last[..<equals] }) else { return [] }
    let value = String(last[last.index(after: equals)...])
    return values(key, value).map { Candidate("\(stem)\(key.name)=\($0.text)", $0.description) }
  }

  /// Splits at the last comma. A double comma is part of a value.
  private static func parts(_ typed: String) -> (stem: String, last: String, used: Set<String>) {
    var parts = [""]
    var rest = typed.unicodeScalars[...]
    while let scalar = rest.popFirst() {
      if scalar != "," {
        parts[parts.count - 1].unicodeScalars.append(scalar)
      } else if rest.first == "," {
        rest.removeFirst()
        parts[parts.count - 1] += ",,"
      } else {
        parts.append("")
      }
    }
    let last = parts.removeLast()
    return (
      parts.map { "\($0)," }.joined(), last,
      Set(parts.dropFirst().map { String($0.prefix { $0 != "=" }) })
    )
  }

  /// The values of a key, according to its form: words, status codes or files.
  private static func values(_ key: BuiltIns.Key, _ typed: String) -> [Candidate] {
    let form = key.form.dropFirst(key.name.count + 1)
    switch form {
    case "FILE":
      return files(typed)
    case _ where form.hasPrefix("CODE"):
      let stem =
        form.contains("+")
        ? String(typed[..<(typed.lastIndex(of: "+").map { typed.index(after: $0) } ?? typed.startIndex)]) : ""
      // A call that succeeded is not retried.
      let codes = StatusCode.allCases.filter { $0 != .ok || !form.contains("+") }
      return codes.map { Candidate("\(stem)\($0.name)") }.filter { $0.text.hasPrefix(typed) }
    case _ where !form.isEmpty && form.allSatisfy({ $0.isLowercase || $0 == "|" }):
      return form.split(separator: "|").map { Candidate(String($0)) }.filter { $0.text.hasPrefix(typed) }
    default:
      return []
    }
  }

  // MARK: Files

  private static func files(_ typed: String) -> [Candidate] {
    let stem = typed.lastIndex(of: "/").map { String(typed[...$0]) } ?? ""
    let directory = CompletionLine.expanded(stem)
    return entries(directory.isEmpty ? "." : directory).sorted().compactMap { name in
      // Names with a comma are omitted: the comma would have to be doubled.
      guard "\(stem)\(name)".hasPrefix(typed), !name.contains(",") else { return nil }
      guard !name.hasPrefix(".") || typed.dropFirst(stem.count).hasPrefix(".") else { return nil }
      var status = stat()
      let isDirectory = stat("\(directory)\(name)", &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
      return Candidate("\(stem)\(name)\(isDirectory ? "/" : "")")
    }
  }

  /// The names in a directory; empty if it cannot be read.
  static func entries(_ directory: String) -> [String] {
    Directory.entries(in: directory, limit: Candidate.limit).map(\.name)
  }
}
