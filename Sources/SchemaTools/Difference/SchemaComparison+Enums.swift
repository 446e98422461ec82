import RPCurlProtobuf

extension SchemaComparison {
  /// Compares an enum with the one of the same name.
  mutating func compareEnum(
    _ before: SchemaContents.Entry<EnumDeclaration>, _ after: SchemaContents.Entry<EnumDeclaration>
  ) {
    let (file, name) = (newFile(after.file), after.declaration.fullName)
    let (type, other) = (before.features.enumType, after.features.enumType)
    if type != other {
      report(
        .enumSameType, file, name,
        "enum \(name) changed \(Self.change("", type, other, "unknown open closed"))")
    }
    if before.features.jsonFormat == 1, after.features.jsonFormat != 1 {
      report(.enumSameJSONFormat, file, name, "enum \(name) is no longer supported in JSON")
    }
    compareValues(before.declaration, after.declaration, file)
    let numbers = Self.reserved(before.declaration).subtracting(Self.reserved(after.declaration))
    if !numbers.ranges.isEmpty {
      let text = numbers.text(maximum: Int64(Int32.max))
      report(.reservedEnumNoDelete, file, name, "enum \(name): numbers no longer reserved: \(text)")
    }
    let names = Self.missing(before.declaration.reservedNames, after.declaration.reservedNames)
    if !names.isEmpty {
      report(.reservedEnumNoDelete, file, name, "enum \(name): names no longer reserved: \(names)")
    }
  }

  /// Compares the names of each number, of which there may be several.
  private mutating func compareValues(_ before: EnumDeclaration, _ after: EnumDeclaration, _ file: String) {
    let remaining = Dictionary(grouping: after.values, by: \.number)
    let reservedNumbers = Self.reserved(after)
    let reservedNames = Set(after.reservedNames)
    var seen: Set<Int32> = []
    let names = Dictionary(grouping: before.values, by: \.number)
    for value in before.values where seen.insert(value.number).inserted {
      let (symbol, number) = ("\(before.fullName).\(value.name)", value.number)
      let old = (names[number] ?? []).map(\.name)
      let subject = "enum \(before.fullName): value \(number)"
      let all = (old + (remaining[number] ?? []).map(\.name)).map { "\(before.fullName).\($0)" }
      guard let others = remaining[number] else {
        let removed = "\(subject) \(Self.quoted(old)) was removed"
        report(.enumValueNoDelete, file, symbol, removed, others: all)
        if !old.allSatisfy(reservedNames.contains) {
          report(
            .enumValueNoDeleteUnlessNameReserved, file, symbol, "\(removed), and its name is not reserved",
            others: all)
        }
        if !reservedNumbers.contains(Int64(number)) {
          report(
            .enumValueNoDeleteUnlessNumberReserved, file, symbol,
            "\(removed), and its number is not reserved", others: all)
        }
        continue
      }
      let new = others.map(\.name)
      // More names are an addition.
      if !Set(new).isSuperset(of: old) {
        let name = new.first { !old.contains($0) } ?? value.name
        report(
          .enumValueSameName, file, "\(before.fullName).\(name)",
          "\(subject) changed its name from \(Self.quoted(old)) to \(Self.quoted(new))", others: all)
      }
    }
  }

  private static func quoted(_ names: [String]) -> String {
    names.map { "\"\($0)\"" }.joined(separator: ", ")
  }

  private static func reserved(_ type: EnumDeclaration) -> NumberRanges {
    NumberRanges(type.reservedNumbers.map { Int64($0.lowerBound)...Int64($0.upperBound) })
  }
}
