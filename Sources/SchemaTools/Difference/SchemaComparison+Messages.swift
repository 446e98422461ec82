import RPCurlProtobuf

extension SchemaComparison {
  /// Compares a message with the one of the same name.
  mutating func compareMessage(
    _ before: SchemaContents.Entry<MessageDeclaration>, _ after: SchemaContents.Entry<MessageDeclaration>
  ) {
    compareFields(before, after)
    let (file, name) = (newFile(after.file), after.declaration.fullName)
    let oneofs = Set(after.declaration.oneofs.map(\.name))
    for oneof in before.declaration.writtenOneofs where !oneofs.contains(oneof.name) {
      report(
        .oneofNoDelete, file, "\(name).\(oneof.name)", "message \(name): oneof \(oneof.name) was removed")
    }
    if before.features.jsonFormat == 1, after.features.jsonFormat != 1 {
      report(.messageSameJSONFormat, file, name, "message \(name) is no longer supported in JSON")
    }
    let hides = { (message: MessageDeclaration) in WireFields(message.options).bits(2) == 1 }
    if hides(after.declaration), !hides(before.declaration) {
      report(
        .messageNoRemoveStandardDescriptorAccessor, file, name,
        "message \(name) changed its option no_standard_descriptor_accessor from false to true")
    }
    compareRanges(before.declaration, after.declaration, file)
  }

  private mutating func compareFields(
    _ before: SchemaContents.Entry<MessageDeclaration>, _ after: SchemaContents.Entry<MessageDeclaration>
  ) {
    let (file, name) = (newFile(after.file), after.declaration.fullName)
    let remaining = Dictionary(after.declaration.fields.map { ($0.number, $0) }) { first, _ in first }
    var removed: [FieldDeclaration] = []
    var wasRequired: Set<Int32> = []
    for field in before.declaration.fields {
      let side = FieldSide(field, of: before, old)
      if side.isRequired { wasRequired.insert(field.number) }
      let other = remaining[field.number].map { FieldSide($0, of: after, new) }
      if side.isRequired, other?.isRequired != true {
        report(
          .messageSameRequiredFields, file, field.fullName,
          "message \(name): field \(field.number) \"\(field.name)\" was required")
      }
      if let other { compareField(side, other, of: name) } else { removed.append(field) }
    }
    for field in after.declaration.fields
    where !wasRequired.contains(field.number) && FieldSide(field, of: after, new).isRequired {
      report(
        .messageSameRequiredFields, file, field.fullName,
        "message \(name): field \(field.number) \"\(field.name)\" is now required")
    }
    if !removed.isEmpty { report(removed, from: after.declaration, file) }
  }

  /// Reports fields that a message no longer has.
  private mutating func report(
    _ removed: [FieldDeclaration], from message: MessageDeclaration, _ file: String
  ) {
    let numbers = NumberRanges(message.reservedNumbers.compactMap(Self.closed))
    let names = Set(message.reservedNames)
    for field in removed {
      let subject = "message \(message.fullName): field \(field.number) \"\(field.name)\" was removed"
      report(.fieldNoDelete, file, field.fullName, subject)
      if !names.contains(field.name) {
        report(
          .fieldNoDeleteUnlessNameReserved, file, field.fullName, "\(subject), and its name is not reserved")
      }
      if !numbers.contains(Int64(field.number)) {
        report(
          .fieldNoDeleteUnlessNumberReserved, file, field.fullName,
          "\(subject), and its number is not reserved")
      }
    }
  }

  private mutating func compareRanges(
    _ before: MessageDeclaration, _ after: MessageDeclaration, _ file: String
  ) {
    let subject = "message \(after.fullName)"
    let maximum: Int64 = 536_870_911
    let numbers = NumberRanges(before.reservedNumbers.compactMap(Self.closed))
      .subtracting(NumberRanges(after.reservedNumbers.compactMap(Self.closed)))
    if !numbers.ranges.isEmpty {
      report(
        .reservedMessageNoDelete, file, after.fullName,
        "\(subject): numbers no longer reserved: \(numbers.text(maximum: maximum))")
    }
    let names = Self.missing(before.reservedNames, after.reservedNames)
    if !names.isEmpty {
      report(.reservedMessageNoDelete, file, after.fullName, "\(subject): names no longer reserved: \(names)")
    }
    let extensions = NumberRanges(before.extensionRanges.map(\.numbers).compactMap(Self.closed))
      .subtracting(NumberRanges(after.extensionRanges.map(\.numbers).compactMap(Self.closed)))
    if !extensions.ranges.isEmpty {
      report(
        .extensionMessageNoDelete, file, after.fullName,
        "\(subject): numbers no longer for extensions: \(extensions.text(maximum: maximum))")
    }
  }

  /// The names that are not in `after`, for messages.
  static func missing(_ before: [String], _ after: [String]) -> String {
    let names = Set(after)
    return before.filter { !names.contains($0) }.map { "\"\($0)\"" }.joined(separator: ", ")
  }

  private static func closed(_ range: Range<Int64>) -> ClosedRange<Int64>? {
    range.isEmpty ? nil : range.lowerBound...(range.upperBound - 1)
  }
}
