import RPCurlProtobuf

extension DescriptorSetScanner {
  /// Calls `body` with the kind and the full name of each declaration in a file, without unpacking it.
  ///
  /// Entry types of maps, their fields, and synthetic oneofs are not declarations.
  ///
  /// - Parameter ending: If given, only declarations with this own name.
  static func declarations(
    of file: SchemaIndex.File, _ kinds: Set<SymbolKind>, intoMessages: Bool = true, ending: [UInt8]? = nil,
    _ body: @escaping (SymbolKind, String) -> Void
  ) throws(Malformed) {
    let scanner = SymbolScanner(kinds: kinds, ending: ending, body: body)
    let package = String(decoding: file.package, as: UTF8.self)
    try fields(of: file.bytes) { (tag, value) throws(Malformed) in
      guard tag.wireType == .lengthDelimited else { return true }
      switch tag.number {
      case 4: if intoMessages { try scanner.message(value, package, depth: 1) }
      case 5: if intoMessages { try scanner.enumeration(value, package) }
      case 6: try scanner.service(value, package)
      case 7: try scanner.named(value, package, .extensionField)
      default: break
      }
      return true
    }
  }
}

/// Scans the declarations of a file for names.
private struct SymbolScanner {
  typealias Malformed = DescriptorSetScanner.Malformed

  let kinds: Set<SymbolKind>
  let ending: [UInt8]?
  let body: (SymbolKind, String) -> Void

  private func join(_ scope: String, _ name: UnsafeRawBufferPointer, separator: String = ".") -> String {
    let name = String(decoding: name, as: UTF8.self)
    return scope.isEmpty ? name : scope + separator + name
  }

  private func wants(_ kind: SymbolKind, _ name: UnsafeRawBufferPointer) -> Bool {
    kinds.contains(kind) && (ending.map { $0.elementsEqual(name) } ?? true)
  }

  func named(
    _ bytes: UnsafeRawBufferPointer, _ scope: String, _ kind: SymbolKind
  ) throws(Malformed) {
    guard kinds.contains(kind), let name = try DescriptorSetScanner.firstName(of: bytes), wants(kind, name)
    else { return }
    body(kind, join(scope, name))
  }

  func message(_ bytes: UnsafeRawBufferPointer, _ scope: String, depth: Int) throws(Malformed) {
    guard depth <= nestingLimit, let name = try DescriptorSetScanner.firstName(of: bytes),
      try !DescriptorSetScanner.isMapEntry(bytes)
    else { return }
    let full = join(scope, name)
    if wants(.message, name) { body(.message, full) }
    let synthetic = kinds.contains(.oneof) ? try syntheticOneofs(bytes) : []
    var oneofs: UInt64 = 0
    try DescriptorSetScanner.fields(of: bytes) { (tag, value) throws(Malformed) in
      guard tag.wireType == .lengthDelimited else { return true }
      switch tag.number {
      case 2: try named(value, full, .field)
      case 3: try message(value, full, depth: depth + 1)
      case 4: try enumeration(value, full)
      case 6: try named(value, full, .extensionField)
      case 8:
        if !synthetic.contains(oneofs) { try named(value, full, .oneof) }
        oneofs += 1
      default: break
      }
      return true
    }
  }

  /// The indices of the synthetic oneofs of `optional` fields in proto3, which are not in the .proto file.
  private func syntheticOneofs(_ message: UnsafeRawBufferPointer) throws(Malformed) -> Set<UInt64> {
    var found: Set<UInt64> = []
    try DescriptorSetScanner.fields(of: message) { (tag, field) throws(Malformed) in
      guard tag == Tag(2, .lengthDelimited) else { return true }
      var index: UInt64?
      var isOptional = false
      let take = { (number: UInt32, value: UInt64) in
        if number == 9 { index = value }
        if number == 17 { isOptional = value != 0 }
      }
      try DescriptorSetScanner.fields(of: field, varint: take) { (_, _) in true }
      if isOptional, let index { found.insert(index) }
      return true
    }
    return found
  }

  func enumeration(_ bytes: UnsafeRawBufferPointer, _ scope: String) throws(Malformed) {
    try members(bytes, scope, .enumeration, .enumValue, separator: ".")
  }

  func service(_ bytes: UnsafeRawBufferPointer, _ scope: String) throws(Malformed) {
    try members(bytes, scope, .service, .method, separator: "/")
  }

  /// Scans a declaration with its members in field 2.
  private func members(
    _ bytes: UnsafeRawBufferPointer, _ scope: String, _ kind: SymbolKind, _ member: SymbolKind,
    separator: String
  ) throws(Malformed) {
    guard let name = try DescriptorSetScanner.firstName(of: bytes) else { return }
    let full = join(scope, name)
    if wants(kind, name) { body(kind, full) }
    guard kinds.contains(member) else { return }
    try DescriptorSetScanner.fields(of: bytes) { (tag, value) throws(Malformed) in
      if tag == Tag(2, .lengthDelimited), let name = try DescriptorSetScanner.firstName(of: value),
        wants(member, name)
      {
        body(member, join(full, name, separator: separator))
      }
      return true
    }
  }
}
