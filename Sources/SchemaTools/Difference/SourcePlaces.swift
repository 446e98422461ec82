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
  private var places: [String: SourcePlace] = [:]

  /// - Parameters:
  ///   - file: The file.
  ///   - serialized: Its descriptor. Without places, no declaration has one.
  init(_ file: FileDeclaration, serialized: [UInt8]) {
    starts = Self.starts(in: serialized)
    guard !starts.isEmpty else { return }
    places[file.package] = starts[[2]] ?? starts[[]]
    for (index, message) in file.messages.enumerated() { add(message, [4, Int32(index)]) }
    for (index, type) in file.enums.enumerated() { add(type, [5, Int32(index)]) }
    for (index, service) in file.services.enumerated() {
      let path = [6, Int32(index)]
      places[service.fullName] = starts[path]
      for (index, method) in service.methods.enumerated() {
        places[method.path] = starts[path + [2, Int32(index)]]
      }
    }
    add(file.extensions, [7])
  }

  /// The place of a declaration, or of the innermost one around it; nil if there is none.
  func place(of symbol: String) -> SourcePlace? {
    var name = symbol[...]
    while true {
      if let place = places[String(name)] { return place }
      guard let end = name.lastIndex(where: { $0 == "." || $0 == "/" }) else { return nil }
      name = name[..<end]
    }
  }

  private mutating func add(_ message: MessageDeclaration, _ path: [Int32]) {
    places[message.fullName] = starts[path]
    add(message.fields, path + [2])
    for (index, nested) in message.messages.enumerated() { add(nested, path + [3, Int32(index)]) }
    for (index, type) in message.enums.enumerated() { add(type, path + [4, Int32(index)]) }
    add(message.extensions, path + [6])
    for (index, oneof) in message.oneofs.enumerated() {
      places["\(message.fullName).\(oneof.name)"] = starts[path + [8, Int32(index)]]
    }
  }

  private mutating func add(_ fields: [FieldDeclaration], _ path: [Int32]) {
    for (index, field) in fields.enumerated() { places[field.fullName] = starts[path + [Int32(index)]] }
  }

  private mutating func add(_ type: EnumDeclaration, _ path: [Int32]) {
    places[type.fullName] = starts[path]
    for (index, value) in type.values.enumerated() {
      places["\(type.fullName).\(value.name)"] = starts[path + [2, Int32(index)]]
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
