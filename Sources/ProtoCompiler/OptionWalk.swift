extension Linker {
  // MARK: Retention

  /// Copies the options of a declaration without the fields that only sources have.
  mutating func strip(_ site: Handle, _ message: Handle, _ range: ByteRange) {
    writer.removeAll()
    let bytes = schema.optionBytes
    bytes.withUnsafeBufferPointer { copyStripped(message, $0, range.range, depth: 0) }
    let start = schema.optionBytes.count
    schema.optionBytes.append(contentsOf: writer.bytes)
    let result = ByteRange(from: start, to: schema.optionBytes.count)
    tables.sites[site].interpreted.stripped = result
    // protoc removes empty options only if the file with their messages has its usual name.
    let isComplete =
      result.isEmpty && !options.retainsOptions
      && fileName(schema.messages[message].file) == Linker.descriptorFile
    // They may have been empty before the custom ones were read.
    guard isComplete != tables.sites[site].interpreted.isStrippedCompletely else { return }
    tables.sites[site].interpreted.isStrippedCompletely = isComplete
    var option = tables.sites[site].options.first
    while option != .none {
      tables.options[option].isOwnerStripped = isComplete
      option = tables.options[option].next
    }
  }

  private mutating func copyStripped(
    _ message: Handle, _ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, depth: Int
  ) {
    for field in WireFields(bytes, range) {
      let index = schema.field(number: field.number, of: message)
      let whole = UnsafeBufferPointer(rebasing: bytes[field.whole])
      guard index != .none, depth < 100 else {
        writer.raw(whole)
        continue
      }
      let node = schema.fields[index]
      if node.isSourceRetention { continue }
      guard node.type == .message, field.type == .length else {
        writer.raw(whole)
        continue
      }
      let start = writer.begin(field.number)
      copyStripped(node.typeIndex, bytes, field.content, depth: depth + 1)
      writer.end(start)
    }
  }

  // MARK: Editions of features

  /// Reports options that the edition of the file does not have, and warns about deprecated ones.
  mutating func checkLifetimes() {
    for element in order {
      let declaration = schema.declaration(element)
      guard declaration.site != .none, tables.sites[declaration.site].interpreted.needsLifetimeCheck else {
        continue
      }
      let message = optionsMessage(element.kind)
      guard message != .none else { continue }
      let place = namePlace(element)
      let bytes = schema.optionBytes
      bytes.withUnsafeBufferPointer { bytes in
        let number = element.kind.featuresNumber
        // Features come first, since protoc checks them before other options.
        for isFeature in [true, false] {
          checkLifetimes(message, bytes, declaration.options.range, at: place, depth: 0) {
            ($0 == number) == isFeature
          }
        }
      }
    }
  }

  private mutating func checkLifetimes(
    _ message: Handle, _ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, at place: Place, depth: Int,
    _ isWanted: (Int32) -> Bool = { _ in true }
  ) {
    guard depth < 100 else { return }
    for field in WireFields(bytes, range).filter({ isWanted($0.number) }).sorted(by: { $0.number < $1.number }
    ) {
      let index = schema.field(number: field.number, of: message)
      guard index != .none else { continue }
      let node = schema.fields[index]
      if node.type.isMessage {
        checkLifetimes(node.typeIndex, bytes, field.content, at: place, depth: depth + 1)
      } else if node.type == .enum {
        let value = schema.value(number: Int32(truncatingIfNeeded: field.value), of: node.typeIndex)
        if value != .none { checkLifetime(schema.values[value].declaration, 4, at: place) }
      }
      // Every value of the set of features is of a field with limits, the set itself is not.
      if node.hasFeatureSupport { checkLifetime(node.declaration, 22, at: place) }
    }
  }

  private mutating func checkLifetime(_ declaration: Declaration, _ number: Int32, at place: Place) {
    guard let support = featureSupport(declaration.options, number) else { return }
    let edition = schema.files[file].edition
    let name = fullName(declaration.symbol)
    func text(_ value: Int32) -> String { Edition(rawValue: value).text }
    if edition.rawValue < support.introduced {
      deferredError(
        "\(name) wasn't introduced until edition \(text(support.introduced)) and can't be used in edition \(edition.text)",
        at: place)
    }
    if let removed = support.removed, edition.rawValue >= removed {
      let reason = support.removalError.map { ": " + $0 } ?? ""
      deferredError("\(name) has been removed in edition \(text(removed))\(reason)", at: place)
    } else if let deprecated = support.deprecated, edition.rawValue >= deprecated, isMain {
      warning(
        "\(name) has been deprecated in edition \(text(deprecated)): \(support.warning ?? "")", at: place)
    }
  }

  mutating func deferredError(_ text: String, at place: Place) {
    report.add(text, at: place, in: tables.source, isDeferred: true)
  }

  /// `FieldOptions.FeatureSupport`
  struct FeatureSupport {
    var introduced: Int32 = 0
    var deprecated: Int32?
    var warning: String?
    var removed: Int32?
    var removalError: String?

    /// Reads the fields of a message over those of another.
    mutating func merge(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) {
      for field in WireFields(bytes, range) {
        let value = Int32(truncatingIfNeeded: field.value)
        let text = String(decoding: bytes[field.content], as: UTF8.self)
        switch field.number {
        case 1: introduced = value
        case 2: deprecated = value
        case 3: warning = text
        case 4: removed = value
        case 5: removalError = text
        default: break
        }
      }
    }

    /// What is wrong in it; nil if nothing is.
    func problem(_ name: String) -> String? {
      if let deprecated {
        if deprecated < introduced { return "\(name) was deprecated before it was introduced." }
        if warning == nil { return "\(name) is deprecated but does not specify a deprecation warning." }
      } else if warning != nil {
        return "\(name) specifies a deprecation warning but is not marked deprecated in any edition."
      }
      if let removed {
        if deprecated ?? 0 >= removed { return "\(name) was deprecated after it was removed." }
        if removed < introduced { return "\(name) was removed before it was introduced." }
        if introduced != removed, removalError == nil {
          return "\(name) has been removed but does not specify a removal error."
        }
      } else if removalError != nil {
        return "\(name) specifies a removal error but is not marked removed in any edition."
      }
      return nil
    }
  }

  func featureSupport(_ options: ByteRange, _ number: Int32, over parent: FeatureSupport? = nil)
    -> FeatureSupport?
  {
    schema.optionBytes.withUnsafeBufferPointer { bytes in
      var support = parent
      var isFound = false
      for field in WireFields(bytes, options.range) where field.number == number {
        var merged = support ?? FeatureSupport()
        merged.merge(bytes, field.content)
        support = merged
        isFound = true
      }
      return isFound ? support : nil
    }
  }
}
