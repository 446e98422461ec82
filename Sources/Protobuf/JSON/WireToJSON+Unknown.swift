/// Writing unknown fields: members named by number, each with a list of values, and for each value all types that it can
/// have.
extension WireToJSON {
  /// Appends a value whose type is unknown, as an object with all types that it can have.
  static func transcode(
    unknown content: UnknownField.Content, options: JSONEncodingOptions, into buffer: inout OutputBuffer
  ) throws(DecodeError) {
    var writer = WireToJSON(options: options, capacity: 64)
    try writer.types(of: content, budget: UnknownField.depthLimit)
    writer.out.withBytes { buffer.append($0) }
  }

  /// Writes the unknown fields of a message, after its other members.
  @inline(never)
  mutating func unknownFields(
    _ plan: PlanPointer, _ reader: WireReader, isEmpty: inout Bool
  ) throws(DecodeError) {
    let fields = try UnknownField.all(in: reader, of: plan)
    try members(fields, isEmpty: &isEmpty, budget: UnknownField.depthLimit)
  }

  private mutating func members(
    _ fields: [UnknownField], isEmpty: inout Bool, budget: Int
  ) throws(DecodeError) {
    // By number; values of one field keep their order.
    let order = fields.indices.sorted { (fields[$0].number, $0) < (fields[$1].number, $1) }
    var last: UInt32 = 0
    for index in order {
      let field = fields[index]
      let isNew = field.number != last
      if isNew {
        if last != 0 { close(UInt8(ascii: "]"), isEmpty: false) }
        member("\(field.number)", isFirst: isEmpty)
        open(UInt8(ascii: "["))
      }
      isEmpty = false
      last = field.number
      separate(isFirst: isNew)
      try types(of: field.content, budget: budget)
    }
    if last != 0 { close(UInt8(ascii: "]"), isEmpty: false) }
  }

  /// Writes the value as each type that it can have.
  private mutating func types(of content: UnknownField.Content, budget: Int) throws(DecodeError) {
    open(UInt8(ascii: "{"))
    switch content {
    case .varint(let bits):
      integer("uint64", bits, isNegative: false, isFirst: true)
      let signed = Int64(bitPattern: bits)
      if signed < 0 { integer("int64", signed.magnitude, isNegative: true) }
      let decoded = ZigZag.decode(bits)
      integer("sint64", decoded.magnitude, isNegative: decoded < 0)
      if bits < 2 {
        member("bool")
        out.append(bits == 1 ? "true" : "false" as StaticString)
      }
    case .fixed32(let bits):
      member("fixed32", isFirst: true)
      JSONText.appendInteger(UInt64(bits), to: &out)
      let signed = Int32(bitPattern: bits)
      if signed < 0 {
        member("sfixed32")
        JSONText.appendInteger(Int64(signed), to: &out)
      }
      member("float")
      JSONText.append(Float(bitPattern: bits), to: &out)
    case .fixed64(let bits):
      integer("fixed64", bits, isNegative: false, isFirst: true)
      let signed = Int64(bitPattern: bits)
      if signed < 0 { integer("sfixed64", signed.magnitude, isNegative: true) }
      member("double")
      JSONText.append(Double(bitPattern: bits), to: &out)
    case .lengthDelimited(let reader):
      var isFirst = true
      if budget > 0, reader.isMessage {
        try message("message", reader, budget: budget - 1)
        isFirst = false
      }
      if UTF8Validation.isValid(reader.rest) {
        member("string", isFirst: isFirst)
        JSONText.appendString(reader.rest, to: &out)
        isFirst = false
      }
      member("bytes", isFirst: isFirst)
      base64(reader.rest)
    case .group(let reader): try message("group", reader, budget: budget)
    }
    close(UInt8(ascii: "}"), isEmpty: false)
  }

  private mutating func message(_ name: String, _ reader: WireReader, budget: Int) throws(DecodeError) {
    member(name, isFirst: true)
    open(UInt8(ascii: "{"))
    var isEmpty = true
    try members(UnknownField.all(in: reader), isEmpty: &isEmpty, budget: budget)
    close(UInt8(ascii: "}"), isEmpty: isEmpty)
  }

  private mutating func integer(
    _ name: String, _ magnitude: UInt64, isNegative: Bool, isFirst: Bool = false
  ) {
    member(name, isFirst: isFirst)
    wholeNumber(magnitude, isNegative: isNegative)
  }

  private mutating func member(_ name: String, isFirst: Bool = false) {
    separate(isFirst: isFirst)
    JSONText.appendString(name, to: &out)
    out.append(options.pretty ? ": " : ":" as StaticString)
  }
}
