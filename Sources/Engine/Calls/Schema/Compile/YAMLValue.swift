import RPCurlCInput

/// A value of a YAML text, and its place.
struct YAMLValue {
  enum Content {
    /// A value without quotes that is empty, `~` or `null`.
    case null
    case text(String)
    case list([YAMLValue])
    case map([(name: String, value: YAMLValue)])
  }

  /// Why a text cannot be read, and where.
  struct Problem: Error, Equatable {
    let line: Int
    let column: Int
    let why: String
  }

  let content: Content
  let line: Int
  let column: Int

  /// Reads a text with one document; nil for an empty one.
  static func read(_ text: [UInt8]) throws(Problem) -> YAMLValue? {
    try text.withUnsafeBufferPointer { (text) throws(Problem) -> YAMLValue? in
      guard let reader = cyaml_open(text.baseAddress, text.count) else {
        throw Problem(line: 1, column: 1, why: "out of memory")
      }
      defer { cyaml_close(reader) }
      var events = Events(reader: reader)
      guard let event = try events.next() else { return nil }
      let value = try events.value(event, depth: 0)
      guard try events.next() == nil else { return nil }
      return value
    }
  }

  /// A problem at this value.
  func problem(_ why: String) -> Problem { Problem(line: line, column: column, why: why) }

  /// The value of a key; nil if the map lacks it, or has no value there.
  subscript(_ name: String) -> YAMLValue? {
    get throws(Problem) {
      switch content {
      case .null: return nil
      case .map(let members):
        guard let found = members.first(where: { $0.name == name })?.value else { return nil }
        if case .null = found.content { return nil }
        return found
      case .text, .list: throw problem("expected keys and values")
      }
    }
  }

  /// The text.
  var text: String {
    get throws(Problem) {
      guard case .text(let text) = content else { throw problem("expected a text") }
      return text
    }
  }

  /// The items of a list.
  var items: [YAMLValue] {
    get throws(Problem) {
      guard case .list(let items) = content else { throw problem("expected a list") }
      return items
    }
  }

  /// The texts of a list.
  var texts: [String] {
    get throws(Problem) {
      var texts: [String] = []
      for item in try items { texts.append(try item.text) }
      return texts
    }
  }
}

/// The events of a text, and the values with anchors.
private struct Events {
  private static let depthLimit = 100

  let reader: OpaquePointer
  private var anchors: [String: YAMLValue] = [:]

  init(reader: OpaquePointer) { self.reader = reader }

  /// The next event; nil at the end of the text.
  func next() throws(YAMLValue.Problem) -> cyaml_event? {
    let event = cyaml_next(reader)
    switch event.kind {
    case CYAML_DONE: return nil
    case CYAML_ERROR: throw problem(event, Self.text(event))
    default: return event
    }
  }

  private func problem(_ event: cyaml_event, _ why: String) -> YAMLValue.Problem {
    YAMLValue.Problem(line: Int(event.line), column: Int(event.column), why: why)
  }

  private static func text(_ event: cyaml_event) -> String {
    String(decoding: UnsafeBufferPointer(start: event.text, count: event.count), as: UTF8.self)
  }

  /// The value that an event begins.
  mutating func value(_ event: cyaml_event, depth: Int) throws(YAMLValue.Problem) -> YAMLValue {
    guard depth < Self.depthLimit else { throw problem(event, "more than \(Self.depthLimit) levels") }
    let anchor = event.anchor.map { String(cString: $0) }
    if event.kind == CYAML_ALIAS {
      guard let anchor, let found = anchors[anchor] else { throw problem(event, "an unknown anchor") }
      return found
    }
    let content: YAMLValue.Content =
      switch event.kind {
      case CYAML_LIST: .list(try list(depth))
      case CYAML_MAP: .map(try map(depth))
      default: Self.scalar(event)
      }
    let value = YAMLValue(content: content, line: Int(event.line), column: Int(event.column))
    if let anchor { anchors[anchor] = value }
    return value
  }

  private static func scalar(_ event: cyaml_event) -> YAMLValue.Content {
    let text = text(event)
    return event.is_plain && ["", "~", "null"].contains(text) ? .null : .text(text)
  }

  private mutating func list(_ depth: Int) throws(YAMLValue.Problem) -> [YAMLValue] {
    var items: [YAMLValue] = []
    while let event = try next(), event.kind != CYAML_END {
      items.append(try value(event, depth: depth + 1))
    }
    return items
  }

  private mutating func map(_ depth: Int) throws(YAMLValue.Problem) -> [(name: String, value: YAMLValue)] {
    var members: [(name: String, value: YAMLValue)] = []
    var names: Set<String> = []
    while let event = try next(), event.kind != CYAML_END {
      let key = try value(event, depth: depth + 1)
      guard let next = try next() else { break }
      let name = try key.text
      guard names.insert(name).inserted else {
        throw key.problem("the key \(name) occurs twice")
      }
      members.append((name, try value(next, depth: depth + 1)))
    }
    return members
  }
}
