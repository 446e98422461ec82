import Protobuf
import SchemaTools

extension SchemaComparison {
  /// Compares a field with the one of the same number, or an extension.
  ///
  /// - Parameter message: The full name of the message; empty for extensions.
  mutating func compareField(_ before: FieldSide, _ after: FieldSide, of message: String) {
    let (file, field) = (newFile(after.file), after.field)
    let owner = message.isEmpty ? "extension" : "message \(message): field"
    // Some fields change nothing: no text is made for them.
    func subject() -> String {
      message.isEmpty ? "\(owner) \(after.name)" : "\(owner) \(field.number) \"\(after.name)\""
    }
    if before.name != after.name {
      report(
        .fieldSameName, file, field.fullName,
        "\(owner) \(field.number) changed its name from \"\(before.name)\" to \"\(after.name)\"")
    }
    for rule in brokenTypeRules(before, after) {
      report(
        rule, file, field.fullName,
        "\(subject()) changed its type from \(before.typeText) to \(after.typeText)")
    }
    for rule in Self.brokenCardinalityRules(before, after) {
      report(
        rule, file, field.fullName,
        "\(subject()) changed from \(before.cardinality.rawValue) to \(after.cardinality.rawValue)")
    }
    if !message.isEmpty {
      if before.jsonName != after.jsonName {
        report(
          .fieldSameJSONName, file, field.fullName,
          "\(subject()) changed its JSON name from \"\(before.jsonName)\" to \"\(after.jsonName)\"")
      }
      if before.oneof != after.oneof {
        report(
          .fieldSameOneof, file, field.fullName, "\(subject()) moved\(Self.move(before.oneof, after.oneof))")
      }
    }
    if let first = before.defaultValue, let second = after.defaultValue, !first.isZero || !second.isZero,
      !first.isSame(as: second)
    {
      let values = "from \(before.field.defaultText ?? "none") to \(field.defaultText ?? "none")"
      report(.fieldSameDefault, file, field.fullName, "\(subject()) changed its default \(values)")
    }
    for (rule, what) in Self.brokenOptionRules(before, after) {
      report(rule, file, field.fullName, "\(subject()) changed \(what)")
    }
  }

  private static func move(_ before: String?, _ after: String?) -> String {
    (before.map { " out of oneof \($0)" } ?? "") + (after.map { " into oneof \($0)" } ?? "")
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
  private static func brokenOptionRules(_ before: FieldSide, _ after: FieldSide) -> [(Rule, String)] {
    var found: [(Rule, String)] = []
    let isText = { (kind: FieldKind) in kind == .string || kind == .bytes }
    let (old, new) = (before.field.kind, after.field.kind)
    if old.isInteger64, new.isInteger64, before.jsType != after.jsType {
      let names = ["JS_NORMAL", "JS_STRING", "JS_NUMBER"]
      found.append((.fieldSameJSType, "its option jstype \(change(before.jsType, after.jsType, names))"))
    }
    guard isText(old), isText(new) else { return found }
    let (first, second) = (before.cppStringType, after.cppStringType)
    // A piece of a string may become a string.
    if first != second, !(first == 4 && second == 3), !(before.isInMapEntry && after.isInMapEntry) {
      let names = ["UNKNOWN", "VIEW", "CORD", "STRING", "STRING_PIECE"]
      found.append((.fieldSameCppStringType, "its string type of C++ \(change(first, second, names))"))
    }
    guard old == .string, new == .string else { return found }
    let names = ["UNKNOWN", "UNKNOWN", "VERIFY", "NONE"]
    let (java, other) = (before.javaUTF8Validation, after.javaUTF8Validation)
    if java != other {
      found.append(
        (.fieldSameJavaUTF8Validation, "its UTF-8 validation in Java \(change(java, other, names))"))
    }
    let (utf8, otherUTF8) = (before.features.utf8Validation, after.features.utf8Validation)
    if utf8 != otherUTF8 {
      found.append((.fieldSameUTF8Validation, "its UTF-8 validation \(change(utf8, otherUTF8, names))"))
    }
    return found
  }

  /// The names of the values of an enum, or their numbers.
  static func change(_ before: UInt64, _ after: UInt64, _ names: [String]) -> String {
    let name = { (value: UInt64) in value < names.count ? names[Int(value)] : "\(value)" }
    return "from \(name(before)) to \(name(after))"
  }
}
