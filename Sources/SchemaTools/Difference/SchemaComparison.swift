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
    try comparison.addPlaces()
    return comparison.found
  }

  /// Adds the places of the findings in the new schema, or in the old one if the new one has no such file.
  private mutating func addPlaces() throws(SchemaError) {
    var (file, places) = ("", SourcePlaces?.none)
    for (index, finding) in found.enumerated() {
      if finding.file != file {
        file = finding.file
        places = try new.places(ofFile: file)
        if places == nil { places = try old.places(ofFile: file) }
      }
      found[index].place = places?.place(of: finding.symbol)
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

  /// The full names of the declarations of a file.
  static func names(of file: FileDeclaration) -> [String] {
    file.messages.map(\.fullName) + file.enums.map(\.fullName) + file.services.map(\.fullName)
      + file.extensions.map(\.fullName)
  }

  // MARK: Declarations of the old schema

  private mutating func compareFiles() {
    var gone: Set<String> = []
    for (index, file) in old.files.enumerated() {
      if let number = new.fileIndices[file.name] { compareFile(file, new.files[number]) }
      if !new.packages.contains(file.package), gone.insert(file.package).inserted {
        report(
          .packageNoDelete, file.name, file.package, "package \(file.package) was removed",
          others: old.files.filter { $0.package == file.package }.flatMap(Self.names))
      }
      let isGone = gone.contains(file.package)
      for message in file.messages { compare(message, index, isGone: isGone) }
      compareMembers(file.enums, file.extensions, index, isGone: isGone)
      for service in file.services {
        if let other = new.services[service.fullName] {
          compareService(service, other)
        } else if !isGone {
          report(
            .packageServiceNoDelete, file.name, service.fullName, "service \(service.fullName) was removed")
        }
      }
    }
  }

  /// Compares a message and what is nested in it.
  private mutating func compare(_ message: MessageDeclaration, _ file: Int, isGone: Bool) {
    if let before = old.messages[message.fullName], let after = new.messages[message.fullName] {
      compareMessage(before, after)
    } else if !isGone {
      report(
        .packageMessageNoDelete, oldFile(file), message.fullName, "message \(message.fullName) was removed")
    }
    for nested in message.messages { compare(nested, file, isGone: isGone) }
    compareMembers(message.enums, message.extensions, file, isGone: isGone)
  }

  private mutating func compareMembers(
    _ enums: [EnumDeclaration], _ extensions: [FieldDeclaration], _ file: Int, isGone: Bool
  ) {
    for type in enums {
      if let before = old.enums[type.fullName], let after = new.enums[type.fullName] {
        compareEnum(before, after)
      } else if !isGone {
        report(.packageEnumNoDelete, oldFile(file), type.fullName, "enum \(type.fullName) was removed")
      }
    }
    for field in extensions {
      let key = SchemaContents.ExtensionKey(extendee: field.extendee ?? "", number: field.number)
      if let before = old.extensions[key], let after = new.extensions[key] {
        compareField(FieldSide(before, old), FieldSide(after, new), of: "")
      }
      if !isGone, !new.extensionNames.contains(field.fullName) {
        report(
          .packageExtensionNoDelete, oldFile(file), field.fullName, "extension \(field.fullName) was removed")
      }
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
    for field in extensions where !old.extensionNames.contains(field.fullName) {
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
