/// Where an argument is from.
package enum Origin: Equatable, Sendable {
  /// The argument of the command line with this index, the first after the program's name being 0.
  case typed(index: Int)
  /// A line of a configuration file, counted from 1; in the section of a profile if that is named. That of a project file
  /// needs the user's trust.
  case file(path: String, line: Int, profile: String?, isTrusted: Bool = true)
  /// A variable of the environment.
  case environment(name: String)
  /// A command of a session.
  case session

  /// The place for messages; nil for what was typed.
  package var place: String? {
    switch self {
    case .file(let path, let line, _, _): "\(path), line \(line)"
    case .environment(let name): name
    case .typed, .session: nil
    }
  }

  /// Whether it is on the command line itself.
  package var isTyped: Bool { if case .typed = self { true } else { false } }

  /// The configuration file; nil for another origin.
  package var file: String? {
    guard case .file(let path, _, _, _) = self else { return nil }
    return path
  }

  /// Whether the argument is from a project file that is not trusted.
  package var isUntrusted: Bool {
    guard case .file(_, _, _, isTrusted: false) = self else { return false }
    return true
  }
}

/// An argument that is not an option.
package struct Positional: Equatable, Sendable {
  /// The argument.
  package let text: String
  /// Where it is from.
  package let origin: Origin

  /// An argument with its origin.
  package init(_ text: String, _ origin: Origin) {
    self.text = text
    self.origin = origin
  }
}

/// An option that was given, with its value.
package struct Argument: Equatable, Sendable {
  /// The option.
  package let id: OptionID
  /// The name as it was written.
  package let name: String
  /// The value as it was written; nil for a flag, also one with a level.
  package let text: String?
  /// The value, read.
  package let value: Value
  /// Where it is from.
  package let origin: Origin

  init(_ id: OptionID, name: String, text: String?, value: Value, _ origin: Origin) {
    self.id = id
    self.name = name
    self.text = text
    self.value = value
    self.origin = origin
  }

  /// Makes an argument as if it was given; flags have no text.
  ///
  /// - Throws: The reason if the value is invalid.
  package init(
    _ id: OptionID, _ text: String? = nil, name: String? = nil, _ origin: Origin = .session
  ) throws(ParseError) {
    let option = OptionTable[id]
    let name = name ?? option.name
    guard let text else {
      self.init(id, name: name, text: nil, value: .flag(true), origin)
      return
    }
    let value = try Value(text, of: option, name: name, origin)
    self.init(id, name: name, text: text, value: value, origin)
  }

  /// The same as arguments of a command line.
  package var words: [String] {
    if let text { return [name, text] }
    let option = OptionTable[id]
    if case .flag(let isOn) = value { return [isOn == option.isTurnedOff(by: name) ? "\(name)=false" : name] }
    guard let level = string, level != option.values.first else { return [name] }
    return ["\(name)=\(level)"]
  }
}
