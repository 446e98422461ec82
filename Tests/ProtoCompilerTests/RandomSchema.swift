/// Numbers that are the same for the same seed.
struct SeededNumbers: RandomNumberGenerator {
  private var state: UInt64

  init(_ seed: Int) { state = UInt64(truncatingIfNeeded: seed) &* 0x9E37_79B9_7F4A_7C15 }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
    return value ^ value >> 31
  }
}

/// Two valid `.proto` files that a seed determines: `rSEED/types.proto`, with custom options, and `rSEED/main.proto`, which imports it.
struct RandomSchema {
  enum Syntax: CaseIterable {
    case proto2, proto3, edition2023, edition2024

    var isEdition: Bool { self == .edition2023 || self == .edition2024 }
  }

  /// A message or an enum that fields can have as their type.
  private struct Known {
    var name: String
    var isEnum = false
    var isOpen = false
    var beginsWithZero = true
    var firstValue = ""
  }

  /// The declaration whose text is written.
  private struct Plan {
    var name: String
    var fullName: String
    var messages: [Plan] = []
    var enums: [Known] = []
  }

  let seed: Int
  let syntax: Syntax
  private(set) var files: [(name: String, text: String)] = []
  private var numbers: SeededNumbers
  private var known: [Known] = []
  private var nameCount = 0
  private var text = ""
  private var indentation = ""

  init(seed: Int) {
    self.seed = seed
    numbers = SeededNumbers(seed)
    syntax = Syntax.allCases.randomElement(using: &numbers) ?? .proto2
    for file in ["types", "main"] {
      text = ""
      write(file)
      files.append(("\(package)/\(file).proto", text))
    }
  }

  private var package: String { "r\(seed)" }
  /// The first number of the options of this schema: other schemas may be in one run of a compiler.
  private var optionBase: Int { 20_000 + seed * 30 }

  // MARK: Choices

  private mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &numbers) }
  private mutating func chance(_ percent: Int) -> Bool { number(1...100) <= percent }
  private mutating func pick<T>(_ values: [T]) -> T { values[number(0...values.count - 1)] }

  /// A word that no other declaration has: `b`, `c`, …, `ba`.
  private mutating func word() -> String {
    nameCount += 1
    var (rest, word) = (nameCount, "")
    while rest > 0 {
      word = String(UnicodeScalar(UInt8(97 + rest % 26))) + word
      rest /= 26
    }
    return word
  }

  private mutating func typeName(_ start: String) -> String { "\(start)\(word())" }

  private mutating func fieldName() -> String {
    let word = word()
    guard syntax != .edition2024, chance(25) else { return "some_\(word)" }
    return pick([
      "some\(word)", "someField\(word.uppercased())", "_\(word)", "a__\(word)", "A\(word)", "\(word)_",
    ])
  }

  private mutating func line(_ line: String) {
    if chance(10) { text += "\(indentation)// About \(word()).\n" }
    if chance(4) {
      text += "\n\(indentation)/* Detached. */\n\n\(indentation)/* Two\n\(indentation) * lines. */\n"
    }
    text += "\(indentation)\(line)\(chance(5) ? " // Behind." : "")\n"
  }

  private mutating func block(_ head: String, _ body: (inout RandomSchema) -> Void) {
    line("\(head) {")
    indentation += "  "
    body(&self)
    indentation.removeLast(2)
    line("}")
  }

  // MARK: Files

  private mutating func write(_ file: String) {
    switch syntax {
    case .proto2: text += chance(80) ? "syntax = \"proto2\";\n" : ""
    case .proto3: text += "syntax = 'proto3';\n"
    case .edition2023: text += "edition = \"2023\";\n"
    case .edition2024: text += "edition = \"2024\";\n"
    }
    line("package \(package);")
    if file == "main" {
      line("import \(chance(20) ? "public " : "")\"\(package)/types.proto\";")
    } else {
      line("import \"google/protobuf/descriptor.proto\";")
    }
    if syntax.isEdition, chance(30) {
      line("option features.field_presence = \(pick(["EXPLICIT", "IMPLICIT"]));")
    }
    if chance(40) { line("option java_package = \(literal("string"));") }
    if chance(20) { line("option optimize_for = CODE_SIZE;") }
    if file == "main" { for option in customOptions("file") { line("option \(option);") } }
    isImplicit = text.contains("= IMPLICIT") || syntax == .proto3
    let plans = (0..<number(1...4)).map { _ in plan(package, depth: 0) }
    let enums = (0..<number(0...2)).map { _ in planEnum(package) }
    for type in enums { write(type) }
    for plan in plans { write(plan) }
    if file == "types" { writeOptions() } else { for _ in 0..<number(0...2) { service() } }
    // What only this file may use is not seen from another one.
    if syntax == .edition2024 { known.removeAll { $0.name.split(separator: ".").count > 2 } }
  }

  /// Whether fields of the present file have no presence if nothing else is said.
  private var isImplicit = false

  private mutating func plan(_ scope: String, depth: Int) -> Plan {
    let name = typeName("M")
    var plan = Plan(name: name, fullName: "\(scope).\(name)")
    known.append(Known(name: plan.fullName))
    if depth < 3, chance(40) {
      for _ in 0..<number(1...2) { plan.messages.append(self.plan(plan.fullName, depth: depth + 1)) }
    }
    if chance(30) { plan.enums.append(planEnum(plan.fullName)) }
    return plan
  }

  private mutating func planEnum(_ scope: String) -> Known {
    let name = typeName("E")
    let isOpen = syntax == .proto3 || syntax.isEdition && chance(70)
    let type = Known(
      name: "\(scope).\(name)", isEnum: true, isOpen: isOpen, beginsWithZero: isOpen || chance(70),
      firstValue: "\(name.uppercased())_FIRST")
    known.append(type)
    return type
  }

  /// The options that the other file sets, with a message of all types.
  private mutating func writeOptions() {
    let label = syntax == .proto2 ? "optional " : ""
    block("message Opt") { schema in
      for (index, type) in Self.scalars.enumerated() {
        schema.line("\(label)\(type) \(type)_value = \(index + 1);")
      }
      schema.line("repeated int32 numbers = 20;")
      schema.line("repeated string texts = 21;")
      schema.line("\(label)Opt inner = 22;")
      schema.line("repeated Opt more = 23;")
      schema.line("map<string, int32> counts = 24;")
    }
    for (index, kind) in Self.optionKinds.enumerated() {
      block("extend google.protobuf.\(kind)Options") { schema in
        let base = schema.optionBase + index * 3
        let name = Self.optionName(kind)
        // proto3 has presence for extensions.
        let label = schema.syntax.isEdition ? "" : "optional "
        schema.line("\(label)Opt \(name)_message = \(base);")
        schema.line("\(label)\(Self.scalars[index]) \(name)_scalar = \(base + 1);")
        schema.line("repeated string \(name)_texts = \(base + 2);")
      }
    }
  }

  private static let optionKinds = [
    "File", "Message", "Field", "Oneof", "ExtensionRange", "Enum", "EnumValue", "Service", "Method",
  ]
  private static let scalars = [
    "double", "float", "int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64",
    "sfixed32",
    "sfixed64", "bool", "string", "bytes",
  ]
  private static let keys = scalars.filter { !["double", "float", "bytes"].contains($0) }

  private static func optionName(_ kind: String) -> String {
    switch kind {
    case "ExtensionRange": "range"
    case "EnumValue": "value"
    default: kind.lowercased()
    }
  }

  // MARK: Declarations

  private mutating func write(_ type: Known) {
    let name = type.name.split(separator: ".").last.map(String.init) ?? ""
    block("enum \(name)") { schema in
      if schema.syntax.isEdition {
        schema.line("option features.enum_type = \(type.isOpen ? "OPEN" : "CLOSED");")
      }
      for option in schema.customOptions("enum") { schema.line("option \(option);") }
      let hasAlias = schema.chance(20)
      if hasAlias { schema.line("option allow_alias = true;") }
      var number = type.beginsWithZero ? 0 : schema.number(-5...5)
      schema.line("\(type.firstValue) = \(number)\(schema.brackets(schema.customOptions("value")));")
      if hasAlias { schema.line("\(name.uppercased())_ALIAS = \(number);") }
      for _ in 0..<schema.number(0...4) {
        number += schema.number(1...1000)
        schema.line(
          "\(name.uppercased())_\(schema.word().uppercased()) = \(schema.integer(number))\(schema.brackets(schema.customOptions("value")));"
        )
      }
      if schema.chance(20) {
        schema.line("reserved \(number + 1) to \(schema.pick(["max", "\(number + 9)"]));")
      }
      if schema.chance(20) { schema.line("reserved \(schema.reservedName("\(name.uppercased())_GONE"));") }
    }
  }

  private func reservedName(_ name: String) -> String { syntax.isEdition ? name : "\"\(name)\"" }

  private mutating func write(_ plan: Plan) {
    block("message \(plan.name)") { schema in
      for option in schema.customOptions("message") { schema.line("option \(option);") }
      if schema.chance(10) { schema.line("option deprecated = true;") }
      for type in plan.enums { schema.write(type) }
      var number = 0
      for _ in 0..<schema.number(0...6) { schema.member(plan.fullName, &number) }
      for inner in plan.messages { schema.write(inner) }
      if schema.chance(20) { schema.line("reserved \(number + 1), \(number + 3) to \(number + 9);") }
      if schema.chance(20) { schema.line("reserved \(schema.reservedName("gone_\(schema.word())"));") }
      number = 20_000 + schema.number(number...100_000)
      guard schema.syntax != .proto3, schema.chance(30) else { return }
      let end = schema.pick(["max", "\(number + 50)"])
      schema.line("extensions \(number) to \(end)\(schema.brackets(schema.customOptions("range")));")
      schema.block("extend \(schema.reference(plan.fullName))") { schema in
        for _ in 0..<schema.number(1...3) {
          number += 1
          schema.line(schema.field(plan.fullName, number, kind: .inExtension))
        }
      }
    }
  }

  private enum FieldKind {
    case plain, inOneof, inExtension
  }

  private mutating func member(_ scope: String, _ number: inout Int) {
    number += self.number(1...(chance(10) ? 3_000 : 3))
    switch self.number(0...9) {
    case 0:
      let (value, isImplicit) = (fieldType(), isImplicit)
      let isEnumOfMaps = { (type: Known) in type.beginsWithZero && (type.isOpen || !isImplicit) }
      guard value.known.map({ !$0.isEnum || isEnumOfMaps($0) }) ?? true else { return }
      line(
        "map<\(pick(Self.keys)), \(value.text)> \(fieldName()) = \(number)\(brackets(customOptions("field")));"
      )
    case 1:
      block("oneof \(fieldName())") { schema in
        for option in schema.customOptions("oneof") { schema.line("option \(option);") }
        for _ in 0..<schema.number(1...3) {
          schema.line(schema.field(scope, number, kind: .inOneof))
          number += 1
        }
      }
    case 2 where syntax == .proto2:
      let name = typeName("Group")
      block("\(pick(["optional", "repeated", "required"])) group \(name) = \(number)") { schema in
        schema.line(schema.field("\(scope).\(name)", 1, kind: .plain))
      }
    default: line(field(scope, number, kind: .plain))
    }
  }

  /// The type of a field, and the message or enum that it names.
  private mutating func fieldType() -> (text: String, known: Known?) {
    guard chance(40) else { return (pick(Self.scalars), nil) }
    let found = pick(known)
    return (reference(found.name), found)
  }

  /// A name as sources have it: with or without the package.
  private mutating func reference(_ name: String) -> String {
    pick([".\(name)", name, String(name.dropFirst(package.utf8.count + 1))])
  }

  private mutating func field(_ scope: String, _ number: Int, kind: FieldKind) -> String {
    var (type, known) = fieldType()
    var label = ""
    if kind != .inOneof {
      switch syntax {
      case .proto2:
        label = pick(
          kind == .plain ? ["optional", "optional", "required", "repeated"] : ["optional", "repeated"])
      case .proto3: label = pick(["", "", "optional", "repeated"])
      case .edition2023, .edition2024: label = pick(["", "", "repeated"])
      }
    }
    let isRepeated = label == "repeated"
    var options: [String] = []
    var isImplicit = syntax.isEdition && isImplicit && kind == .plain && !isRepeated && known?.isEnum != false
    if syntax.isEdition, kind == .plain, !isRepeated, known?.isEnum != false, chance(30) {
      let presence = pick(["EXPLICIT", "IMPLICIT", "LEGACY_REQUIRED"])
      isImplicit = presence == "IMPLICIT"
      options.append("features.field_presence = \(presence)")
    }
    // Only an open enum can do without presence.
    if isImplicit, let found = known, found.isEnum, !found.isOpen { (type, known) = ("int32", nil) }
    let isPackable = known?.isEnum ?? !["string", "bytes"].contains(type)
    if isRepeated, isPackable, chance(30) {
      options.append(
        syntax.isEdition
          ? "features.repeated_field_encoding = \(pick(["PACKED", "EXPANDED"]))" : "packed = \(chance(50))")
    }
    if syntax.isEdition, known?.isEnum == false, chance(20) {
      options.append("features.message_encoding = DELIMITED")
    }
    if syntax.isEdition, type == "string", chance(20) { options.append("features.utf8_validation = NONE") }
    if known == nil, type.hasSuffix("64"), chance(20) {
      options.append("jstype = \(pick(["JS_STRING", "JS_NUMBER"]))")
    }
    if syntax != .proto3, !isRepeated, !isImplicit, known?.isEnum != false, chance(30) {
      options.append("default = \(known?.firstValue ?? defaultValue(type))")
    }
    if kind != .inExtension, chance(10) { options.append("json_name = \"json\(word())\"") }
    if chance(10) { options.append("deprecated = \(chance(50))") }
    options += customOptions("field")
    return
      "\(label.isEmpty ? "" : "\(label) ")\(type) \(fieldName()) = \(integer(number))\(brackets(options));"
  }

  private mutating func service() {
    block("service \(typeName("S"))") { schema in
      for option in schema.customOptions("service") { schema.line("option \(option);") }
      let messages = schema.known.filter { !$0.isEnum }.map(\.name)
      for _ in 0..<schema.number(0...3) {
        let types = [schema.pick(messages), schema.pick(messages)].map {
          "(\(schema.chance(30) ? "stream " : "")\(schema.reference($0)))"
        }
        let head = "rpc \(schema.typeName("Call"))\(types[0]) returns \(types[1])"
        var options = schema.chance(20) ? ["idempotency_level = IDEMPOTENT"] : []
        options += schema.customOptions("method")
        if options.isEmpty {
          schema.line("\(head);")
        } else {
          schema.block(head) { schema in for option in options { schema.line("option \(option);") } }
        }
      }
    }
  }

  // MARK: Options and values

  private func brackets(_ options: [String]) -> String {
    options.isEmpty ? "" : " [\(options.joined(separator: ", "))]"
  }

  /// Settings of the custom options of a declaration, which only the second file has.
  private mutating func customOptions(_ name: String) -> [String] {
    guard !files.isEmpty, chance(15) else { return [] }
    let kind = Self.optionKinds.firstIndex { Self.optionName($0) == name } ?? 0
    var options: [String] = []
    if chance(50) {
      options.append("(\(reference("\(package).\(name)_message"))) = { \(aggregate(depth: 0)) }")
    }
    if chance(50) {
      options.append("(\(reference("\(package).\(name)_scalar"))) = \(literal(Self.scalars[kind]))")
    }
    if chance(50) {
      for _ in 0..<number(1...2) { options.append("(\(package).\(name)_texts) = \(literal("string"))") }
    }
    return options
  }

  private mutating func aggregate(depth: Int) -> String {
    var members: [String] = []
    for type in Self.scalars where chance(15) { members.append("\(type)_value: \(literal(type))") }
    if chance(20) { members.append("numbers: [\(literal("int32")), \(literal("int32"))]") }
    if chance(20) { members.append("texts: \(literal("string")), texts: \(literal("string"))") }
    if depth < 3, chance(20) { members.append("inner { \(aggregate(depth: depth + 1)) }") }
    if depth < 3, chance(20) { members.append("more: [{ \(aggregate(depth: depth + 1)) }, <>]") }
    if chance(20) { members.append("counts { key: \"a\" value: \(literal("int32")) }") }
    return members.joined(separator: pick([" ", ", ", "; "]))
  }

  private mutating func integer(_ value: Int) -> String {
    guard value >= 0, chance(20) else { return "\(value)" }
    return chance(50) ? "0x\(String(value, radix: 16))" : "0\(String(value, radix: 8))"
  }

  private mutating func defaultValue(_ type: String) -> String { literal(type) }

  /// A value of a scalar type.
  private mutating func literal(_ type: String) -> String {
    switch type {
    case "double", "float":
      pick(["0", "1", "-2.5", "1e10", "3.25e-5", "inf", "-inf", "nan", ".5", "1.", "16", "-7"])
    case "bool": pick(["true", "false"])
    case "string":
      pick(["\"\"", "'x'", "\"a\\tb\"", "\"\\u00e4 \\x41\" 'y'", "\"ö\"", "\"line\\n\"", "'\"'"])
    case "bytes": pick(["\"\"", "\"\\377\\0\"", "'\\x80z'", "\"a\\\\b\""])
    case "int32", "sint32", "sfixed32": pick(["0", "-1", "2147483647", "-2147483648", "0x7F", "017", "42"])
    case "int64", "sint64", "sfixed64": pick(["0", "-1", "9223372036854775807", "-9223372036854775808", "5"])
    case "uint32", "fixed32": pick(["0", "4294967295", "0xFF", "7"])
    default: pick(["0", "18446744073709551615", "0xffffffffff", "9"])
    }
  }
}
