import RPCurlBase

/// The content of an ``EnumType``; its pool owns it, see ``FieldNode``.
final class EnumNode: Sendable {
  struct Value: Sendable {
    let name: String
    let number: Int32
    let isDeprecated: Bool
    let options: SerializedOptions
  }

  let name: String
  let file: String
  let values: [Value]
  let isClosed: Bool
  let options: SerializedOptions
  /// Why its values are not known; nil if they are.
  let failure: SchemaError?
  /// Whether it is `google.protobuf.NullValue`, whose only value is null in JSON.
  let isNullValue: Bool

  private let byNumber: [Int32: Int]
  // Of the pointers: constant, and owned by this object.
  nonisolated(unsafe) private let byName: NameTable.Frozen
  /// The quoted names, ready to be written.
  nonisolated(unsafe) private let keys: UnsafeMutablePointer<KeyBytes>
  nonisolated(unsafe) private let numbers: UnsafeMutablePointer<Int32>
  /// The indices of the values with small numbers, or -1.
  nonisolated(unsafe) private let dense: UnsafeMutablePointer<Int32>
  private let denseCount: Int

  init(
    name: String, file: String, values: [Value], isClosed: Bool, options: SerializedOptions,
    failure: SchemaError? = nil
  ) {
    self.failure = failure
    self.name = name
    self.file = file
    self.values = values
    self.isClosed = isClosed
    self.options = options
    isNullValue = name == "google.protobuf.NullValue"
    var byNumber: [Int32: Int] = [:]
    var byName = NameTable(capacity: values.count)
    for (index, value) in values.enumerated() {
      // With aliases, the first name of a number is written.
      if byNumber[value.number] == nil { byNumber[value.number] = index }
      var name = value.name
      name.withUTF8 { byName.insert(NameTable.hash(UnsafeRawBufferPointer($0)), index) }
    }
    self.byNumber = byNumber
    self.byName = NameTable.Frozen(byName)
    keys = .allocate(capacity: max(values.count, 1))
    for (index, value) in values.enumerated() { (keys + index).initialize(to: KeyBytes(value.name)) }
    numbers = .allocate(capacity: max(values.count, 1))
    for (index, value) in values.enumerated() { (numbers + index).initialize(to: value.number) }
    let highest = values.map(\.number).max() ?? 0
    denseCount = denseNumbers(upTo: UInt32(max(highest, 0)), fields: values.count)
    dense = .allocate(capacity: denseCount)
    dense.initialize(repeating: -1, count: denseCount)
    for (number, index) in byNumber where number >= 0 && number < denseCount {
      dense[Int(number)] = Int32(index)
    }
  }

  deinit {
    for index in values.indices { keys[index].deallocate() }
    keys.deallocate()
    numbers.deallocate()
    byName.deallocate()
    dense.deallocate()
  }

  /// The index of the value with a number, or -1.
  @inline(__always)
  private func index(of number: Int32) -> Int {
    if number >= 0, Int(number) < denseCount { return Int(dense[Int(number)]) }
    return otherIndex(of: number)
  }

  @inline(never)
  private func otherIndex(of number: Int32) -> Int { byNumber[number] ?? -1 }

  /// The first name of a number in its JSON form; also nil for the enum that is written as null.
  @inline(__always)
  func key(of number: Int32) -> KeyBytes? {
    let index = index(of: number)
    return index < 0 || isNullValue ? nil : keys[index]
  }

  var defaultNumber: Int32 { values.first?.number ?? 0 }

  func name(of number: Int32) -> String? {
    byNumber[number].map { values[$0].name }
  }

  func number(of name: String) -> Int32? {
    var name = name
    return name.withUTF8 { number(ofBytes: UnsafeRawBufferPointer($0)) }
  }

  @inline(__always)
  func number(ofBytes name: UnsafeRawBufferPointer) -> Int32? {
    byName.find(NameTable.hash(name)) { sameBytes(keys[$0].name, name) }.map { numbers[$0] }
  }

  /// The reason to reject a value, which the text shows as `shown`; `name` is nil for a number.
  func unknown(_ shown: String, name: String?) -> MessageParseError.Reason {
    if let failure { return .schema(failure) }
    let names = values.map(\.name)
    var nearest: [String] = []
    if let name {
      let prefix = EditDistance.commonPrefix(of: names, separator: UInt8(ascii: "_"))
      nearest = EditDistance.suggestions(for: name, among: names, separator: "_", prefix: prefix)
    }
    return .unknownEnumValue(
      value: shown, type: self.name, nearest: nearest, all: names.count <= 8 ? names : [])
  }

  /// Whether a field may have the number.
  @inline(__always)
  func accepts(_ number: Int32) -> Bool {
    !isClosed || index(of: number) >= 0
  }
}
