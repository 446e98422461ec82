import RPCurlProtobuf
import Testing

@testable import RPCurlSchemaTools

/// Which rules a change breaks, of all categories. End-to-end tests compare the same with buf.
struct SchemaComparisonTests {
  typealias D = Descriptors

  private func changed(_ old: [UInt8], _ new: [UInt8], syntax: String = "proto3") throws -> Set<Rule> {
    try D.rules(D.set(D.file(old, syntax: syntax)), D.set(D.file(new, syntax: syntax)))
  }

  /// The rules that a change of a field's type breaks.
  private func retyped(_ old: [UInt8], _ new: [UInt8], syntax: String = "proto3") throws -> Set<Rule> {
    try changed(D.message("M", old), D.message("M", new), syntax: syntax)
  }

  @Test func categoriesHaveTheirRules() {
    #expect(RuleCategory.file.rules.count == 51)
    #expect(RuleCategory.package.rules.count == 51)
    #expect(RuleCategory.wireJSON.rules.count == 22)
    #expect(RuleCategory.wire.rules.count == 15)
    #expect(Rule.allCases.allSatisfy { !$0.categories.isEmpty })
  }

  @Test func equalSchemasHaveNoDifferences() throws {
    let file = D.file(D.message("M", D.field("a", 1, .string)))
    #expect(try D.findings(D.set(file), D.set(file)).isEmpty)
  }

  @Test(
    arguments: [
      ("p.M", [.packageMessageNoDelete]), ("p.M.foo", [.packageMessageNoDelete]), ("p.MM", []),
      ("p.S.A", [.packageServiceNoDelete]), ("p.N.old", [.fieldSameName, .fieldSameJSONName]),
      ("p.N.new", [.fieldSameName, .fieldSameJSONName]), ("p.N.same", []), ("p.E.OLD", [.enumValueSameName]),
      ("p.E.NEW", [.enumValueSameName]), ("q.K.foo", [.packageNoDelete, .fileSamePackage]), ("q.r.K", []),
    ] as [(String, Set<Rule>)])
  func namesAreConcernedByTheRemovalOfTheirScope(name: String, rules: Set<Rule>) throws {
    func schema(_ field: String, _ value: String, _ content: [UInt8]..., package: String) -> [UInt8] {
      let rest = D.message("N", D.field(field, 1, .string), D.field("same", 2, .string))
      return D.set(
        D.file(rest, D.message("MM"), D.enumeration("E", D.value(value, 0)), content.flatMap { $0 }),
        D.file(D.message("K", D.field("foo", 1, .string)), name: "b.proto", package: package),
        D.file(D.message("K"), name: "c.proto", package: "q.r"))
    }
    let removed = [D.message("M", D.field("foo", 1, .string)), D.service("S", D.method("A", "p.N", "p.N"))]
    let old = schema("old", "OLD", removed[0], removed[1], package: "q")
    let found = try D.findings(old, schema("new", "NEW", package: "z"), RuleCategory.package.rules)
    #expect(Set(found.filter { $0.concerns(name) }.compactMap(\.rule)) == rules)
  }

  @Test func comparesTheDeclarationsOfFiles() throws {
    let old = D.set(
      D.file(
        D.message("Moved"), D.message("Gone", D.nested("Inner")), D.message("Kept", D.nested("Lost")),
        D.enumeration("E", D.value("ZERO", 0)), D.service("S")),
      D.file(D.message("K"), name: "b.proto"))
    let new = D.set(
      D.file(D.message("Kept"), package: "q"),
      D.file(D.message("Moved"), D.message("K"), name: "c.proto"))
    let found = try D.findings(old, new, RuleCategory.file.rules.subtracting([.fileSamePackage]))
    #expect(
      found.map { "\($0.rule?.rawValue ?? ""): \($0.text)" } == [
        "MESSAGE_NO_DELETE: message p.Moved moved from a.proto to c.proto",
        "MESSAGE_NO_DELETE: message p.Gone was removed from a.proto",
        "MESSAGE_NO_DELETE: message p.Gone.Inner was removed from a.proto",
        "MESSAGE_NO_DELETE: message p.Kept.Lost was removed from a.proto",
        "ENUM_NO_DELETE: enum p.E was removed from a.proto",
        "SERVICE_NO_DELETE: service p.S was removed from a.proto",
        ": message q.Kept was added", "FILE_NO_DELETE: file b.proto was removed",
      ])
    #expect(found.compactMap(\.old?.file) == [String](repeating: "a.proto", count: 6) + ["b.proto"])
    #expect(found[0].new?.package == "q" && found[0].old?.package == "p" && found[7].new == nil)
  }

  /// The built-in schemas have files without options that a schema may contain, too.
  @Test func builtInFilesAreNotPartOfAnAPI() throws {
    func pool(_ files: [UInt8]...) throws -> DescriptorPool {
      let pool = try D.pool(files.flatMap { D.bytes(1, $0) })
      try pool.add(WellKnownSchemas.set, source: WellKnownSchemas.sourceName)
      return pool
    }
    func rules(_ old: DescriptorPool, _ new: DescriptorPool) throws -> Set<Rule?> {
      Set(try SchemaComparison.findings(ofAPI: old, new, rules: D.rules).map(\.rule))
    }
    let name = "google/rpc/status.proto"
    let status = D.file(
      D.message("Status", D.field("code", 1, .string)), D.bytes(8, D.text(1, "com.google.rpc")), name: name,
      package: "google.rpc")
    let (plain, importing) = (D.file(D.message("M")), D.file(D.message("M"), D.text(3, name)))
    #expect(try rules(pool(plain), pool(plain, status)) == [nil])
    #expect(try rules(pool(plain, status), pool(plain)) == [.packageNoDelete])
    #expect(try rules(pool(importing, status), pool(importing)) == [])
    #expect(try rules(pool(importing), pool(importing, status)) == [])
    let changed = D.file(D.message("Status"), name: name, package: "google.rpc")
    #expect(try rules(pool(importing, status), pool(importing, changed)).contains(.fieldNoDelete))
  }

  // MARK: Fields

  @Test func describesAChangedType() throws {
    let old = D.file(D.message("M", D.field("a", 1, .string)))
    let new = D.file(D.message("M", D.field("a", 1, .int32)))
    let found = try D.findings(D.set(old), D.set(new), RuleCategory.wireJSON.rules)
    let text = "message p.M: field 1 \"a\" changed its type from string to int32"
    let side = SchemaFinding.Side(file: "a.proto", package: "p", place: nil)
    #expect(
      found == [
        SchemaFinding(
          rule: .fieldWireJSONCompatibleType, file: "a.proto", symbol: "p.M.a", text: text, others: ["p.M.a"],
          old: side, new: side)
      ])
  }

  @Test(
    arguments: [
      (.int32, .int32, []), (.int32, .uint32, [.fieldSameType]),
      (.int32, .int64, [.fieldSameType, .fieldWireJSONCompatibleType]),
      (.int32, .bool, [.fieldSameType, .fieldWireJSONCompatibleType]),
      (.int64, .uint64, [.fieldSameType]), (.fixed32, .sfixed32, [.fieldSameType]),
      (.fixed64, .sfixed64, [.fieldSameType]),
      (.int32, .sint32, [.fieldSameType, .fieldWireJSONCompatibleType, .fieldWireCompatibleType]),
      (.sint32, .sint64, [.fieldSameType, .fieldWireJSONCompatibleType]),
      (.string, .bytes, [.fieldSameType, .fieldWireJSONCompatibleType]),
      (.bytes, .string, [.fieldSameType, .fieldWireJSONCompatibleType, .fieldWireCompatibleType]),
      (.float, .double, [.fieldSameType, .fieldWireJSONCompatibleType, .fieldWireCompatibleType]),
      (.fixed32, .int32, [.fieldSameType, .fieldWireJSONCompatibleType, .fieldWireCompatibleType]),
    ] as [(FieldKind, FieldKind, Set<Rule>)])
  func groupsTypes(old: FieldKind, new: FieldKind, rules: Set<Rule>) throws {
    #expect(try retyped(D.field("a", 1, old), D.field("a", 1, new)) == rules)
  }

  @Test func comparesNamesOfMessageTypes() throws {
    let types = D.message("A") + D.message("B")
    let old = types + D.message("M", D.field("a", 1, .message, D.type("p.A")))
    let new = types + D.message("M", D.field("a", 1, .message, D.type("p.B")))
    #expect(
      try changed(old, new) == [.fieldSameType, .fieldWireJSONCompatibleType, .fieldWireCompatibleType])
  }

  @Test func anEnumMayMoveIfItKeepsItsValues() throws {
    let zero = D.value("ZERO", 0)
    let one = D.value("ONE", 1)
    func schema(_ type: String, outer: [UInt8], nested: [UInt8]) -> [UInt8] {
      D.enumeration("E", outer) + D.message("O", D.bytes(4, D.text(1, "E") + nested))
        + D.message("M", D.field("a", 1, .enumeration, D.type(type)))
    }
    let old = schema("p.E", outer: zero, nested: zero + one)
    #expect(try changed(old, schema("p.O.E", outer: zero, nested: zero + one)) == [.fieldSameType])
    let less = schema("p.E", outer: zero + one, nested: zero)
    let found = try changed(less, schema("p.O.E", outer: zero + one, nested: zero))
    #expect(found == [.fieldSameType, .fieldWireJSONCompatibleType, .fieldWireCompatibleType])
  }

  @Test(
    arguments: [
      ("none", [.fieldNoDelete, .fieldNoDeleteUnlessNameReserved, .fieldNoDeleteUnlessNumberReserved]),
      ("number", [.fieldNoDelete, .fieldNoDeleteUnlessNameReserved]),
      ("name", [.fieldNoDelete, .fieldNoDeleteUnlessNumberReserved]), ("both", [.fieldNoDelete]),
    ] as [(String, Set<Rule>)])
  func removedFieldsMayBeReserved(what: String, rules: Set<Rule>) throws {
    var rest = D.field("b", 2, .string)
    if what == "number" || what == "both" { rest += D.range(9, 1, 2) }
    if what == "name" || what == "both" { rest += D.text(10, "a") }
    #expect(try retyped(D.field("a", 1, .string) + D.field("b", 2, .string), rest) == rules)
  }

  @Test func aRenumberedFieldIsRemovedAndAdded() throws {
    let old = D.file(D.message("M", D.field("a", 1, .string)))
    let new = D.file(D.message("M", D.field("a", 2, .string)))
    let found = try D.findings(D.set(old), D.set(new), RuleCategory.wire.rules)
    #expect(found.map(\.rule) == [.fieldNoDeleteUnlessNumberReserved, nil])
    #expect(found.last?.text == "message p.M: field 2 \"a\" was added")
  }

  @Test func comparesNames() throws {
    #expect(
      try retyped(D.field("a", 1, .string), D.field("b", 1, .string)) == [.fieldSameName, .fieldSameJSONName])
    let json = D.text(10, "a")
    #expect(try retyped(D.field("a", 1, .string), D.field("b", 1, .string, json)) == [.fieldSameName])
    #expect(
      try retyped(D.field("a_b", 1, .string, D.text(10, "aB")), D.field("a_b", 1, .string)) == [],
      "the default name may be omitted")
  }

  @Test(
    arguments: [
      ("proto3", "optional", [.fieldSameCardinality]),
      (
        "proto3", "repeated",
        [.fieldSameCardinality, .fieldWireJSONCompatibleCardinality, .fieldWireCompatibleCardinality]
      ),
      (
        "proto2", "required",
        [
          .fieldSameCardinality, .fieldWireJSONCompatibleCardinality, .fieldWireCompatibleCardinality,
          .messageSameRequiredFields,
        ]
      ), ("proto2", "optional", []),
    ] as [(String, String, Set<Rule>)])
  func groupsCardinalities(syntax: String, label: String, rules: Set<Rule>) throws {
    let old = D.field("a", 1, .string)
    let new =
      switch label {
      case "repeated": D.field("a", 1, .string, label: 3)
      case "required": D.field("a", 1, .string, label: 2)
      default:
        syntax == "proto2"
          ? old : D.field("a", 1, .string, D.number(9, 0), D.number(17, 1)) + D.bytes(8, D.text(1, "_a"))
      }
    #expect(try retyped(old, new, syntax: syntax) == rules)
    #expect(try retyped(new, old, syntax: syntax) == rules)
  }

  @Test func aMapIsAListOfEntriesOnTheWire() throws {
    let isEntry = D.bytes(7, D.number(7, 1))
    func message(_ options: [UInt8]) -> [UInt8] {
      let members = D.field("key", 1, .string) + D.field("value", 2, .string)
      return D.nested("AEntry", members, options)
        + D.field("a", 1, .message, label: 3, D.type("p.M.AEntry"))
    }
    let found = try retyped(message([]), message(isEntry))
    #expect(found == [.fieldSameCardinality, .fieldWireJSONCompatibleCardinality])
  }

  @Test func comparesOneofs() throws {
    let oneofs = D.bytes(8, D.text(1, "x")) + D.bytes(8, D.text(1, "y"))
    let (x, y) = (D.field("a", 1, .string, D.number(9, 0)), D.field("a", 1, .string, D.number(9, 1)))
    #expect(try retyped(oneofs + x, oneofs + y) == [.fieldSameOneof])
    let outside = D.field("a", 1, .string)
    #expect(try retyped(oneofs + outside, oneofs + x) == [.fieldSameOneof, .fieldSameCardinality])
    #expect(
      try retyped(oneofs + x, outside) == [.fieldSameOneof, .fieldSameCardinality, .oneofNoDelete])
  }

  @Test(
    arguments: [
      (.int32, "", "5", true), (.int32, "", "0", false), (.int32, "5", "5", false), (.bool, "", "true", true),
      (.bool, "false", "", false), (.string, "", "a", true), (.bytes, "\\001", "\\x01", false),
      (.double, "1", "1.0", false), (.double, "nan", "nan", false), (.double, "1", "inf", true),
      (.int64, "9007199254740992", "9007199254740993", true),
    ] as [(FieldKind, String, String, Bool)])
  func comparesDefaults(kind: FieldKind, old: String, new: String, isBroken: Bool) throws {
    func field(_ text: String) -> [UInt8] { D.field("a", 1, kind, text.isEmpty ? [] : D.text(7, text)) }
    let rules: Set<Rule> = isBroken ? [.fieldSameDefault] : []
    #expect(try retyped(field(old), field(new), syntax: "proto2") == rules)
  }

  @Test func comparesDefaultsOfEnumsByNumber() throws {
    let values = D.value("ONE", 1) + D.value("UNO", 1) + D.value("TWO", 2)
    func schema(_ text: String) -> [UInt8] {
      D.enumeration("E", values)
        + D.message("M", D.field("a", 1, .enumeration, D.type("p.E"), text.isEmpty ? [] : D.text(7, text)))
    }
    #expect(try changed(schema(""), schema("UNO"), syntax: "proto2") == [])
    #expect(try changed(schema(""), schema("TWO"), syntax: "proto2") == [.fieldSameDefault])
  }

  @Test func comparesOptionsOfFields() throws {
    func field(_ kind: FieldKind, _ option: UInt64, _ value: UInt64) -> [UInt8] {
      D.field("a", 1, kind, D.bytes(8, D.number(option, value)))
    }
    #expect(try retyped(field(.int64, 6, 0), field(.int64, 6, 1)) == [.fieldSameJSType])
    #expect(try retyped(field(.int32, 6, 0), field(.int32, 6, 1)) == [])
    #expect(try retyped(field(.string, 1, 0), field(.string, 1, 1)) == [.fieldSameCppStringType])
    #expect(try retyped(field(.string, 1, 2), field(.string, 1, 0)) == [], "a piece may become a string")
    #expect(try retyped(field(.string, 1, 0), field(.string, 1, 2)) == [.fieldSameCppStringType])
  }

  @Test func comparesExtensionsByNumber() throws {
    let base = D.message("M", D.range(5, 100, 200))
    let old = base + D.extensionField("x", 100, .string, of: "p.M")
    let new = base + D.extensionField("y", 100, .int32, of: "p.M")
    let found = try changed(old, new, syntax: "proto2")
    #expect(
      found == [
        .fieldSameName, .fieldSameType, .fieldWireJSONCompatibleType, .fieldWireCompatibleType,
        .packageExtensionNoDelete,
      ])
    #expect(try changed(old, base, syntax: "proto2") == [.packageExtensionNoDelete])
  }

  // MARK: Messages

  @Test func comparesReservedAndExtensionRanges() throws {
    let old = D.range(9, 4, 10) + D.text(10, "a") + D.range(5, 100, 536_870_912)
    #expect(try retyped(old, D.range(9, 1, 20) + D.text(10, "a") + D.range(5, 100, 536_870_912)) == [])
    let new = D.range(9, 4, 6) + D.range(5, 100, 200)
    let found = try D.findings(
      D.set(D.file(D.message("M", old))), D.set(D.file(D.message("M", new))))
    #expect(
      found.map(\.text) == [
        "message p.M: numbers no longer reserved: 6 to 9",
        "message p.M: names no longer reserved: \"a\"",
        "message p.M: numbers no longer for extensions: 200 to max",
      ])
    #expect(
      found.map(\.rule) == [.reservedMessageNoDelete, .reservedMessageNoDelete, .extensionMessageNoDelete])
  }

  @Test func comparesOptionsOfMessages() throws {
    let option = D.bytes(7, D.number(2, 1))
    #expect(try retyped([], option) == [.messageNoRemoveStandardDescriptorAccessor])
    #expect(try retyped(option, []) == [])
  }

  @Test func removedDeclarationsAreOfThePackage() throws {
    let all = D.message("M", D.nested("N")) + D.enumeration("E", D.value("Z", 0)) + D.service("S")
    let rest = D.message("R")
    let found = try D.findings(D.set(D.file(all, rest)), D.set(D.file(rest)))
    #expect(
      found.map(\.text) == [
        "message p.M was removed", "message p.M.N was removed", "enum p.E was removed",
        "service p.S was removed",
      ])
    #expect(
      found.map(\.rule) == [
        .packageMessageNoDelete, .packageMessageNoDelete, .packageEnumNoDelete, .packageServiceNoDelete,
      ])
    // Another file of the package may declare them.
    let moved = D.set(D.file(rest), D.file(all, name: "b.proto"))
    #expect(try D.findings(D.set(D.file(all, rest)), moved).isEmpty)
  }

  @Test func aRemovedPackageIsOneFinding() throws {
    let old = D.set(D.file(D.message("M"), name: "m.proto"), D.file(D.message("N"), name: "n.proto"))
    let found = try D.findings(old, D.set(D.file(name: "q.proto", package: "q")))
    #expect(found.map(\.rule) == [.packageNoDelete])
    #expect(found.map(\.file) == ["m.proto"])
  }

  // MARK: Enums

  @Test func comparesValuesOfEnums() throws {
    func type(_ values: [UInt8]...) -> [UInt8] { D.enumeration("E", values.flatMap { $0 }) }
    let (zero, one) = (D.value("ZERO", 0), D.value("ONE", 1))
    let all: Set<Rule> = [
      .enumValueNoDelete, .enumValueNoDeleteUnlessNameReserved, .enumValueNoDeleteUnlessNumberReserved,
    ]
    #expect(try changed(type(zero, one), type(zero)) == all)
    let reserved = D.range(4, 1, 1) + D.text(5, "ONE")
    #expect(try changed(type(zero, one), type(zero, reserved)) == [.enumValueNoDelete])
    #expect(try changed(type(zero, one), type(zero, D.value("UNO", 1))) == [.enumValueSameName])
    #expect(try changed(type(zero, one), type(zero, one, D.value("UNO", 1))) == [])
    #expect(try changed(type(zero, one, D.value("UNO", 1)), type(zero, one)) == [.enumValueSameName])
    #expect(try changed(type(zero, reserved), type(zero)) == [.reservedEnumNoDelete])
  }

  // MARK: Files

  @Test func comparesFiles() throws {
    func options(_ content: [UInt8]...) -> [UInt8] { D.bytes(8, content.flatMap { $0 }) }
    let old = options(D.text(11, "a"), D.text(1, "j"), D.number(10, 0), D.number(31, 1))
    #expect(try changed(old, options(D.text(11, "b"), D.text(1, "j"))) == [.fileSameGoPackage])
    #expect(
      try changed(old, options(D.text(11, "a"), D.number(10, 1), D.number(9, 2), D.number(31, 0))) == [
        .fileSameJavaPackage, .fileSameJavaMultipleFiles, .fileSameOptimizeFor, .fileSameCcEnableArenas,
      ])
    let empty = D.file(D.service("S"))
    #expect(try D.rules(D.set(empty), D.set(D.file(D.service("S"), syntax: "proto2"))) == [.fileSameSyntax])
    let other = D.file(D.service("S"), package: "q")
    #expect(try D.rules(D.set(empty), D.set(other)) == [.fileSamePackage, .packageNoDelete])
  }

  @Test func comparesFeaturesOfEditions() throws {
    func file(_ features: [UInt8]) -> [UInt8] {
      D.file(
        D.message("M", D.field("a", 1, .string), D.field("b", 2, .message, D.type("p.M"))),
        D.enumeration("E", D.value("Z", 0)), D.bytes(8, D.bytes(50, features)), syntax: "edition")
    }
    let cases: [([UInt8], Set<Rule>)] = [
      (D.number(1, 2), [.fieldSameCardinality]), (D.number(2, 2), [.enumSameType]),
      (D.number(4, 3), [.fieldSameUTF8Validation, .fieldSameJavaUTF8Validation]),
      (D.number(5, 2), [.fieldSameType, .fieldWireJSONCompatibleType, .fieldWireCompatibleType]),
      (D.number(6, 2), [.messageSameJSONFormat, .enumSameJSONFormat]),
      (D.bytes(1000, D.number(2, 1)), [.fieldSameCppStringType]),
      (D.bytes(1001, D.number(2, 2)), []),
      (D.number(4, 3) + D.bytes(1001, D.number(2, 2)), [.fieldSameUTF8Validation]),
    ]
    for (features, rules) in cases {
      #expect(try D.rules(D.set(file([])), D.set(file(features))) == rules)
    }
  }

  // MARK: Services

  @Test func comparesMethods() throws {
    func service(_ content: [UInt8], input: String = "p.M", output: String = "p.M") -> [UInt8] {
      D.message("M") + D.message("N") + D.service("S", D.method("A", input, output, content))
    }
    let old = service([])
    let cases: [([UInt8], Rule)] = [
      (service([], input: "p.N"), .rpcSameRequestType), (service([], output: "p.N"), .rpcSameResponseType),
      (service(D.number(5, 1)), .rpcSameClientStreaming), (service(D.number(6, 1)), .rpcSameServerStreaming),
      (service(D.bytes(4, D.number(34, 1))), .rpcSameIdempotencyLevel),
      (D.message("M") + D.message("N") + D.service("S"), .rpcNoDelete),
    ]
    for (new, rule) in cases { #expect(try changed(old, new) == [rule]) }
  }

  // MARK: Additions and bounds

  @Test func additionsAreListedWithoutARule() throws {
    let old = D.file(D.message("M"), D.enumeration("E", D.value("Z", 0)), D.service("S"))
    let new = D.file(
      D.message("M", D.field("a", 1, .string), D.nested("N")), D.message("O", D.field("a", 1, .string)),
      D.enumeration("E", D.value("Z", 0), D.value("A", 1)), D.enumeration("F", D.value("Y", 0)),
      D.service("S", D.method("A", "p.M", "p.M")), D.service("T"))
    let found = try D.findings(D.set(old), D.set(new))
    #expect(found.allSatisfy { $0.rule == nil && $0.file == "a.proto" })
    #expect(
      found.map(\.text) == [
        "message p.M: field 1 \"a\" was added", "message p.M.N was added", "message p.O was added",
        "enum p.E: value 1 \"A\" was added", "enum p.F was added", "service p.S: method A was added",
        "service p.T was added",
      ])
  }

  @Test func ignoresRulesThatAreNotApplied() throws {
    let old = D.set(D.file(D.message("M", D.field("a", 1, .string))))
    let new = D.set(D.file(D.message("M", D.field("b", 1, .int32))))
    #expect(try D.findings(old, new, [.fieldSameName]).map(\.rule) == [.fieldSameName])
  }

  @Test func refusesDeeplyNestedMessages() throws {
    var inner: [UInt8] = []
    for level in 0..<200 { inner = D.nested("N\(level)", inner) }
    let old = D.set(D.file(D.message("M", inner)))
    #expect(throws: SchemaError.self) { try D.findings(old, D.set(D.file(D.message("M")))) }
  }

  @Test func everyTruncationIsComparedOrRefused() throws {
    let file = D.file(
      D.message("M", D.field("a", 1, .string, D.bytes(8, D.number(1, 1))), D.range(9, 4, 10)),
      D.enumeration("E", D.value("Z", 0), D.range(4, 1, 3)), D.service("S", D.method("A", "p.M", "p.M")),
      D.bytes(8, D.text(11, "go")))
    for end in file.indices {
      let cut = D.set(Array(file.prefix(end)))
      _ = try? D.findings(D.set(file), cut)
      _ = try? D.findings(cut, D.set(file))
    }
  }
}
