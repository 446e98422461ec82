/// Selects values of a message without a schema, by the numbers of fields: `3[0].1`.
///
/// A number without an index means all values of the field, a negative index counts from the end, and `[]` means all.
package struct NumberSelector: Equatable, Sendable {
  private struct Step: Equatable {
    let number: UInt32
    /// The index of the value; nil for all values.
    var index: Int64?
    /// Whether brackets may follow.
    var isWhole = true
  }

  private let steps: [Step]

  /// Makes the selector of a path whose names are numbers; returns nil for other paths.
  package init?(_ path: FieldPath) {
    var steps: [Step] = []
    for step in path.steps {
      switch step {
      case .field(let name):
        guard let number = UInt32(name), (1...0x1FFF_FFFF).contains(number) else { return nil }
        steps.append(Step(number: number))
      case .each, .subscripted(.integer):
        guard steps.last?.isWhole == true else { return nil }
        steps[steps.endIndex - 1].isWhole = false
        if case .subscripted(.integer(let index)) = step { steps[steps.endIndex - 1].index = index }
      case .extension, .any, .subscripted: return nil
      }
    }
    guard !steps.isEmpty else { return nil }
    self.steps = steps
  }

  /// Appends the selected values of a message.
  ///
  /// - Parameters:
  ///   - message: The serialized message.
  ///   - options: The options of JSON; nil to append the bytes of length-delimited values as they are.
  ///   - out: Receives each value; in JSON, an object with all types that it can have, with a line feed.
  /// - Returns: The number of values, and of those that are not length-delimited and were not appended.
  package func append(
    _ message: RawSpan, options: JSONEncodingOptions?, to out: inout [UInt8]
  ) throws(DecodeError) -> (found: Int, refused: Int) {
    var values = (found: 0, refused: 0)
    var buffer = OutputBuffer()
    try message.withUnsafeBytes { (bytes) throws(DecodeError) in
      for content in try Self.select(steps[...], in: WireReader(bytes)) {
        values.found += 1
        if let options {
          try WireToJSON.transcode(unknown: content, options: options, into: &buffer)
          buffer.append(10)
        } else if case .lengthDelimited(let reader) = content {
          buffer.append(reader.rest)
        } else {
          values.refused += 1
        }
      }
    }
    buffer.withBytes { out.append(contentsOf: $0) }
    return values
  }

  private static func select(
    _ steps: ArraySlice<Step>, in message: WireReader
  ) throws(DecodeError) -> [UnknownField.Content] {
    guard let step = steps.first else { return [] }
    var values = try UnknownField.all(in: message).filter { $0.number == step.number }.map(\.content)
    if let index = step.index {
      values = FieldPath.position(index, count: values.count).map { [values[$0]] } ?? []
    }
    guard steps.count > 1 else { return values }
    var found: [UnknownField.Content] = []
    for value in values {
      switch value {
      case .lengthDelimited(let inner), .group(let inner):
        if inner.isMessage { found += try select(steps.dropFirst(), in: inner) }
      case .varint, .fixed32, .fixed64: break
      }
    }
    return found
  }
}
