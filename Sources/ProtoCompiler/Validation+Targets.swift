/// Checks that protoc makes only of the files that it is asked for, after all are compiled.
extension Linker {
  mutating func validateMainFile() {
    guard isMain else { return }
    validateOptionImports()
    let edition = schema.files[file].edition
    if edition > .newest, !fileName(file).hasPrefix("google/protobuf/") {
      deferredError(
        "The file uses edition \(edition.text), which is later than the maximum supported edition \(Edition.newest.text).",
        at: tables.syntaxPlace)
    }
    for element in order where element.kind == .field {
      let node = schema.fields[element.index]
      guard 19000...19999 ~= node.number else { continue }
      deferredError(
        "Field numbers 19000 through 19999 are reserved for the protocol buffer library implementation.",
        at: numberPlace(node.declaration))
    }
    for element in order {
      let declaration = schema.declaration(element)
      guard declaration.site != .none, tables.sites[declaration.site].interpreted.needsTargetCheck else {
        continue
      }
      let message = optionsMessage(element.kind)
      guard message != .none else { continue }
      let first = tables.sites[declaration.site].options.first
      let place = first == .none ? namePlace(element) : tables.options[first].namePlace
      let bytes = schema.optionBytes
      bytes.withUnsafeBufferPointer { bytes in
        checkTargets(message, bytes, declaration.options.range, element.kind, at: place, depth: 0)
      }
    }
  }

  private mutating func checkTargets(
    _ message: Handle, _ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, _ kind: Element.Kind,
    at place: Place,
    depth: Int
  ) {
    guard depth < 100 else { return }
    var seen: Set<Int32> = []
    for field in WireFields(bytes, range).sorted(by: { $0.number < $1.number }) {
      let index = schema.field(number: field.number, of: message)
      guard index != .none else { continue }
      let node = schema.fields[index]
      if node.hasTargets, seen.insert(field.number).inserted, !targets(node).contains(kind.target) {
        deferredError(
          "Option \(fullName(node.declaration.symbol)) cannot be set on an entity of type `\(kind.text)`.",
          at: place)
      }
      if node.type == .message, field.type == .length {
        checkTargets(node.typeIndex, bytes, field.content, kind, at: place, depth: depth + 1)
      }
    }
  }

  private func targets(_ field: FieldNode) -> [UInt64] {
    schema.optionBytes.withUnsafeBufferPointer { bytes in
      WireFields(bytes, field.declaration.options.range).filter { $0.number == 19 }.flatMap { entry in
        if entry.type == .varint { return [entry.value] }
        var found: [UInt64] = []
        var packed = WireFields(bytes, entry.content)
        while let value = packed.varint() { found.append(value) }
        return found
      }
    }
  }

  // MARK: Option imports

  /// An import for options only must not have an option that marks fields as secret.
  private mutating func validateOptionImports() {
    for entry in schema.files[file].imports where entry.isOption && entry.file != .none {
      guard let marker = redactionMarker(entry.file) else { continue }
      deferredError(
        "Option dependency \(names[entry.name]) contains a custom option \(marker) marked debug_redact, which is used to mark fields that need to be redacted in debug string APIs. Switch to a regular import or remove the debug_redact annotation to avoid potentially leaking sensitive data.",
        at: entry.place)
      return
    }
  }

  private func redactionMarker(_ imported: Handle) -> String? {
    var found: String?
    for field in schema.fields where field.file == imported && field.isExtension {
      var visited: Set<Handle> = []
      if hasRedaction(field, &visited) { found = fullName(field.declaration.symbol) }
    }
    return found
  }

  private func hasRedaction(_ field: FieldNode, _ visited: inout Set<Handle>) -> Bool {
    var queue = [field]
    while let next = queue.popLast() {
      if next.type == .enum {
        var value = schema.enums[next.typeIndex].values.first
        while value != .none {
          if option(3, of: schema.values[value].declaration.options) == 1 { return true }
          value = schema.values[value].next
        }
      } else if next.type.isMessage, visited.insert(next.typeIndex).inserted {
        var inner = schema.messages[next.typeIndex].fields.first
        while inner != .none {
          queue.append(schema.fields[inner])
          inner = schema.fields[inner].next
        }
      }
    }
    return false
  }
}

extension Element.Kind {
  /// `FieldOptions.OptionTargetType`
  fileprivate var target: UInt64 {
    switch self {
    case .file: 1
    case .range: 2
    case .message: 3
    case .field: 4
    case .oneof: 5
    case .enum: 6
    case .value: 7
    case .service: 8
    case .method: 9
    }
  }

  fileprivate var text: String {
    switch self {
    case .range: "extension range"
    case .value: "enum entry"
    default: "\(self)"
    }
  }
}
