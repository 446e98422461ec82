import RPCurlProtobuf

/// The parts of a `buf.yaml` or `buf.work.yaml` that say where `.proto` files are.
///
/// It reads the YAML that buf's documentation shows: block style, and lists in brackets. Anything else is ignored.
struct BufFile: Equatable {
  /// The directories of modules, relative to the file: `modules` of version 2, `build.roots` of v1beta1, and
  /// `directories` of `buf.work.yaml`.
  private(set) var directories: [String] = []
  /// Whether modules of other repositories are needed (`deps`).
  private(set) var hasDependencies = false
  /// The version, such as `v2`; empty if the file has none.
  private(set) var version = ""

  init(_ text: String) {
    // The keys that contain the current line, each with its indentation.
    var keys: [(indentation: Int, name: String)] = []
    for line in text.split(separator: "\n") {
      let content = Self.withoutComment(line)
      let indentation = content.prefix { $0 == " " }.utf8.count
      var rest = content.dropFirst(indentation)
      guard !rest.isEmpty, rest != "---" else { continue }
      // An item of a list may have the indentation of its key.
      let isItem = rest == "-" || rest.hasPrefix("- ")
      while let last = keys.last, last.indentation > indentation || last.indentation == indentation && !isItem
      {
        keys.removeLast()
      }
      let path = keys.map(\.name).joined(separator: ".")
      if isItem {
        rest = rest.dropFirst(1).drop { $0 == " " }
        if path == "modules" { directories.append(".") }
      }
      guard let (key, value) = Self.pair(rest) else {
        if isItem { add([Self.plain(rest)], to: path) }
        continue
      }
      add(key: key, value, to: path)
      if !isItem { keys.append((indentation, key)) }
    }
  }

  private mutating func add(key: String, _ value: Substring, to path: String) {
    switch path.isEmpty ? key : "\(path).\(key)" {
    case "version": version = Self.plain(value)
    case "modules.path": if !directories.isEmpty { directories[directories.count - 1] = Self.plain(value) }
    case let list: add(Self.list(value), to: list)
    }
  }

  private mutating func add(_ items: [String], to path: String) {
    switch path {
    case "deps": hasDependencies = hasDependencies || !items.isEmpty
    case "directories", "build.roots": directories += items
    default: break
    }
  }

  private static func withoutComment(_ line: Substring) -> Substring {
    var quote: Character?
    var before: Character = " "
    for index in line.indices {
      let character = line[index]
      if let open = quote {
        if character == open { quote = nil }
      } else if character == "\"" || character == "'" {
        quote = character
      } else if character == "#", before == " " {
        return trimmed(line[..<index])
      }
      before = character
    }
    return trimmed(line)
  }

  private static func trimmed(_ text: Substring) -> Substring {
    var text = text
    while let last = text.last, last == " " || last == "\t" || last == "\r" { text.removeLast() }
    return text
  }

  /// The key and the value of `KEY: VALUE`.
  private static func pair(_ text: Substring) -> (String, Substring)? {
    guard let colon = text.firstIndex(of: ":") else { return nil }
    let after = text[text.index(after: colon)...]
    guard after.isEmpty || after.first == " " else { return nil }
    return (plain(text[..<colon]), after.drop { $0 == " " })
  }

  /// The items of `[A, B]`.
  private static func list(_ text: Substring) -> [String] {
    guard text.first == "[", text.last == "]" else { return [] }
    return text.dropFirst().dropLast().split(separator: Character(",")).map { plain($0) }.filter {
      !$0.isEmpty
    }
  }

  /// A value without its quotes.
  private static func plain(_ text: Substring) -> String {
    let text = trimmed(text.drop { $0 == " " })
    guard let first = text.first, first == "\"" || first == "'", text.count > 1, text.last == first else {
      return String(text)
    }
    return String(text.dropFirst().dropLast())
  }
}
