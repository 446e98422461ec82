import RPCurlProtobuf

/// The features that compilers omit from descriptors, and without which they refuse the source of some files: names that have
/// not the style of the edition, and types that other files use although they are local by default.
struct SourceFeatures {
  private let file: FileDeclaration
  /// Since 2024.
  private let edition: Int32
  /// The names that have a style.
  private var names: [(style: NameStyle, name: String)] = []
  /// The types that are local by default.
  private var local: Set<String> = []
  private var exportsNested = false
  private var hasAccessors = false

  /// Nil if the file needs no features.
  init?(_ file: FileDeclaration) {
    guard case .edition(let edition) = file.syntax, edition >= 1001 else { return nil }
    self.file = file
    self.edition = edition
    if !file.package.isEmpty { names.append((.lowerSnake, file.package)) }
    for service in file.services where add(service.name, .title, service.options, 34) {
      for method in service.methods { _ = add(method.name, .title, method.options, 35) }
    }
    read(file.messages, file.enums, file.extensions, isNested: false)
  }

  /// Adds a name that is to have a style; false if the declaration has a style of its own.
  private mutating func add(
    _ name: String, _ style: NameStyle, _ options: DescriptorOptions, _ number: UInt32
  ) -> Bool {
    guard !Self.isEmpty(number, in: options) else { return false }
    names.append((style, name))
    return true
  }

  /// Whether options have a set of features that is empty, as is one of which a compiler has omitted everything.
  static func isEmpty(_ number: UInt32, in options: DescriptorOptions) -> Bool {
    !options.serialized.isEmpty && WireFields(options).message(number)?.records.isEmpty == true
  }

  private mutating func read(
    _ messages: [MessageDeclaration], _ enums: [EnumDeclaration], _ extensions: [FieldDeclaration],
    isNested: Bool, isStyled: Bool = true
  ) {
    for type in enums {
      read(visibility: type.visibility, of: type.fullName, isNested: isNested)
      guard isStyled, add(type.name, .title, type.options, 7) else { continue }
      for value in type.values { _ = add(value.name, .upperSnake, value.options, 2) }
    }
    if isStyled {
      for field in extensions { read(field, members: nil) }
    }
    for message in messages {
      read(visibility: message.visibility, of: message.fullName, isNested: isNested)
      let isStyled = isStyled && add(message.name, .title, message.options, 12)
      if isStyled {
        let members = Set(message.fields.map(\.name) + message.oneofs.map(\.name))
        for field in message.fields { read(field, members: members) }
        for oneof in message.oneofs where add(oneof.name, .lowerSnake, oneof.options, 1) {
          hasAccessors = hasAccessors || Self.isAccessor(oneof.name, of: members)
        }
      }
      read(message.messages, message.enums, message.extensions, isNested: true, isStyled: isStyled)
    }
  }

  private mutating func read(_ field: FieldDeclaration, members: Set<String>?) {
    guard add(field.name, .lowerSnake, field.options, 21) else { return }
    hasAccessors = hasAccessors || Self.isAccessor(field.name, of: members)
  }

  private mutating func read(visibility: Int32, of type: String, isNested: Bool) {
    if visibility == 0, isNested || edition > 1001 { local.insert(type) }
    if visibility == 2, isNested { exportsNested = true }
  }

  /// Whether generated code may have a function of this name for another field, which edition 2026 refuses. All fields of an
  /// extended message are possible.
  private static func isAccessor(_ name: String, of members: Set<String>?) -> Bool {
    var fields = ["has_", "get_", "set_", "clear_"].filter(name.hasPrefix).map {
      name.dropFirst($0.utf8.count)
    }
    if name.hasSuffix("_value") { fields.append(name.dropLast(6)) }
    return name == "descriptor" || fields.contains { members?.contains(String($0)) ?? true }
  }

  /// The features of the file as settings, apart from those that it has.
  func settings(in pool: DescriptorPool) -> [String] {
    let given = Set(WireFields(file.options).messages(50).flatMap(\.records).map(\.number))
    var settings: [String] = []
    if given.contains(7) {
      // The file has a style.
    } else if names.contains(where: { $0.style.problem(with: $0.name) != nil }) {
      settings.append(Self.anyStyle)
    } else if edition > 1001, hasAccessors {
      settings.append("features.enforce_naming_style = STYLE2024")
    }
    guard !given.contains(8) else { return settings }
    if !local.isEmpty, pool.importers(of: file.name).contains(where: { $0.uses(local) }) {
      settings.append("features.default_symbol_visibility = EXPORT_ALL")
    } else if edition > 1001, exportsNested {
      settings.append("features.default_symbol_visibility = EXPORT_TOP_LEVEL")
    }
    return settings
  }

  private static let anyStyle = "features.enforce_naming_style = STYLE_LEGACY"

  /// The settings for an empty set of features of a declaration, of which a compiler makes one.
  static func empty(in file: FileDeclaration) -> [String] {
    if case .edition(1001...) = file.syntax { [anyStyle] } else { ["features = {}"] }
  }
}

extension DescriptorPool {
  /// The files that see the declarations of a file: those that import it, and those that import one that imports it publicly.
  fileprivate func importers(of name: String) -> [FileDeclaration] {
    var names = [name]
    var seen: Set<String> = [name]
    var found: [FileDeclaration] = []
    while let imported = names.popLast() {
      for importer in importerNames(of: imported) where seen.insert(importer).inserted {
        guard let file = try? file(named: importer) else { continue }
        found.append(file)
        if file.imports.contains(.init(name: imported, kind: .public)) { names.append(importer) }
      }
    }
    return found
  }

  private func importerNames(of name: String) -> [String] {
    let names = try? core.withIndex { index in
      index.files.filter { file in
        let imports = try? DescriptorSetScanner.dependencies(of: file.bytes)
        return imports?.contains { $0.elementsEqual(name.utf8) } ?? false
      }.map { String(decoding: $0.name, as: UTF8.self) }
    }
    return names ?? []
  }
}

extension FileDeclaration {
  /// Whether the file refers to one of these types.
  fileprivate func uses(_ types: Set<String>) -> Bool {
    services.contains { $0.methods.contains { types.contains($0.input) || types.contains($0.output) } }
      || Self.use(types, extensions) || messages.contains { Self.uses(types, $0) }
  }

  private static func uses(_ types: Set<String>, _ message: MessageDeclaration) -> Bool {
    use(types, message.fields + message.extensions) || message.messages.contains { uses(types, $0) }
  }

  private static func use(_ types: Set<String>, _ fields: [FieldDeclaration]) -> Bool {
    fields.contains { types.contains($0.typeName) || $0.extendee.map(types.contains) ?? false }
  }
}
