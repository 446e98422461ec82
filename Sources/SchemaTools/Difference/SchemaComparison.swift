import RPCurlProtobuf

/// Compares two schemas by the rules of `buf breaking`.
///
/// Messages, enums and services are the same declaration in both schemas if they have the same full name, fields and
/// enum values if they have the same number, methods if they have the same name, and files if they have the same name.
package struct SchemaComparison {
  let old: SchemaContents
  let new: SchemaContents
  private let rules: Set<Rule>
  private var found: [SchemaFinding] = []
  /// Whether an enum contains another one, by both names.
  private var compatibleEnums: [String: Bool] = [:]

  /// The differences of two schemas: broken rules, and compatible additions.
  ///
  /// - Parameters:
  ///   - old: The schema in use.
  ///   - new: The schema that replaces it.
  ///   - rules: The rules to apply.
  /// - Returns: The differences, sorted by file, then in the order of the declarations.
  /// - Throws: ``SchemaError`` for a malformed file.
  package static func findings(
    from old: DescriptorPool, to new: DescriptorPool, rules: Set<Rule>
  ) throws(SchemaError) -> [SchemaFinding] {
    try findings(old, new, rules) { _, _ in true }
  }

  /// The differences of two schemas, without what every schema may have, such as the well-known types, and without files
  /// that one of the schemas imports and does not contain. A built-in file stands in for one that a schema does not contain.
  package static func findings(
    ofAPI old: DescriptorPool, _ new: DescriptorPool, rules: Set<Rule>
  ) throws(SchemaError) -> [SchemaFinding] {
    let (before, after) = (Set(ownFiles(old)), Set(ownFiles(new)))
    let missing = try imports(old).subtracting(before).union(imports(new).subtracting(after))
    return try findings(old, new, rules) { file, pool in
      !isBuiltIn(file.package) && !missing.contains(file.name)
        && (pool === old ? before : after).contains(file.name)
    }
  }

  private static func findings(
    _ old: DescriptorPool, _ new: DescriptorPool, _ rules: Set<Rule>,
    where isCompared: (SchemaContents.Outline, DescriptorPool) -> Bool
  ) throws(SchemaError) -> [SchemaFinding] {
    let before = try SchemaContents.outlines(of: old)
    let after = try SchemaContents.outlines(of: new)
    let same = SchemaContents.same(before, after)
    var comparison = SchemaComparison(
      old: try SchemaContents(old, before.filter { isCompared($0, old) }, without: same),
      new: try SchemaContents(new, after.filter { isCompared($0, new) }, without: same),
      rules: rules)
    comparison.compareFiles()
    comparison.addNew()
    // The order within a file is that of its declarations.
    comparison.found = comparison.found.enumerated()
      .sorted { ($0.element.file, $0.offset) < ($1.element.file, $1.offset) }.map(\.element)
    try comparison.addSides()
    return comparison.found
  }

  /// Adds where the findings are in both schemas.
  private mutating func addSides() throws(SchemaError) {
    var known: [Int: SourcePlaces] = [:]
    func side(
      _ names: [String], _ rule: Rule?, in file: Int, _ contents: SchemaContents
    ) throws(SchemaError) -> SchemaFinding.Side {
      let places = if let found = known[file] { found } else { try contents.places(ofFile: file) }
      known[file] = places
      return SchemaFinding.Side(
        file: contents.files[file].name, package: contents.files[file].package,
        place: places.place(of: names, rule))
    }
    for (index, finding) in found.enumerated() {
      guard let file = new.fileIndices[finding.file] else { continue }
      // A removed field may have its name from another number.
      let names = [finding.symbol] + finding.others
      let scope = [SourcePlaces.scope(of: finding.symbol) ?? ""]
      found[index].new = try side(
        finding.rule?.isRemoval == true ? scope : names, finding.rule, in: file, new)
    }
    known = [:]
    for (index, finding) in found.enumerated() {
      guard let rule = finding.rule else { continue }
      // The old names are first.
      let names = finding.others + [finding.symbol]
      let declaring = names.compactMap { SourcePlaces.enclosing($0, old.file(of:)) }.first
      guard let file = rule.isOfFile ? old.fileIndices[finding.file] : declaring else { continue }
      found[index].old = try side(names, rule, in: file, old)
    }
  }

  private static func isBuiltIn(_ package: String) -> Bool {
    package == "google.protobuf" || package.hasPrefix("google.protobuf.")
      || WellKnownSchemas.servicePackages.contains(package)
  }

  /// The files that a schema contains.
  private static func ownFiles(_ pool: DescriptorPool) -> [String] {
    pool.fileNames(exceptOf: WellKnownSchemas.sourceName)
  }

  /// The files that a schema contains, and all that they import.
  private static func imports(_ pool: DescriptorPool) throws(SchemaError) -> Set<String> {
    let found = try pool.importedFiles(ofFiles: ownFiles(pool))
    return Set(found.names + found.missingImports)
  }

  private init(old: SchemaContents, new: SchemaContents, rules: Set<Rule>) {
    self.old = old
    self.new = new
    self.rules = rules
  }

  // MARK: Findings

  /// Records that the new schema breaks a rule, if the rule is applied.
  mutating func report(
    _ rule: Rule, _ file: String, _ symbol: String, _ text: String, others: [String] = []
  ) {
    guard rules.contains(rule) else { return }
    found.append(SchemaFinding(rule: rule, file: file, symbol: symbol, text: text, others: others))
  }

  /// Records a compatible addition.
  private mutating func add(_ file: Int, _ symbol: String, _ text: String) {
    found.append(SchemaFinding(rule: nil, file: new.files[file].name, symbol: symbol, text: text))
  }

  /// The names of files.
  func oldFile(_ index: Int) -> String { old.files[index].name }
  func newFile(_ index: Int) -> String { new.files[index].name }

  /// Records that a file no longer declares what it declared.
  private mutating func reportMoved(_ rule: Rule, _ member: FileMember, _ fullName: String, _ file: OldFile) {
    guard let remaining = file.remaining, !remaining.contains(member) else { return }
    let name = oldFile(file.index)
    let other = new.file(of: fullName).map(newFile)
    let kind = member.kind.rawValue
    report(
      rule, name, fullName,
      other == nil || other == name
        ? "\(kind) \(fullName) was removed from \(name)"
        : "\(kind) \(fullName) moved from \(name) to \(other ?? "")")
  }

  /// The full names of the declarations of a file.
  static func names(of file: FileDeclaration) -> [String] {
    file.messages.map(\.fullName) + file.enums.map(\.fullName) + file.services.map(\.fullName)
      + file.extensions.map(\.fullName)
  }

  // MARK: Declarations of the old schema

  private typealias FileMember = SchemaContents.FileMember

  /// An old file.
  private struct OldFile {
    let index: Int
    let package: String
    /// Whether the new schema has no file of its package.
    let isPackageGone: Bool
    /// The declarations of the new file of that name; nil if there is none.
    let remaining: Set<FileMember>?
  }

  private mutating func compareFiles() {
    var gone: Set<String> = []
    for (index, file) in old.files.enumerated() {
      let counterpart = new.fileIndices[file.name]
      if let counterpart {
        compareFile(file, new.files[counterpart])
      } else {
        report(
          .fileNoDelete, file.name, file.package, "file \(file.name) was removed",
          others: Self.names(of: file))
      }
      if !new.packages.contains(file.package), gone.insert(file.package).inserted {
        report(
          .packageNoDelete, file.name, file.package, "package \(file.package) was removed",
          others: old.files.filter { $0.package == file.package }.flatMap(Self.names))
      }
      let context = OldFile(
        index: index, package: file.package, isPackageGone: gone.contains(file.package),
        remaining: counterpart.map { new.members(ofFile: $0) })
      for message in file.messages { compare(message, context) }
      compareMembers(file.enums, file.extensions, context)
      for service in file.services {
        let name = service.fullName
        if let other = new.services[name] {
          compareService(service, other)
        } else if !context.isPackageGone {
          report(.packageServiceNoDelete, file.name, name, "service \(name) was removed")
        }
        reportMoved(.serviceNoDelete, FileMember(.service, name, in: file.package), name, context)
      }
    }
  }

  /// Compares a message and what is nested in it.
  private mutating func compare(_ message: MessageDeclaration, _ file: OldFile) {
    let name = message.fullName
    if let before = old.messages[name], let after = new.messages[name] {
      compareMessage(before, after)
    } else if !file.isPackageGone {
      report(.packageMessageNoDelete, oldFile(file.index), name, "message \(name) was removed")
    }
    reportMoved(.messageNoDelete, FileMember(.message, name, in: file.package), name, file)
    for nested in message.messages { compare(nested, file) }
    compareMembers(message.enums, message.extensions, file)
  }

  private mutating func compareMembers(
    _ enums: [EnumDeclaration], _ extensions: [FieldDeclaration], _ file: OldFile
  ) {
    for type in enums {
      let name = type.fullName
      if let before = old.enums[name], let after = new.enums[name] {
        compareEnum(before, after)
      } else if !file.isPackageGone {
        report(.packageEnumNoDelete, oldFile(file.index), name, "enum \(name) was removed")
      }
      reportMoved(.enumNoDelete, FileMember(.enumeration, name, in: file.package), name, file)
    }
    for field in extensions {
      let key = SchemaContents.ExtensionKey(extendee: field.extendee ?? "", number: field.number)
      if let before = old.extensions[key], let after = new.extensions[key] {
        compareField(FieldSide(before, old), FieldSide(after, new), of: "")
      }
      let name = field.fullName
      if !file.isPackageGone, new.extensionFiles[name] == nil {
        report(.packageExtensionNoDelete, oldFile(file.index), name, "extension \(name) was removed")
      }
      reportMoved(.extensionNoDelete, FileMember(.extension, name, in: file.package), name, file)
    }
  }

  // MARK: Additions

  private mutating func addNew() {
    for (index, file) in new.files.enumerated() {
      for message in file.messages { addNew(message, index) }
      addNew(file.enums, file.extensions, index)
      for service in file.services {
        guard let before = old.services[service.fullName] else {
          add(index, service.fullName, "service \(service.fullName) was added")
          continue
        }
        let names = Set(before.declaration.methods.map(\.name))
        for method in service.methods where !names.contains(method.name) {
          add(index, method.path, "service \(service.fullName): method \(method.name) was added")
        }
      }
    }
  }

  private mutating func addNew(_ message: MessageDeclaration, _ file: Int) {
    guard !message.isMapEntry else { return }
    guard let before = old.messages[message.fullName] else {
      return add(file, message.fullName, "message \(message.fullName) was added")
    }
    let numbers = Set(before.declaration.fields.map(\.number))
    let entry = new.messages[message.fullName]
    for field in message.fields where !numbers.contains(field.number) {
      // A required field is not compatible.
      if let entry, FieldSide(field, of: entry, new).isRequired { continue }
      add(
        file, field.fullName, "message \(message.fullName): field \(field.number) \"\(field.name)\" was added"
      )
    }
    for nested in message.messages { addNew(nested, file) }
    addNew(message.enums, message.extensions, file)
  }

  private mutating func addNew(_ enums: [EnumDeclaration], _ extensions: [FieldDeclaration], _ file: Int) {
    for type in enums {
      guard let before = old.enums[type.fullName] else {
        add(file, type.fullName, "enum \(type.fullName) was added")
        continue
      }
      let names = Set(before.declaration.values.map(\.name))
      let numbers = Set(before.declaration.values.map(\.number))
      for value in type.values where !names.contains(value.name) && !numbers.contains(value.number) {
        let text = "enum \(type.fullName): value \(value.number) \"\(value.name)\" was added"
        add(file, "\(type.fullName).\(value.name)", text)
      }
    }
    for field in extensions where old.extensionFiles[field.fullName] == nil {
      let key = SchemaContents.ExtensionKey(extendee: field.extendee ?? "", number: field.number)
      if old.extensions[key] == nil { add(file, field.fullName, "extension \(field.fullName) was added") }
    }
  }

  // MARK: Enums of fields

  /// Whether a field may change its enum: to one with the same short name and at least the same values.
  mutating func isCompatible(enum name: String, with other: String) -> Bool {
    let key = "\(name) \(other)"
    if let known = compatibleEnums[key] { return known }
    var isCompatible = false
    if let before = old.enumeration(named: name), let after = new.enumeration(named: other),
      before.declaration.name == after.declaration.name
    {
      isCompatible = before.numbers.allSatisfy { after.numbers[$0.key] == $0.value }
    }
    compatibleEnums[key] = isCompatible
    return isCompatible
  }
}
