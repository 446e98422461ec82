import RPCurlProtobuf

/// One of the schemas of a comparison: its declarations by name, without the files that are the same in both schemas.
final class SchemaContents {
  /// A declaration with the index of its file and its resolved features.
  struct Entry<Declared> {
    let declaration: Declared
    let file: Int
    let features: FeatureValues
  }

  /// What identifies an extension: extensions may change their names.
  struct ExtensionKey: Hashable {
    let extendee: String
    let number: Int32
  }

  /// What the rules of FILE compare: a declaration without the package of its file.
  struct FileMember: Hashable {
    enum Kind: String {
      case message, service
      case enumeration = "enum"
      case `extension` = "extension"
    }

    let kind: Kind
    let name: String

    init(_ kind: Kind, _ fullName: String, in package: String) {
      self.kind = kind
      name = package.isEmpty ? fullName : String(fullName.dropFirst(package.count + 1))
    }
  }

  /// A file before it is read.
  struct Outline {
    let name: String
    let package: String
    /// The descriptor without comments and places of declarations.
    let bytes: [UInt8]
  }

  /// The files that differ, by name.
  private(set) var files: [FileDeclaration] = []
  private(set) var fileIndices: [String: Int] = [:]
  /// The packages of all files.
  let packages: Set<String>
  private(set) var messages: [String: Entry<MessageDeclaration>] = [:]
  private(set) var enums: [String: Entry<EnumDeclaration>] = [:]
  private(set) var services: [String: Entry<ServiceDeclaration>] = [:]
  private(set) var extensions: [ExtensionKey: Entry<FieldDeclaration>] = [:]
  /// The files of extensions, by full name.
  private(set) var extensionFiles: [String: Int] = [:]
  private let pool: DescriptorPool
  /// Enums that were looked up, each with the numbers of its names.
  private var known: [String: (declaration: EnumDeclaration, numbers: [String: Int32])?] = [:]

  /// Reads the files of a schema.
  ///
  /// - Parameters:
  ///   - pool: The schema.
  ///   - outlines: The files to compare.
  ///   - same: The names of the files that are not read, because they are the same in the other schema.
  init(
    _ pool: DescriptorPool, _ outlines: [Outline], without same: Set<String>
  ) throws(SchemaError) {
    self.pool = pool
    packages = Set(outlines.map(\.package))
    for outline in outlines.sorted(by: { $0.name < $1.name }) where !same.contains(outline.name) {
      guard let file = try pool.file(named: outline.name) else { continue }
      fileIndices[outline.name] = files.count
      add(file)
    }
  }

  /// The files of a pool.
  static func outlines(of pool: DescriptorPool) throws(SchemaError) -> [Outline] {
    try pool.core.withIndex { index in
      index.files.map { file in
        Outline(
          name: String(decoding: file.name, as: UTF8.self),
          package: String(decoding: file.package, as: UTF8.self),
          bytes: withoutSourceInfo(file.bytes))
      }
    }
  }

  /// The names of the files that are the same in both schemas, with all that they import: the default of a field depends
  /// on its enum, which another file may contain.
  static func same(_ old: [Outline], _ new: [Outline]) -> Set<String> {
    let others = Dictionary(new.map { ($0.name, $0.bytes) }) { first, _ in first }
    var importers: [String: [String]] = [:]
    for file in old {
      for name in FileOutline(serialized: file.bytes)?.imports ?? [] {
        importers[name, default: []].append(file.name)
      }
    }
    var same = Set(old.map(\.name))
    var changed = old.filter { others[$0.name] != $0.bytes }.map(\.name)
    while let name = changed.popLast() {
      if same.remove(name) != nil { changed += importers[name] ?? [] }
    }
    return same
  }

  /// A serialized file without `source_code_info`, which only some compilers write.
  private static func withoutSourceInfo(_ file: UnsafeRawBufferPointer) -> [UInt8] {
    let file = Array(file)
    guard let records = try? WireRecord.all(in: file[...]) else { return file }
    return records.filter { $0.number != 9 }.flatMap(\.whole)
  }

  private func add(_ file: FileDeclaration) {
    let index = files.count
    files.append(file)
    let features = FeatureValues(file.syntax).overridden(by: file.options, of: .file)
    for message in file.messages { add(message, index, features) }
    for type in file.enums { add(type, index, features) }
    for field in file.extensions { add(field, index, features) }
    for service in file.services where services[service.fullName] == nil {
      services[service.fullName] = Entry(declaration: service, file: index, features: features)
    }
  }

  /// Adds a message and what is nested in it, which the reader of declarations limits in depth.
  private func add(_ message: MessageDeclaration, _ file: Int, _ outer: FeatureValues) {
    let features = outer.overridden(by: message.options, of: .message)
    if messages[message.fullName] == nil {
      messages[message.fullName] = Entry(declaration: message, file: file, features: features)
    }
    for nested in message.messages { add(nested, file, features) }
    for type in message.enums { add(type, file, features) }
    for field in message.extensions { add(field, file, features) }
  }

  private func add(_ type: EnumDeclaration, _ file: Int, _ outer: FeatureValues) {
    guard enums[type.fullName] == nil else { return }
    let features = outer.overridden(by: type.options, of: .enumeration)
    enums[type.fullName] = Entry(declaration: type, file: file, features: features)
  }

  private func add(_ field: FieldDeclaration, _ file: Int, _ outer: FeatureValues) {
    extensionFiles[field.fullName] = extensionFiles[field.fullName] ?? file
    let key = ExtensionKey(extendee: field.extendee ?? "", number: field.number)
    if extensions[key] == nil { extensions[key] = Entry(declaration: field, file: file, features: outer) }
  }

  /// Where the declarations of a file are.
  func places(ofFile index: Int) throws(SchemaError) -> SourcePlaces {
    let bytes = try pool.serialized(file: files[index].name)?.0
    return SourcePlaces(files[index], serialized: bytes ?? [])
  }

  /// The index of the file that declares a message, an enum, a service or an extension; nil if no file that was read does.
  func file(of name: String) -> Int? {
    messages[name]?.file ?? enums[name]?.file ?? services[name]?.file ?? extensionFiles[name]
  }

  /// The declarations of a file, nested ones too, by their names without the package.
  func members(ofFile index: Int) -> Set<FileMember> {
    var members: Set<FileMember> = []
    let file = files[index]
    func add(_ message: MessageDeclaration) {
      members.insert(FileMember(.message, message.fullName, in: file.package))
      add(message.enums, message.extensions)
      message.messages.forEach(add)
    }
    func add(_ enums: [EnumDeclaration], _ extensions: [FieldDeclaration]) {
      for type in enums { members.insert(FileMember(.enumeration, type.fullName, in: file.package)) }
      for field in extensions { members.insert(FileMember(.extension, field.fullName, in: file.package)) }
    }
    file.messages.forEach(add)
    add(file.enums, file.extensions)
    for service in file.services {
      members.insert(FileMember(.service, service.fullName, in: file.package))
    }
    return members
  }

  // MARK: Enums of fields

  /// An enum of any file, with the numbers of its names; nil if no source has it.
  func enumeration(named name: String) -> (declaration: EnumDeclaration, numbers: [String: Int32])? {
    if let found = known[name] { return found }
    var declared = enums[name]?.declaration
    if declared == nil, case .enumeration(let type)? = try? pool.declaration(named: name)?.declaration {
      declared = type
    }
    let found: (declaration: EnumDeclaration, numbers: [String: Int32])? = declared.map { type in
      (type, Dictionary(type.values.map { ($0.name, $0.number) }) { first, _ in first })
    }
    known[name] = .some(found)
    return found
  }
}
