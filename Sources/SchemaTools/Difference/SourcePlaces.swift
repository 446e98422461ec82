import RPCurlProtobuf

/// A place in the source of a schema.
package struct SourcePlace: Sendable, Equatable {
  /// The line, counted from 1.
  package let line: Int
  /// The column, counted from 1; a tab ends at the next multiple of eight.
  package let column: Int
}

/// Where the declarations of a file begin, by their names: `google.protobuf.SourceCodeInfo`.
struct SourcePlaces {
  private let starts: [[Int32]: SourcePlace]
  private var paths: [String: [Int32]] = [:]

  /// - Parameters:
  ///   - file: The file.
  ///   - serialized: Its descriptor. Without places, no declaration has one.
  init(_ file: FileDeclaration, serialized: [UInt8]) {
    starts = Self.starts(in: serialized)
    guard !starts.isEmpty else { return }
    paths[file.package] = starts[[2]] == nil ? [] : [2]
    for (index, message) in file.messages.enumerated() { add(message, [4, Int32(index)]) }
    for (index, type) in file.enums.enumerated() { add(type, [5, Int32(index)]) }
    for (index, service) in file.services.enumerated() {
      let path = [6, Int32(index)]
      paths[service.fullName] = path
      for (index, method) in service.methods.enumerated() {
        paths[method.path] = path + [2, Int32(index)]
      }
    }
    add(file.extensions, [7])
  }

  /// The place of what a rule compares: the part of the declaration, the declaration, or the innermost one around it.
  ///
  /// - Parameters:
  ///   - names: The names of the declaration, of which the file may have any. An enclosing one is that of the first.
  ///   - rule: The rule; nil for the declaration.
  func place(of names: [String], _ rule: Rule?) -> SourcePlace? {
    let parts = rule?.parts ?? []
    if rule?.isOfFile == true { return first(parts + [[2], []], of: []) }
    if let path = names.lazy.compactMap({ paths[$0] }).first { return first(parts + [[]], of: path) }
    return names.first.flatMap { Self.enclosing($0) { paths[$0] } }.flatMap { starts[$0] }
  }

  private func first(_ parts: [[Int32]], of path: [Int32]) -> SourcePlace? {
    parts.lazy.compactMap { starts[path + $0] }.first
  }

  /// The value of a name, or of the innermost one around it that has a value.
  static func enclosing<Value>(_ symbol: String, _ value: (String) -> Value?) -> Value? {
    var name = symbol
    while true {
      if let found = value(name) { return found }
      guard let outer = scope(of: name) else { return nil }
      name = outer
    }
  }

  /// The name of what contains a declaration; nil for one without a package.
  static func scope(of symbol: String) -> String? {
    symbol.lastIndex { $0 == "." || $0 == "/" }.map { String(symbol[..<$0]) }
  }

  private mutating func add(_ message: MessageDeclaration, _ path: [Int32]) {
    paths[message.fullName] = path
    add(message.fields, path + [2])
    let fields = Dictionary(message.fields.enumerated().map { ($1.typeName, Int32($0)) }) { first, _ in first
    }
    for (index, nested) in message.messages.enumerated() {
      guard nested.isMapEntry, let field = fields[nested.fullName] else {
        add(nested, path + [3, Int32(index)])
        continue
      }
      // What is generated for a map is where the map is.
      for name in [nested.fullName] + nested.fields.map(\.fullName) { paths[name] = path + [2, field] }
    }
    for (index, type) in message.enums.enumerated() { add(type, path + [4, Int32(index)]) }
    add(message.extensions, path + [6])
    for (index, oneof) in message.oneofs.enumerated() {
      paths["\(message.fullName).\(oneof.name)"] = path + [8, Int32(index)]
    }
  }

  private mutating func add(_ fields: [FieldDeclaration], _ path: [Int32]) {
    for (index, field) in fields.enumerated() { paths[field.fullName] = path + [Int32(index)] }
  }

  private mutating func add(_ type: EnumDeclaration, _ path: [Int32]) {
    paths[type.fullName] = path
    for (index, value) in type.values.enumerated() {
      paths["\(type.fullName).\(value.name)"] = path + [2, Int32(index)]
    }
  }

  /// The first place of each path of a descriptor.
  private static func starts(in descriptor: [UInt8]) -> [[Int32]: SourcePlace] {
    var starts: [[Int32]: SourcePlace] = [:]
    for record in WireRecord.valid(in: descriptor[...]) where record.number == 9 {
      for location in WireRecord.valid(in: record.bytes) where location.number == 1 {
        var (path, span): ([Int32], [Int32]) = ([], [])
        for record in WireRecord.valid(in: location.bytes) where record.number <= 2 {
          let numbers = WireRecord.packed(record.bytes).map { Int32(truncatingIfNeeded: $0) }
          let values = record.bytes.isEmpty ? [record.int32] : numbers
          if record.number == 1 { path += values } else { span += values }
        }
        guard span.count >= 3, span[0] >= 0, span[1] >= 0, starts[path] == nil else { continue }
        starts[path] = SourcePlace(line: Int(span[0]) + 1, column: Int(span[1]) + 1)
      }
    }
    return starts
  }
}

extension Rule {
  /// The parts of a declaration that the rule compares, as paths in its descriptor. The first one that is written counts.
  fileprivate var parts: [[Int32]] {
    if let number = SchemaComparison.fileOption(self) { return [[8, Int32(number)]] }
    return switch self {
    case .fieldSameName, .enumValueSameName: [[1]]
    case .fieldSameType, .fieldWireCompatibleType, .fieldWireJSONCompatibleType: [[5], [6]]
    case .fieldSameDefault: [[7]]
    case .fieldSameJSONName: [[10]]
    case .fieldSameCppStringType: [[8, 1]]
    case .fieldSameJSType: [[8, 6]]
    case .fieldSameUTF8Validation: [[8, 21, 4]]
    case .enumSameType: [[3, 7, 2]]
    case .enumSameJSONFormat: [[3, 7, 6]]
    case .messageSameJSONFormat: [[7, 12, 6]]
    case .messageNoRemoveStandardDescriptorAccessor: [[7, 2]]
    case .fileSameSyntax: [[12], [14]]
    case .rpcSameRequestType: [[2]]
    case .rpcSameResponseType: [[3]]
    case .rpcSameIdempotencyLevel: [[4, 34]]
    default: []
    }
  }
}
