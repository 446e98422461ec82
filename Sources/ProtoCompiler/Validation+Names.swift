import RPCurlBase
import RPCurlProtobuf

extension Linker {
  /// Checks that names have the style of the edition.
  mutating func validateNames() {
    guard !schema.files[file].edition.isLegacy else { return }
    for element in order {
      let declaration = schema.declaration(element)
      let style = declaration.features[.namingStyle]
      guard style == Features.style2024 || style == Features.style2026 else { continue }
      let place = namePlace(element)
      switch element.kind {
      case .file:
        guard schema.files[file].package != Schema.root else { continue }
        checkStyle("Package", fullName(schema.files[file].package), .lowerSnake, at: place)
      case .message: checkStyle("Message", names[declaration.name], .title, at: place)
      case .enum: checkStyle("Enum", names[declaration.name], .title, at: place)
      case .service: checkStyle("Service", names[declaration.name], .title, at: place)
      case .method: checkStyle("Method", names[declaration.name], .title, at: place)
      case .value: checkStyle("Enum value", names[declaration.name], .upperSnake, at: place)
      case .oneof:
        checkStyle("Oneof", names[declaration.name], .lowerSnake, at: place)
        if style == Features.style2026 {
          checkCollisions(
            "Oneof", names[declaration.name], in: schema.oneofs[element.index].message, at: place)
        }
      case .field:
        checkStyle("Field", names[declaration.name], .lowerSnake, at: place)
        if style == Features.style2026 {
          checkCollisions(
            "Field", names[declaration.name], in: schema.fields[element.index].extendee, at: place)
        }
      case .range: break
      }
    }
  }

  private mutating func checkStyle(_ kind: String, _ name: String, _ style: NameStyle, at place: Place) {
    guard let problem = style.problem(with: name) else { return }
    error(
      "\(kind) name \(name) \(problem) (features.enforce_naming_style = STYLE_LEGACY can be used to opt out of this check)",
      at: place)
  }

  /// Checks for names of accessors in generated code.
  private mutating func checkCollisions(_ kind: String, _ name: String, in message: Handle, at place: Place) {
    var problem: String?
    for prefix in ["has_", "get_", "set_", "clear_"] where problem == nil && name.hasPrefix(prefix) {
      let rest = String(name.dropFirst(prefix.count))
      if isMember(rest, of: message) {
        problem =
          "should not begin with \(prefix) if a field named \(rest) exists. This can cause collisions in generated code."
      }
    }
    if problem == nil, name.hasSuffix("_value") {
      let rest = String(name.dropLast(6))
      if isMember(rest, of: message) {
        problem =
          "should not end with _value if a field named \(rest) exists. This can cause collisions in generated code."
      }
    }
    if problem == nil, name == "descriptor" {
      problem = "should not be named descriptor. This can cause collisions in generated code."
    }
    guard let problem else { return }
    error(
      "\(kind) name \(name) \(problem) (features.enforce_naming_style = STYLE2024 can be used to opt out of this check)",
      at: place)
  }

  private mutating func isMember(_ name: String, of message: Handle) -> Bool {
    let symbol = schema.member(names.intern(name), of: schema.messages[message].declaration.symbol)
    guard symbol != .none else { return false }
    switch schema.symbols[symbol].kind {
    case .oneof: return true
    case .field: return !schema.fields[schema.symbols[symbol].index].isExtension
    default: return false
    }
  }

  // MARK: Limits

  /// Checks that declarations are not larger than the edition allows.
  mutating func validateLimits() {
    guard !schema.files[file].edition.isLegacy else { return }
    for element in order where schema.declaration(element).features[.protoLimits] == Features.limits2026 {
      switch element.kind {
      case .message:
        let node = schema.messages[element.index]
        checkLimit("Message", element, Int(node.fields.count), 1500, "fields")
        checkLimit("Message", element, Int(node.oneofs.count), 1000, "oneofs")
      case .oneof: checkLimit("Oneof", element, Int(schema.oneofs[element.index].fields), 1200, "fields")
      case .enum: checkLimit("Enum", element, Int(schema.enums[element.index].values.count), 1700, "values")
      default: break
      }
    }
  }

  private mutating func checkLimit(
    _ kind: String, _ element: Element, _ count: Int, _ limit: Int, _ what: String
  ) {
    guard count > limit else { return }
    error(
      "\(kind) name \(names[schema.declaration(element).name]) should not contain more than \(limit) \(what) (features.enforce_proto_limits = LEGACY_NO_EXPLICIT_LIMITS can be used to opt out of this check)",
      at: namePlace(element))
  }

  // MARK: Visibility

  /// Checks that nested messages and enums are not exported where the file is strict.
  mutating func validateVisibility() {
    guard !schema.files[file].edition.isLegacy else { return }
    for kind in [Element.Kind.message, .enum] {
      for element in order where element.kind == kind {
        let isMessage = kind == .message
        let parent = isMessage ? schema.messages[element.index].parent : schema.enums[element.index].parent
        let visibility =
          isMessage ? schema.messages[element.index].visibility : schema.enums[element.index].visibility
        let declaration = schema.declaration(element)
        guard parent != .none, visibility == .export,
          declaration.features[.symbolVisibility] == Features.strict,
          isMessage || !isNamespace(parent)
        else { continue }
        let name = fullName(declaration.symbol)
        error(
          isMessage
            ? "\"\(name)\" is a nested message and cannot be `export` with STRICT default_symbol_visibility. It must be moved to top-level, ideally in its own file in order to be `export`."
            : "\"\(name)\" is a nested enum and cannot be marked `export` with STRICT default_symbol_visibility. It must be moved to top-level, ideally in its own file in order to be `export`. For C++ namespacing of enums in a messages use: `local message <OuterNamespace> { export enum \(name) {...} reserved 1 to max; }`",
          at: namePlace(element))
      }
    }
  }

  /// Whether a message only contains enums: it is local, at the top, and reserves all numbers.
  private func isNamespace(_ message: Handle) -> Bool {
    let node = schema.messages[message]
    guard node.parent == .none, node.reservedRanges.count == 1 else { return false }
    let isStrict = [Features.strict, Features.localAll].contains(
      schema.files[file].declaration.features[.symbolVisibility])
    guard node.visibility == .local || node.visibility == .unset && isStrict else { return false }
    let range = schema.ranges[node.reservedRanges.first]
    return range.start == 1 && range.end == Parser.maxNumber + 1
  }

  // MARK: Imports

  mutating func warnAboutUnusedImports() {
    guard isMain else { return }
    for entry in schema.files[file].imports where entry.file != .none && !entry.isPublic {
      let hasPublic = schema.files[entry.file].imports.contains { $0.isPublic }
      if !hasPublic, !reach.uses(entry.file, file) {
        warning("Import \(names[entry.name]) is unused.", at: entry.place)
      }
    }
  }

  // MARK: Hints

  /// The fields of a message, or the extensions of it, with similar names.
  func optionHint(_ container: Handle, _ part: NamePart) -> String? {
    let text = tables.text(part.reference, names)
    let wanted = text.split(separator: ".").last.map(String.init) ?? text
    var candidates: [String: String] = [:]
    if part.isExtension {
      for (index, symbol) in zip(Handle(0)..., schema.symbols) where symbol.kind == .field {
        let field = schema.fields[symbol.index]
        guard field.isExtension, field.extendee == container, reach.sees(symbol.file, from: file) else {
          continue
        }
        candidates[names[symbol.name]] = "(\(fullName(index)))"
      }
    } else {
      var field = schema.messages[container].fields.first
      while field != .none {
        let name = names[schema.fields[field].declaration.name]
        candidates[name] = name
        field = schema.fields[field].next
      }
    }
    let near = EditDistance.nearest(to: wanted, among: candidates.keys.sorted(), limit: 3).compactMap {
      candidates[$0]
    }
    return near.isEmpty ? nil : "did you mean \(near.joined(separator: ", or "))?"
  }
}
