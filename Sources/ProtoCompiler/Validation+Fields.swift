extension Linker {
  mutating func validateField(_ field: Handle) {
    let node = schema.fields[field]
    let site = fieldSite(field)
    let place = namePlace(Element(kind: .field, index: field))
    let edition = schema.files[file].edition
    checkFeatureSupport(node, at: place)
    if edition >= .edition2023 { validateFeatures(node, site, at: place) }
    if !node.declaration.options.isEmpty { validateOptions(node, site) }
    let container = node.extendee
    if schema.messages[container].isMessageSet {
      if !node.isExtension {
        error("MessageSets cannot have fields, only extensions.", at: place)
      } else if node.label != .optional || node.type != .message {
        error("Extensions of MessageSets must be optional messages.", at: site.typePlace)
      }
    }
    if schema.files[file].isLite, !schema.files[schema.messages[container].file].isLite {
      error(
        "Extensions to non-lite types can only be declared in non-lite files.  Note that you cannot extend a non-lite type to contain a lite type, but the reverse is allowed.",
        at: site.extendeePlace)
    }
    validateMap(node, site)
    if let range = site.jsonName {
      let name = tables.texts[range.range]
      let standard = names.withBytes(node.declaration.name) { JSONName.bytes($0) }
      if node.isExtension, !name.elementsEqual(standard) {
        error("option json_name is not allowed on extension fields.", at: site.jsonPlace)
      }
      if name.contains(0) { error("json_name cannot have embedded null characters.", at: site.jsonPlace) }
    }
    if node.isExtension { checkDeclaration(node, at: site.extendeePlace) }
  }

  private mutating func checkFeatureSupport(_ node: FieldNode, at place: Place) {
    guard node.hasFeatureSupport, let parent = featureSupport(node.declaration.options, 22) else { return }
    let name = fullName(node.declaration.symbol)
    if let problem = parent.problem(name) { return error(problem, at: place) }
    guard node.type == .enum else { return }
    var value = schema.enums[node.typeIndex].values.first
    while value != .none {
      let entry = schema.values[value]
      value = entry.next
      guard entry.hasFeatureSupport, let support = featureSupport(entry.declaration.options, 4, over: parent)
      else { continue }
      let valueName = fullName(entry.declaration.symbol)
      var problem = support.problem(valueName)
      if problem == nil, support.introduced < parent.introduced {
        problem = "value \(valueName) was introduced before \(name) was."
      }
      if problem == nil, let removed = parent.removed, support.removed ?? 0 > removed {
        problem = "value \(valueName) was removed after \(name) was."
      }
      if problem == nil, let deprecated = parent.deprecated, support.deprecated ?? 0 > deprecated {
        problem = "value \(valueName) was deprecated after \(name) was."
      }
      if let problem { return error(problem, at: place) }
    }
  }

  private func hasPresence(_ node: FieldNode) -> Bool {
    if node.label == .repeated { return false }
    return node.type.isMessage || node.isExtension || node.oneof != .none
      || node.declaration.features[.fieldPresence] != Features.implicit
  }

  private func isMap(_ node: FieldNode) -> Bool {
    node.type == .message && schema.messages[node.typeIndex].isMapEntry
  }

  private mutating func validateFeatures(_ node: FieldNode, _ site: FieldSite, at place: Place) {
    if hasOption(2, of: node.declaration.options) {
      error(
        "Field option packed is not allowed under editions.  Use the repeated_field_encoding feature to control this behavior.",
        at: place)
    }
    if node.label != .repeated, !hasPresence(node) {
      if site.defaultValue != nil { error("Implicit presence fields can't specify defaults.", at: place) }
      if node.type == .enum,
        schema.enums[node.typeIndex].declaration.features[.enumType] == Features.closed
      {
        error("Implicit presence enum fields must always be open.", at: place)
      }
    }
    let features = node.declaration.features
    if node.isExtension, features[.fieldPresence] == Features.legacyRequired {
      error("Extensions can't be required.", at: place)
    }
    if schema.messages[node.extendee].isMapEntry { return }
    let own =
      node.declaration.site == .none ? Features() : tables.sites[node.declaration.site].interpreted.features
    guard !own.isEmpty else { return }
    if own[.fieldPresence] != 0 { validatePresence(node, own, at: place) }
    if node.label != .repeated, own[.repeatedFieldEncoding] != 0 {
      error("Only repeated fields can specify repeated field encoding.", at: place)
    }
    if node.type != .string, !isStringMap(node), own[.utf8Validation] != 0 {
      error("Only string fields can specify utf8 validation.", at: place)
    }
    if node.label != .repeated || !node.type.isPackable, own[.repeatedFieldEncoding] == Features.packed {
      error("Only repeated primitive fields can specify PACKED repeated field encoding.", at: place)
    }
    if !node.type.isMessage || isMap(node), own[.messageEncoding] != 0 {
      error("Only message fields can specify message encoding.", at: place)
    }
  }

  private mutating func validatePresence(_ node: FieldNode, _ own: Features, at place: Place) {
    if node.oneof != .none {
      error("Oneof fields can't specify field presence.", at: place)
    } else if node.label == .repeated {
      error("Repeated fields can't specify field presence.", at: place)
    } else if node.isExtension, own[.fieldPresence] != Features.legacyRequired {
      error("Extensions can't specify field presence.", at: place)
    } else if node.type.isMessage, own[.fieldPresence] == Features.implicit {
      error("Message fields can't specify implicit presence.", at: place)
    }
  }

  private func isStringMap(_ node: FieldNode) -> Bool {
    guard isMap(node) else { return false }
    var field = schema.messages[node.typeIndex].fields.first
    while field != .none {
      if schema.fields[field].type == .string { return true }
      field = schema.fields[field].next
    }
    return false
  }

  private mutating func validateOptions(_ node: FieldNode, _ site: FieldSite) {
    let options = node.declaration.options
    if schema.files[file].edition >= .edition2024, hasOption(1, of: options) {
      error(
        "ctype option is not allowed under edition 2024 and beyond. Use the feature string_type = VIEW|CORD|STRING|... instead.",
        at: site.typePlace)
    }
    let isUnverifiedLazy = option(15, of: options) == 1
    if option(5, of: options) == 1 || isUnverifiedLazy {
      if node.type != .message {
        error("[lazy = true] can only be specified for submessage fields.", at: site.typePlace)
      }
      if isUnverifiedLazy, node.isExtension {
        error("Extensions cannot be marked as unverified_lazy.", at: site.typePlace)
      }
    }
    if option(2, of: options) == 1, node.label != .repeated || !node.type.isPackable {
      error("[packed = true] can only be specified for repeated primitive fields.", at: site.typePlace)
    }
  }

  private mutating func validateMap(_ node: FieldNode, _ site: FieldSite) {
    let jsType = option(6, of: node.declaration.options) ?? 0
    defer {
      if jsType != 0, node.type.valueType != .int64, node.type.valueType != .uint64 {
        error(
          "jstype is only allowed on int64, uint64, sint64, fixed64 or sfixed64 fields.", at: site.typePlace)
      }
    }
    guard node.type.isMessage, schema.messages[node.typeIndex].isMapEntry else { return }
    let entry = schema.messages[node.typeIndex]
    if node.label != .repeated || !isOwnEntry(node, entry) {
      error(
        "\(fullName(entry.declaration.symbol)) is a synthetic MapEntry message type, which is not allowed to be used as a field type.",
        at: site.typePlace)
    }
    guard entry.fields.count == 2 else { return }
    let key = schema.fields[entry.fields.first]
    switch key.type {
    case .enum: error("Key in map fields cannot be enum types.", at: site.typePlace)
    case .float, .double, .message, .group, .bytes:
      error("Key in map fields cannot be float/double, bytes or message types.", at: site.typePlace)
    default: break
    }
    let value = schema.fields[key.next]
    guard value.type == .enum, schema.enums[value.typeIndex].values.first != .none,
      schema.values[schema.enums[value.typeIndex].values.first].number != 0
    else { return }
    error("Enum value in map must define 0 as the first value.", at: site.typePlace)
  }

  /// Whether the entry was made for this field.
  private func isOwnEntry(_ node: FieldNode, _ entry: MessageNode) -> Bool {
    guard !node.isExtension, entry.parent == node.parent else { return false }
    let expected = names.withBytes(node.declaration.name) { bytes in
      var text = JSONName.bytes(bytes)
      if let first = text.first { text[0] = JSONName.uppercased(first) }
      return text + Array("Entry".utf8)
    }
    return names.withBytes(entry.declaration.name) { $0.elementsEqual(expected) }
  }
}
