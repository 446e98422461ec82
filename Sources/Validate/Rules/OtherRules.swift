import RPCurlProtobuf

/// The rules of the other types.
enum OtherRules {
  /// Compiles `buf.validate.BoolRules`.
  static func bool(_ options: WireFields) -> [Rule] {
    guard let bits = options.bits(1) else { return [] }
    return [
      Rule("bool.const", "must equal \(bits != 0)", demanding: .anyOf([.bool(bits != 0)])) {
        $0 == .bool(bits != 0)
      }
    ]
  }

  /// Compiles `buf.validate.EnumRules`.
  static func enumeration(_ options: WireFields, _ type: EnumType?) -> [Rule] {
    var rules: [Rule] = []
    if let bits = options.bits(1) {
      let constant = Int32(truncatingIfNeeded: bits)
      rules.append(
        Rule("enum.const", "must equal \(constant)", demanding: .anyOf([.number("\(constant)")])) {
          $0 == .enum(constant)
        })
    }
    if options.flag(2), let type {
      let numbers = Set(type.values.map(\.number))
      rules.append(
        Rule("enum.defined_only", "value must be one of the defined enum values") { value in
          guard case .enum(let number) = value else { return true }
          return numbers.contains(number)
        })
    }
    for (number, id, isIn) in [(3, "in", true), (4, "not_in", false)] {
      let list = Ordinal.list(options.all(UInt32(number)), .enumeration)
      guard !list.isEmpty else { continue }
      let text = list.map { $0.text(.number) }.joined(separator: ", ")
      rules.append(
        Rule(
          "enum.\(id)", "must \(isIn ? "" : "not ")be in list [\(text)]",
          demanding: isIn ? .anyOf(list.map { $0.json(.number) }) : nil
        ) { value in
          guard let value = Ordinal(value) else { return true }
          return list.contains { $0 == value } == isIn
        })
    }
    return rules
  }

  /// Compiles `buf.validate.AnyRules`.
  static func any(_ options: WireFields) -> [Rule] {
    [
      (2, "in", "type URL must be in the allow list"),
      (3, "not_in", "type URL must not be in the block list"),
    ]
    .compactMap { number, id, message in
      let list = options.texts(UInt32(number))
      guard !list.isEmpty else { return nil }
      return Rule("any.\(id)", message, demanding: id == "in" ? .types(list) : nil) { value in
        guard case .message(let any) = value, let field = try? any.type.field(named: "type_url") else {
          return true
        }
        var url = ""
        if case .value(.string(let text)) = any.contents(of: field) { url = text }
        return list.contains { $0.utf8.elementsEqual(url.utf8) } == (id == "in")
      }
    }
  }

  /// Compiles `buf.validate.FieldMaskRules`.
  static func fieldMask(_ options: WireFields) -> [Rule] {
    var rules: [Rule] = []
    if let constant = options.message(1)?.texts(1) {
      rules.append(
        Rule(
          "field_mask.const", "must equal paths [\(constant.joined(separator: ", "))]",
          demanding: .anyOf([json(constant)])
        ) {
          paths(of: $0) == constant
        })
    }
    for (number, id, text) in [
      (2, "in", "must only contain paths in"), (3, "not_in", "must not contain any paths in"),
    ] {
      let list = options.texts(UInt32(number))
      guard !list.isEmpty else { continue }
      rules.append(
        Rule(
          "field_mask.\(id)", "\(text) [\(list.joined(separator: ", "))]",
          demanding: id == "in" ? .anyOf(list.map { json([$0]) }) : nil
        ) { value in
          paths(of: value).allSatisfy { path in
            list.contains { path.utf8.elementsEqual($0.utf8) || path.utf8.starts(with: ($0 + ".").utf8) }
              == (id == "in")
          }
        })
    }
    return rules
  }

  /// A field mask as JSON, whose paths are in camel case.
  private static func json(_ paths: [String]) -> JSONValue {
    let names = paths.joined(separator: ",").split(separator: "_", omittingEmptySubsequences: false)
    return .string(
      names.dropFirst().reduce("\(names[0])") { $0 + $1.prefix(1).uppercased() + $1.dropFirst() })
  }

  private static func paths(of value: Value) -> [String] {
    guard case .message(let mask) = value, let field = try? mask.type.field(named: "paths"),
      case .list(let paths) = mask.contents(of: field)
    else { return [] }
    return paths.compactMap { if case .string(let path) = $0 { path } else { nil } }
  }
}
