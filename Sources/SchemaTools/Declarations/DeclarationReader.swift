import RPCurlProtobuf

/// Reads a serialized FileDescriptorProto.
struct DeclarationReader {
  private let pool: PoolCore
  private var comments: [[Int32]: Comments] = [:]

  static func read(_ file: [UInt8], pool: PoolCore) throws(DecodeError) -> FileDeclaration {
    let records = try WireRecord.all(in: file[...])
    var reader = DeclarationReader(pool: pool)
    for record in records where record.number == 9 { try reader.readComments(record.bytes) }
    return try reader.file(records)
  }

  private init(pool: PoolCore) { self.pool = pool }

  private func options(_ name: String, _ bytes: [UInt8] = []) -> DescriptorOptions {
    DescriptorOptions(SerializedOptions(bytes: bytes, typeName: "google.protobuf.\(name)"), pool: pool)
  }

  // MARK: Comments

  private mutating func readComments(_ sourceInfo: ArraySlice<UInt8>) throws(DecodeError) {
    for location in try WireRecord.all(in: sourceInfo) where location.number == 1 {
      var path: [Int32] = []
      var found = Comments()
      for record in try WireRecord.all(in: location.bytes) {
        switch record.number {
        case 1:
          path +=
            record.bytes.isEmpty
            ? [record.int32] : WireRecord.packed(record.bytes).map { Int32(truncatingIfNeeded: $0) }
        case 3: found.leading = record.text
        case 4: found.trailing = record.text
        case 6: found.detached.append(record.text)
        default: break
        }
      }
      if found != Comments() { comments[path] = found }
    }
  }

  private func comments(at path: [Int32]) -> Comments { comments[path] ?? Comments() }

  // MARK: Files

  private func file(_ records: [WireRecord]) throws(DecodeError) -> FileDeclaration {
    var file = FileDeclaration(options: options("FileOptions"))
    file.comments = comments(at: [12])
    if file.comments == Comments() { file.comments = comments(at: [14]) }
    file.packageComments = comments(at: [2])
    var names: [String] = []
    var kinds: [Int: FileDeclaration.Import.Kind] = [:]
    var optionImports: [String] = []
    var serializedOptions: [UInt8] = []
    for record in records {
      switch record.number {
      case 1: file.name = record.text
      case 2: file.package = record.text
      case 3: names.append(record.text)
      case 8: serializedOptions += record.bytes
      case 10: for index in numbers(record) { kinds[index] = .public }
      case 11: for index in numbers(record) { kinds[index] = .weak }
      case 12: file.syntax = record.text == "proto3" ? .proto3 : file.syntax
      case 14: file.syntax = .edition(record.int32)
      case 15: optionImports.append(record.text)
      default: break
      }
    }
    file.imports = names.enumerated().map { .init(name: $1, kind: kinds[$0] ?? .plain) }
    file.imports += optionImports.map { .init(name: $0, kind: .option) }
    file.options = options("FileOptions", serializedOptions)
    for record in records {
      switch record.number {
      case 4:
        file.messages.append(
          try message(record.bytes, file.package, [4, Int32(file.messages.count)], depth: 1))
      case 5: file.enums.append(try enumeration(record.bytes, file.package, [5, Int32(file.enums.count)]))
      case 6: file.services.append(try service(record.bytes, file.package, [6, Int32(file.services.count)]))
      case 7:
        file.extensions.append(try field(record.bytes, file.package, [7, Int32(file.extensions.count)]))
      default: break
      }
    }
    return file
  }

  private func numbers(_ record: WireRecord) -> [Int] {
    (record.bytes.isEmpty ? [record.bits] : WireRecord.packed(record.bytes)).map {
      Int(Int32(truncatingIfNeeded: $0))
    }
  }

  private func join(_ scope: String, _ name: String) -> String { scope.isEmpty ? name : "\(scope).\(name)" }

  private func reference(_ name: String) -> String { name.hasPrefix(".") ? String(name.dropFirst()) : name }

  // MARK: Messages

  private func message(
    _ bytes: ArraySlice<UInt8>, _ scope: String, _ path: [Int32], depth: Int
  ) throws(DecodeError) -> MessageDeclaration {
    guard depth <= nestingLimit else { throw DecodeError(.tooDeep, at: 0) }
    var message = MessageDeclaration(options: options("MessageOptions"))
    let records = try WireRecord.all(in: bytes)
    var serializedOptions: [UInt8] = []
    for record in records {
      switch record.number {
      case 1: message.name = record.text
      case 7: serializedOptions += record.bytes
      case 10: message.reservedNames.append(record.text)
      case 11: message.visibility = record.int32
      default: break
      }
    }
    message.fullName = join(scope, message.name)
    message.comments = comments(at: path)
    message.options = options("MessageOptions", serializedOptions)
    message.isMapEntry = try WireRecord.all(in: serializedOptions[...]).contains { $0.number == 7 && $0.bool }
    for record in records {
      try member(record, of: &message, path, depth: depth)
    }
    return message
  }

  private func member(
    _ record: WireRecord, of message: inout MessageDeclaration, _ path: [Int32], depth: Int
  ) throws(DecodeError) {
    let (bytes, scope) = (record.bytes, message.fullName)
    switch record.number {
    case 2: message.fields.append(try field(bytes, scope, path + [2, Int32(message.fields.count)]))
    case 3:
      message.messages.append(
        try self.message(bytes, scope, path + [3, Int32(message.messages.count)], depth: depth + 1))
    case 4: message.enums.append(try enumeration(bytes, scope, path + [4, Int32(message.enums.count)]))
    case 5: message.extensionRanges.append(try extensionRange(bytes))
    case 6: message.extensions.append(try field(bytes, scope, path + [6, Int32(message.extensions.count)]))
    case 8: message.oneofs.append(try oneof(bytes, path + [8, Int32(message.oneofs.count)]))
    case 9:
      let (start, end) = try range(bytes)
      message.reservedNumbers.append(Int64(start)..<max(Int64(start), Int64(end)))
    default: break
    }
  }

  private func range(_ bytes: ArraySlice<UInt8>) throws(DecodeError) -> (Int32, Int32) {
    var (start, end) = (Int32(0), Int32(0))
    for record in try WireRecord.all(in: bytes) {
      if record.number == 1 { start = record.int32 }
      if record.number == 2 { end = record.int32 }
    }
    return (start, end)
  }

  private func extensionRange(_ bytes: ArraySlice<UInt8>) throws(DecodeError)
    -> MessageDeclaration.ExtensionRange
  {
    let (start, end) = try range(bytes)
    var serializedOptions: [UInt8] = []
    for record in try WireRecord.all(in: bytes) where record.number == 3 { serializedOptions += record.bytes }
    return .init(
      numbers: Int64(start)..<max(Int64(start), Int64(end)),
      options: options("ExtensionRangeOptions", serializedOptions))
  }

  private func oneof(_ bytes: ArraySlice<UInt8>, _ path: [Int32]) throws(DecodeError)
    -> MessageDeclaration.Oneof
  {
    var name = ""
    var serializedOptions: [UInt8] = []
    for record in try WireRecord.all(in: bytes) {
      if record.number == 1 { name = record.text }
      if record.number == 2 { serializedOptions += record.bytes }
    }
    return .init(
      name: name, options: options("OneofOptions", serializedOptions), comments: comments(at: path))
  }

  // MARK: Fields

  private func field(
    _ bytes: ArraySlice<UInt8>, _ scope: String, _ path: [Int32]
  ) throws(DecodeError) -> FieldDeclaration {
    var field = FieldDeclaration(options: options("FieldOptions"))
    var serializedOptions: [UInt8] = []
    var kind: FieldKind?
    for record in try WireRecord.all(in: bytes) {
      switch record.number {
      case 1: field.name = record.text
      case 2: field.extendee = reference(record.text)
      case 3: field.number = record.int32
      case 4: field.label = .init(rawValue: record.int32) ?? .optional
      case 5: kind = FieldKind(rawValue: UInt8(truncatingIfNeeded: record.bits))
      case 6: field.typeName = reference(record.text)
      case 7: field.defaultBytes = Array(record.bytes)
      case 8: serializedOptions += record.bytes
      case 9: field.oneofIndex = Int(record.int32)
      case 10: field.jsonNameBytes = Array(record.bytes)
      case 17: field.isProto3Optional = record.bool
      default: break
      }
    }
    // The kind may be omitted where the type must be resolved, which compilers never do.
    field.kind = kind ?? .message
    field.fullName = join(scope, field.name)
    field.options = options("FieldOptions", serializedOptions)
    field.comments = comments(at: path)
    return field
  }

  // MARK: Enums

  private func enumeration(
    _ bytes: ArraySlice<UInt8>, _ scope: String, _ path: [Int32]
  ) throws(DecodeError) -> EnumDeclaration {
    var type = EnumDeclaration(options: options("EnumOptions"))
    var serializedOptions: [UInt8] = []
    for record in try WireRecord.all(in: bytes) {
      switch record.number {
      case 1: type.name = record.text
      case 2: type.values.append(try value(record.bytes, path + [2, Int32(type.values.count)]))
      case 3: serializedOptions += record.bytes
      case 4:
        let (start, end) = try range(record.bytes)
        type.reservedNumbers.append(start...max(start, end))
      case 5: type.reservedNames.append(record.text)
      case 6: type.visibility = record.int32
      default: break
      }
    }
    type.fullName = join(scope, type.name)
    type.options = options("EnumOptions", serializedOptions)
    type.comments = comments(at: path)
    return type
  }

  private func value(_ bytes: ArraySlice<UInt8>, _ path: [Int32]) throws(DecodeError) -> EnumDeclaration.Value
  {
    var name = ""
    var number: Int32 = 0
    var serializedOptions: [UInt8] = []
    for record in try WireRecord.all(in: bytes) {
      if record.number == 1 { name = record.text }
      if record.number == 2 { number = record.int32 }
      if record.number == 3 { serializedOptions += record.bytes }
    }
    return .init(
      name: name, number: number, options: options("EnumValueOptions", serializedOptions),
      comments: comments(at: path))
  }

  // MARK: Services

  private func service(
    _ bytes: ArraySlice<UInt8>, _ scope: String, _ path: [Int32]
  ) throws(DecodeError) -> ServiceDeclaration {
    var service = ServiceDeclaration(options: options("ServiceOptions"))
    let records = try WireRecord.all(in: bytes)
    service.name = records.last { $0.number == 1 }?.text ?? ""
    service.fullName = join(scope, service.name)
    service.comments = comments(at: path)
    var serializedOptions: [UInt8] = []
    for record in records {
      if record.number == 3 { serializedOptions += record.bytes }
      guard record.number == 2 else { continue }
      service.methods.append(
        try method(record.bytes, service.fullName, path + [2, Int32(service.methods.count)]))
    }
    service.options = options("ServiceOptions", serializedOptions)
    return service
  }

  private func method(
    _ bytes: ArraySlice<UInt8>, _ service: String, _ path: [Int32]
  ) throws(DecodeError) -> ServiceDeclaration.Method {
    var method = ServiceDeclaration.Method(options: options("MethodOptions"))
    var serializedOptions: [UInt8] = []
    for record in try WireRecord.all(in: bytes) {
      switch record.number {
      case 1: method.name = record.text
      case 2: method.input = reference(record.text)
      case 3: method.output = reference(record.text)
      case 4:
        serializedOptions += record.bytes
        method.hasBody = true
      case 5: method.clientStreaming = record.bool
      case 6: method.serverStreaming = record.bool
      default: break
      }
    }
    method.path = "\(service)/\(method.name)"
    method.options = options("MethodOptions", serializedOptions)
    method.comments = comments(at: path)
    return method
  }
}
