/// Options with a text, a truth value or a name that most files have. They are written without the types of options, which take longer to
/// read than a small file to compile.
enum SimpleOptions {
  struct Entry {
    var number: Int32
    /// The names of the values, which are numbers from 0; nil for a text.
    var values: [String]?
  }

  /// The option with a name; nil if the types of options are needed.
  static func entry(_ kind: Element.Kind, _ name: String) -> Entry? {
    func text(_ number: Int32) -> Entry { Entry(number: number) }
    func truth(_ number: Int32) -> Entry { Entry(number: number, values: ["false", "true"]) }
    return switch (kind, name) {
    case (.file, "java_package"): text(1)
    case (.file, "java_outer_classname"): text(8)
    case (.file, "optimize_for"): Entry(number: 9, values: ["", "SPEED", "CODE_SIZE", "LITE_RUNTIME"])
    case (.file, "java_multiple_files"): truth(10)
    case (.file, "go_package"): text(11)
    case (.file, "cc_enable_arenas"): truth(31)
    case (.file, "objc_class_prefix"): text(36)
    case (.file, "csharp_namespace"): text(37)
    case (.file, "swift_prefix"): text(39)
    case (.file, "php_class_prefix"): text(40)
    case (.file, "php_namespace"): text(41)
    case (.file, "php_metadata_namespace"): text(44)
    case (.file, "ruby_package"): text(45)
    case (.field, "packed"), (.enum, "allow_alias"): truth(2)
    case (.field, "deprecated"), (.message, "deprecated"), (.enum, "deprecated"): truth(3)
    case (.value, "deprecated"): truth(1)
    case (.method, "idempotency_level"):
      Entry(number: 34, values: ["IDEMPOTENCY_UNKNOWN", "NO_SIDE_EFFECTS", "IDEMPOTENT"])
    case (.service, "deprecated"), (.method, "deprecated"): truth(33)
    default: nil
    }
  }
}

extension Linker {
  /// Whether no option of the file needs the types of options.
  func hasSimpleOptions() -> Bool {
    guard schema.files[file].edition <= .edition2023 else { return false }
    return optionOwners.allSatisfy { owner in
      var option = tables.sites[schema.declaration(owner).site].options.first
      while option != .none {
        guard simpleField(tables.options[option], owner.kind) != nil else { return false }
        option = tables.options[option].next
      }
      return true
    }
  }

  /// Declares the types of options where no file does, for the options that the language itself has.
  mutating func readOptionTypes() {
    guard let descriptor = BundledFiles.descriptor(Linker.descriptorFile) else { return }
    let index = schema.files.nextIndex
    schema.files.append(FileNode(name: names.intern(Linker.descriptorFile)))
    DescriptorReader.read(descriptor, index, root: Schema.hiddenRoot, &names, &schema)
  }

  private func simpleField(_ node: OptionNode, _ kind: Element.Kind) -> SimpleOptions.Entry? {
    guard node.partCount == 1 else { return nil }
    let part = tables.nameParts[node.firstPart]
    guard !part.isExtension, let entry = SimpleOptions.entry(kind, tables.text(part.reference, names)) else {
      return nil
    }
    switch node.value {
    case .string where entry.values == nil: return entry
    case .identifier(let name) where !names[name].isEmpty && entry.values?.contains(names[name]) == true:
      return entry
    default: return nil
    }
  }

  /// Writes an option without its type. False after an error.
  mutating func writeSimple(_ option: Handle, _ node: OptionNode, _ owner: Element) -> Bool {
    guard let entry = simpleField(node, owner.kind) else { return true }
    var earlier = tables.sites[schema.declaration(owner).site].options.first
    while earlier != option, earlier != .none {
      if tables.paths[Int32(tables.options[earlier].path.start)] == entry.number {
        error("Option \"\(optionName(node, upTo: node.firstPart))\" was already set.", at: node.namePlace)
        return false
      }
      earlier = tables.options[earlier].next
    }
    writer.removeAll()
    switch node.value {
    case .string(let range):
      tables.texts.withUnsafeBufferPointer {
        writer.field(entry.number, bytes: UnsafeBufferPointer(rebasing: $0[range.range]))
      }
    case .identifier(let name):
      writer.field(entry.number, varint: UInt64(entry.values?.firstIndex(of: names[name]) ?? 0))
    default: break
    }
    record(option, path: [entry.number])
    return true
  }
}
