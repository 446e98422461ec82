import RPCurlProtobuf

/// Writes type names as short as possible in a scope.
///
/// A name is resolved from the innermost scope outwards by its first part, so a short name may resolve to
/// another type. Each one is resolved here like in a compiler; if the result differs, the full name is
/// written, with a leading dot.
struct NameScope {
  private let pool: PoolCore
  private let file: FileDeclaration
  private let packages: Set<String>
  /// The messages of the file by full name.
  private let fileMessages: [String: MessageDeclaration]
  /// The messages around the scope, from the outermost.
  private var messages: [Level] = []

  /// A message with its members by name, because thousands of fields may look one up.
  private struct Level {
    let fullName: String
    let messages: [String: MessageDeclaration]
    let enums: Set<String>

    init(_ message: MessageDeclaration) {
      fullName = message.fullName
      messages = Dictionary(message.messages.map { ($0.name, $0) }) { first, _ in first }
      enums = Set(message.enums.map(\.name))
    }
  }

  init(_ file: FileDeclaration, pool: PoolCore) {
    self.pool = pool
    self.file = file
    packages = (try? pool.packageNames()) ?? []
    fileMessages = Dictionary(file.messages.map { ($0.fullName, $0) }) { first, _ in first }
  }

  /// The scope within a message.
  func entering(_ message: MessageDeclaration) -> NameScope {
    var scope = self
    scope.messages.append(Level(message))
    return scope
  }

  /// The message with this full name that is declared directly in the scope: in its innermost message, or in
  /// the file.
  func nested(_ full: String) -> MessageDeclaration? {
    guard let around = messages.last else { return fileMessages[full] }
    guard full.hasPrefix(around.fullName + ".") else { return nil }
    return around.messages[String(full.dropFirst(around.fullName.count + 1))]
  }

  /// The shortest name of a type.
  func type(_ full: String) -> String {
    for scope in scopes where !scope.isEmpty && full.hasPrefix(scope + ".") {
      let short = String(full.dropFirst(scope.utf8.count + 1))
      if resolve(short) == full, !isKeyword(short) { return ProtoText.safe(short) }
    }
    return ProtoText.safe(resolve(full) == full && !isKeyword(full) ? full : ".\(full)")
  }

  /// The shortest name of an extension, as options write it within parentheses.
  func option(_ full: String) -> String {
    let first = full.prefix { $0 != "." }
    guard first.utf8.count < full.utf8.count else { return ProtoText.safe(".\(full)") }
    // Any declaration with the name of the first part hides it, except the intended package.
    let hides = scopes.contains { scope in
      !scope.isEmpty && isAggregate(String(first), in: scope)
    }
    return ProtoText.safe(hides ? ".\(full)" : full)
  }

  /// The names of the scopes, from the innermost; the last one is empty.
  private var scopes: [String] {
    var scopes = messages.reversed().map(\.fullName)
    var package = file.package
    while !package.isEmpty {
      scopes.append(package)
      package = package.lastIndex(of: ".").map { String(package[..<$0]) } ?? ""
    }
    return scopes + [""]
  }

  private func resolve(_ name: String) -> String? {
    let first = String(name.prefix { $0 != "." })
    for scope in scopes {
      let found = name == first ? isType(first, in: scope) : isAggregate(first, in: scope)
      if found { return scope.isEmpty ? name : "\(scope).\(name)" }
    }
    return nil
  }

  private func isType(_ name: String, in scope: String) -> Bool {
    if let message = messages.last(where: { $0.fullName == scope }) {
      return message.messages[name] != nil || message.enums.contains(name)
    }
    let kind = topLevel(name, in: scope)
    return kind == .message || kind == .enumeration
  }

  private func isAggregate(_ name: String, in scope: String) -> Bool {
    if isType(name, in: scope) { return true }
    let full = scope.isEmpty ? name : "\(scope).\(name)"
    return packages.contains(full) || topLevel(name, in: scope) == .service
  }

  private func topLevel(_ name: String, in package: String) -> SchemaIndex.Kind? {
    let found = try? pool.withIndex { (index) throws(SchemaError) in
      try index.find(package.isEmpty ? name : "\(package).\(name)")
    }
    guard let location = found ?? nil, location.nested.isEmpty else { return nil }
    return location.symbol.kind
  }

  private static let keywords: Set<String> = [
    "double", "float", "int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64",
    "sfixed32",
    "sfixed64", "bool", "string", "bytes", "group", "map", "optional", "repeated", "required", "reserved",
    "extensions", "extend", "message", "enum", "oneof", "option", "stream", "returns", "export", "local",
  ]

  private func isKeyword(_ name: String) -> Bool {
    NameScope.keywords.contains(String(name.prefix { $0 != "." }))
  }
}
