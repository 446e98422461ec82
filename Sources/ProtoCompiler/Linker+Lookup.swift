import RPCurlBase

extension Linker {
  /// What a lookup accepts at the last part of a name, before it goes on to an outer scope.
  enum LookupKind {
    case anything
    case types
  }

  /// The symbol if the file may refer to it: it is declared in the file or its imports. Notes the file of one that is not.
  private mutating func admitted(_ symbol: Handle) -> Handle {
    guard symbol != .none else { return .none }
    let found = schema.symbols[symbol]
    if found.kind == .package {
      if symbol == Schema.root || reach.sees(package: symbol, from: file) { return symbol }
    } else {
      if reach.sees(found.file, from: file) {
        reach.use(found.file, by: file)
        return symbol
      }
      if reach.seesOptions(found.file, from: file) {
        reach.use(found.file, by: file)
        if found.kind == .field { return symbol }
      }
    }
    undeclaredImport = symbol
    return .none
  }

  /// The symbol with these words in a scope, of which only the last one must be admitted.
  private mutating func member(_ words: Range<Int32>, of scope: Handle) -> Handle {
    var symbol = scope
    for index in words {
      symbol = schema.member(tables.words[index], of: symbol)
      if symbol == .none { return .none }
    }
    return admitted(symbol)
  }

  /// The symbol that a reference in the scope of another symbol means; `none` if there is none.
  ///
  /// The scopes are searched from the inside. The first part of a name decides: `Foo.Bar` is not searched in an outer scope if an
  /// inner one has a `Foo`.
  mutating func lookup(_ reference: Handle, from symbol: Handle, _ kind: LookupKind = .anything) -> Handle {
    let found = tables.references[reference]
    return lookup(
      found.first..<found.first + found.count, isAbsolute: found.isAbsolute,
      in: schema.symbols[symbol].parent, kind)
  }

  mutating func lookup(_ words: Range<Int32>, isAbsolute: Bool, in start: Handle, _ kind: LookupKind)
    -> Handle
  {
    undeclaredImport = .none
    undefinedName = nil
    // The name of an extension in parentheses may be empty.
    guard !words.isEmpty else { return .none }
    if isAbsolute { return member(words, of: Schema.root) }
    var scope = start
    while scope > Schema.hiddenRoot {
      let first = admitted(schema.member(tables.words[words.lowerBound], of: scope))
      if first != .none {
        if words.count == 1 {
          if kind == .anything || schema.symbols[first].isType { return first }
        } else if schema.symbols[first].isAggregate {
          let result = member(words.dropFirst(), of: first)
          if result == .none {
            undefinedName = ([fullName(first)] + words.dropFirst().map { names[tables.words[$0]] }).joined(
              separator: ".")
          }
          return result
        }
      }
      scope = schema.symbols[scope].parent
    }
    return member(words, of: Schema.root)
  }

  /// Reports a reference that means nothing.
  mutating func undefined(_ reference: Handle, at place: Place) {
    let text = tables.text(reference, names)
    if undeclaredImport != .none {
      let symbol = schema.symbols[undeclaredImport]
      let name = fullName(undeclaredImport)
      error(
        "\"\(name)\" seems to be defined in \"\(fileName(symbol.file))\", which is not imported by \"\(fileName(file))\".  To use it here, please add the necessary import.",
        at: place)
    }
    if let undefinedName {
      error(
        "\"\(text)\" is resolved to \"\(undefinedName)\", which is not defined. The innermost scope is searched first in name resolution. Consider using a leading '.'(i.e., \".\(text)\") to start from the outermost scope.",
        at: place)
    }
    if undeclaredImport == .none, undefinedName == nil {
      error(
        "\"\(text)\" is not defined.", at: place, cause: .undefinedName,
        hint: report.isOpen ? hint(for: text) : nil)
    }
  }

  /// Similar names of messages and enums that the file sees, or where else the name is.
  private func hint(for text: String) -> String? {
    if schema.files[file].lacksImport {
      return "an import of this file or of one that it imports was not found"
    }
    let wanted = text.split(separator: ".").last.map(String.init) ?? text
    var candidates: [String: Handle] = [:]
    for (index, symbol) in zip(Handle(0)..., schema.symbols)
    where symbol.isType && reach.sees(symbol.file, from: file) {
      candidates[names[symbol.name]] = index
    }
    let near = EditDistance.nearest(to: wanted, among: candidates.keys.sorted(), limit: 3)
    guard !near.isEmpty else { return nil }
    let shown = near.compactMap { name in
      candidates[name].map { symbol in
        let owner = schema.symbols[symbol].file
        return fullName(symbol) + (owner == file ? "" : " in \(fileName(owner))")
      }
    }
    return "did you mean \(shown.joined(separator: ", or "))?"
  }
}
