import RPCurlProtobuf

extension SchemaComparison {
  /// Compares a field with the one of the same number, or an extension.
  ///
  /// - Parameter message: The full name of the message; empty for extensions.
  mutating func compareField(_ before: FieldSide, _ after: FieldSide, of message: String) {
    var changes: [(rule: Rule, what: String)] = []
    if before.name != after.name {
      changes.append((.fieldSameName, "its name to \"\(after.name)\""))
    }
    for rule in brokenTypeRules(before, after) {
      changes.append((rule, Self.change("its type", before.typeText, after.typeText)))
    }
    for rule in Self.brokenCardinalityRules(before, after) {
      changes.append((rule, Self.change("", before.cardinality.rawValue, after.cardinality.rawValue)))
    }
    if !message.isEmpty, before.jsonName != after.jsonName {
      changes.append((.fieldSameJSONName, Self.change("its JSON name", before.jsonName, after.jsonName)))
    }
    if before.oneof != after.oneof {
      changes.append(
        (.fieldSameOneof, Self.change("its oneof", before.oneof ?? "none", after.oneof ?? "none")))
    }
    if let first = before.defaultValue, let second = after.defaultValue, !first.isZero || !second.isZero,
      !first.isSame(as: second)
    {
      let (old, new) = (before.field.defaultText ?? "none", after.field.defaultText ?? "none")
      changes.append((.fieldSameDefault, Self.change("its default", old, new)))
    }
    changes += Self.brokenOptionRules(before, after)
    guard !changes.isEmpty else { return }
    let (file, symbol) = (newFile(after.file), after.field.fullName)
    let subject =
      message.isEmpty
      ? "extension \(before.name)" : "message \(message): field \(after.field.number) \"\(before.name)\""
    for (rule, what) in changes {
      report(rule, file, symbol, "\(subject) changed \(what)", others: [before.field.fullName])
    }
  }

  /// The rules about types that a change breaks.
  private mutating func brokenTypeRules(_ before: FieldSide, _ after: FieldSide) -> [Rule] {
    let (old, new) = (before.kind, after.kind)
    let isOtherName = after.isOfNamedType && before.field.typeName != after.field.typeName
    guard old != new || isOtherName else { return [] }
    let isCompatibleName =
      !isOtherName
      || new == .enumeration && old == new
        && isCompatible(enum: before.field.typeName, with: after.field.typeName)
    var rules: [Rule] = [.fieldSameType]
    if old.wireJSONGroup != new.wireJSONGroup || !isCompatibleName {
      rules.append(.fieldWireJSONCompatibleType)
    }
    let isStringToBytes = old == .string && new == .bytes
    if old.wireGroup != new.wireGroup && !isStringToBytes || !isCompatibleName {
      rules.append(.fieldWireCompatibleType)
    }
    return rules
  }

  /// The rules about cardinality that a change breaks. Entries of maps have no cardinality of their own.
  private static func brokenCardinalityRules(_ before: FieldSide, _ after: FieldSide) -> [Rule] {
    let (old, new) = (before.cardinality, after.cardinality)
    guard old != new, !(before.isInMapEntry && after.isInMapEntry) else { return [] }
    var rules: [Rule] = [.fieldSameCardinality]
    if old.inJSON != new.inJSON { rules.append(.fieldWireJSONCompatibleCardinality) }
    if old.onWire != new.onWire { rules.append(.fieldWireCompatibleCardinality) }
    return rules
  }

  /// The rules about options and features that a change breaks, each with what changed.
  private static func brokenOptionRules(_ before: FieldSide, _ after: FieldSide) -> [(
    rule: Rule, what: String
  )] {
    var found: [(rule: Rule, what: String)] = []
    func compare(_ rule: Rule, _ what: String, _ old: UInt64, _ new: UInt64, _ names: String) {
      if old != new { found.append((rule, change(what, old, new, names))) }
    }
    let isText = { (kind: FieldKind) in kind == .string || kind == .bytes }
    let (old, new) = (before.field.kind, after.field.kind)
    if old.isInteger64, new.isInteger64 {
      compare(.fieldSameJSType, "its jstype", before.jsType, after.jsType, "JS_NORMAL JS_STRING JS_NUMBER")
    }
    guard isText(old), isText(new) else { return found }
    let (first, second) = (before.cppStringType, after.cppStringType)
    // A piece of a string may become a string.
    if !(first == 4 && second == 3), !(before.isInMapEntry && after.isInMapEntry) {
      compare(
        .fieldSameCppStringType, "its string type of C++", first, second,
        "UNKNOWN VIEW CORD STRING STRING_PIECE")
    }
    guard old == .string, new == .string else { return found }
    let names = "UNKNOWN UNKNOWN VERIFY NONE"
    compare(
      .fieldSameJavaUTF8Validation, "its UTF-8 validation in Java", before.javaUTF8Validation,
      after.javaUTF8Validation, names)
    compare(
      .fieldSameUTF8Validation, "its UTF-8 validation", before.features.utf8Validation,
      after.features.utf8Validation, names)
    return found
  }

  /// What changed, with both values.
  static func change(_ what: String, _ before: String, _ after: String) -> String {
    (what.isEmpty ? "" : "\(what) ") + "from \(before) to \(after)"
  }

  /// What changed, with the names of both values of an enum.
  static func change(_ what: String, _ before: UInt64, _ after: UInt64, _ names: String) -> String {
    let names = names.split(separator: Character(" "))
    let name = { (value: UInt64) in value < names.count ? String(names[Int(value)]) : "\(value)" }
    return change(what, name(before), name(after))
  }
}
