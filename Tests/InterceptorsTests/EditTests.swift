import RPCurlChain
import RPCurlChainSupport
import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtocols
import Testing

@testable import RPCurlInterceptors

@Suite struct EditTests {
  private let services = TestServices()

  // MARK: Changes

  private static let entries = #"{"stackEntries":["b","c"],"detail":" Ab "}"#
  private static let options = #"""
    {"featureSupport":{"deprecationWarning":"w"},"uninterpretedOption":[{"name":[{"namePart":"f","isExtension":false},\#
    {"namePart":"g","isExtension":true}],"identifierValue":"M","positiveIntValue":"1"},{"identifierValue":"n"}]}
    """#

  /// The JSON of a message after a change.
  private func changed(_ kind: String, _ value: String, _ json: String, type: String) throws -> String {
    var message = DescriptorMessages.make(type, json: json)
    let change = try FieldChange(kind, value, key: kind, nil)
    try change.check(message.type)
    try change.apply(to: &message)
    return String(decoding: try message.json(), as: UTF8.self)
  }

  @Test(arguments: [
    ("set", "detail=x=y", #"{"stackEntries":["b","c"],"detail":"x=y"}"#),
    ("set", "detail=", #"{"stackEntries":["b","c"]}"#),
    ("append", "stack_entries=d", #"{"stackEntries":["b","c","d"],"detail":" Ab "}"#),
    ("set", "stack_entries[]=d", #"{"stackEntries":["d","d"],"detail":" Ab "}"#),
    ("set", ".stack_entries[-1]=d", #"{"stackEntries":["b","d"],"detail":" Ab "}"#),
    ("clear", "stack_entries[-1]", #"{"stackEntries":["b"],"detail":" Ab "}"#),
    ("clear", "stack_entries[-3]", #"{"stackEntries":["b","c"],"detail":" Ab "}"#),
    ("set", #"stackEntries=["x"]"#, #"{"stackEntries":["x"],"detail":" Ab "}"#),
    ("set", "stackEntries[1]=x", #"{"stackEntries":["b","x"],"detail":" Ab "}"#),
    ("clear", "detail", #"{"stackEntries":["b","c"]}"#),
    ("clear", "stackEntries[0]", #"{"stackEntries":["c"],"detail":" Ab "}"#),
    ("clear", "stackEntries", #"{"detail":" Ab "}"#),
    ("clear", "stackEntries[]", #"{"detail":" Ab "}"#),
    ("copy", "stackEntries[1]:detail", #"{"stackEntries":["b","c"],"detail":"c"}"#),
    ("transform", "detail:upper", #"{"stackEntries":["b","c"],"detail":" AB "}"#),
    ("transform", "detail:lower", #"{"stackEntries":["b","c"],"detail":" ab "}"#),
    ("transform", "detail:trim", #"{"stackEntries":["b","c"],"detail":"Ab"}"#),
    ("transform", "detail:truncate(2)", #"{"stackEntries":["b","c"],"detail":" A"}"#),
    ("transform", "detail:prefix(x/)", #"{"stackEntries":["b","c"],"detail":"x/ Ab "}"#),
    ("transform", "stackEntries[]:suffix(:1)", #"{"stackEntries":["b:1","c:1"],"detail":" Ab "}"#),
  ])
  func changesFields(_ kind: String, _ value: String, _ expected: String) throws {
    #expect(try changed(kind, value, Self.entries, type: "google.rpc.DebugInfo") == expected)
  }

  @Test(arguments: [
    ("set", "feature_support.deprecation_warning=x", #"{"deprecationWarning":"x"}"#),
    (
      "set", "featureSupport.editionRemoved=EDITION_2023",
      #"{"deprecationWarning":"w","editionRemoved":"EDITION_2023"}"#
    ),
    ("set", "ctype=CORD", #"{"ctype":"CORD","#),
    (
      "set", "uninterpretedOption[].identifierValue=X",
      #""identifierValue":"X","positiveIntValue":"1"},{"identifierValue":"X"}]"#
    ),
    (
      "set", "uninterpretedOption[].name[].namePart=y",
      #"[{"namePart":"y","isExtension":false},{"namePart":"y","isExtension":true}]"#
    ),
    (
      "append", #"uninterpretedOption[1].name={"namePart":"h","isExtension":true}"#,
      #"{"name":[{"namePart":"h","isExtension":true}],"identifierValue":"n"}"#
    ),
    ("clear", "uninterpretedOption[].identifierValue", #""positiveIntValue":"1"},{}]"#),
    ("clear", "uninterpretedOption[0].name[]", #"[{"identifierValue":"M","positiveIntValue":"1"},"#),
    (
      "copy", "uninterpretedOption[0].name:uninterpretedOption[1].name",
      #"{"namePart":"g","isExtension":true}],"identifierValue":"n"}"#
    ),
    ("copy", "ctype:featureSupport", #"{"uninterpretedOption""#),
    ("transform", "uninterpretedOption[].identifierValue:upper", #"{"identifierValue":"N"}"#),
    (
      "transform", "uninterpretedOption[].positiveIntValue:add(9)",
      #""positiveIntValue":"10"},{"identifierValue":"n"}"#
    ),
  ])
  func changesNestedFields(_ kind: String, _ value: String, _ expected: String) throws {
    let json = try changed(kind, value, Self.options, type: "google.protobuf.FieldOptions")
    #expect(json.contains(expected), "\(json)")
  }

  @Test(arguments: [
    ("set", #"metadata["a:=b"]=x=y"#, #"{"metadata":{"a:=b":"x=y","c":"2"}}"#),
    ("clear", #"metadata["a:=b"]"#, #"{"metadata":{"c":"2"}}"#),
    ("clear", "metadata[]", "{}"),
    ("copy", #"metadata["a:=b"]:reason"#, #"{"reason":"1","metadata":{"a:=b":"1","c":"2"}}"#),
    ("transform", "metadata[]:suffix(0)", #"{"metadata":{"a:=b":"10","c":"20"}}"#),
  ])
  func changesEntriesOfMaps(_ kind: String, _ value: String, _ expected: String) throws {
    let json = #"{"metadata":{"a:=b":"1","c":"2"}}"#
    #expect(try changed(kind, value, json, type: "google.rpc.ErrorInfo") == expected)
  }

  private static let anyPath = "details[0][x/google.rpc.DebugInfo]"

  @Test(arguments: [
    ("set", "stackEntries[]=d", #","stackEntries":["d","d"]"#), ("clear", "stackEntries[]", ""),
    ("transform", "stackEntries[]:upper", #","stackEntries":["B","C"]"#),
    ("append", "stackEntries=d", #","stackEntries":["b","c","d"]"#),
  ])
  func changesElementsInAnAny(_ kind: String, _ value: String, _ expected: String) throws {
    let json = #"{"details":[{"@type":"x/google.rpc.DebugInfo","stackEntries":["b","c"]}]}"#
    for path in [Self.anyPath, "details[][x/google.rpc.DebugInfo]"] {
      #expect(
        try changed(kind, "\(path).\(value)", json, type: "google.rpc.Status")
          == #"{"details":[{"@type":"x/google.rpc.DebugInfo"\#(expected)}]}"#)
    }
  }

  @Test func contentOfAnAnyIsReadOnceForAllElements() throws {
    let entries = (0..<20_000).map { _ in #""a""# }.joined(separator: ",")
    let json = #"{"details":[{"@type":"x/google.rpc.DebugInfo","stackEntries":[\#(entries)]}]}"#
    let cleared = try changed("clear", "\(Self.anyPath).stackEntries[]", json, type: "google.rpc.Status")
    #expect(cleared == #"{"details":[{"@type":"x/google.rpc.DebugInfo"}]}"#)
  }

  @Test func copyBetweenFieldsOfOneTypeIsExact() throws {
    func copy(_ value: String, _ typeName: String, _ bytes: [UInt8]) throws -> [UInt8] {
      let type = DescriptorMessages.type(typeName)
      var message = try Message(type, serialized: bytes)
      try FieldChange("copy", value, key: "copy", nil).apply(to: &message)
      return message.serialized()
    }
    // A string of proto2 that is not UTF-8, and an unknown field.
    let file = "google.protobuf.FileDescriptorProto"
    #expect(try copy("name:package", file, [0x0a, 1, 0xff]) == [0x0a, 1, 0xff, 0x12, 1, 0xff])
    #expect(
      try copy("messageType[0]:messageType[1]", file, [0x22, 3, 0xf8, 0x3e, 7, 0x22, 0])
        == [0x22, 3, 0xf8, 0x3e, 7, 0x22, 3, 0xf8, 0x3e, 7])
    #expect(
      try copy("dependency:optionDependency", file, [0x1a, 1, 0xff, 0x1a, 0])
        == [0x1a, 1, 0xff, 0x1a, 0, 0x7a, 1, 0xff, 0x7a, 0])
  }

  @Test(arguments: [(#"{"b":1}"#, "{}"), (#"{"a":null,"b":1}"#, #"{"a":null,"b":null}"#)])
  func copyOfUnsetValueClears(_ json: String, _ expected: String) throws {
    let value = #"fields["a"]:fields["b"]"#
    #expect(try changed("copy", value, json, type: "google.protobuf.Struct") == expected)
  }

  @Test(arguments: [
    ("google.protobuf.Int32Value", "2147483647", "add(1)"), ("google.protobuf.Int64Value", "-9", "add(0.5)"),
    ("google.protobuf.Int64Value", "9223372036854775807", "add(1)"),
    ("google.protobuf.UInt64Value", "1", "add(-2)"), ("google.protobuf.UInt32Value", "1", "add(-2)"),
    ("google.protobuf.BoolValue", "true", "add(1)"), ("google.protobuf.Int32Value", "1", "upper"),
    ("google.protobuf.StringValue", "\"1\"", "add(1)"),
    ("google.protobuf.DoubleValue", "1e308", "add(1e308)"),
    ("google.protobuf.FloatValue", "3e38", "add(1e38)"),
  ])
  func impossibleResultsAreErrors(_ type: String, _ json: String, _ function: String) throws {
    #expect(throws: LanguageError.self) {
      try changed("transform", "value:\(function)", json, type: type)
    }
  }

  @Test(arguments: [
    ("google.protobuf.UInt64Value", "\"18446744073709551615\"", "add(-1)", "\"18446744073709551614\""),
    ("google.protobuf.DoubleValue", "1", "add(0.5)", "1.5"),
    ("google.protobuf.FloatValue", "1", "add(-2)", "-1"),
    ("google.protobuf.DoubleValue", "\"Infinity\"", "add(1)", "\"Infinity\""),
    ("google.protobuf.UInt32Value", "4294967294", "add(1)", "4294967295"),
    ("google.protobuf.BytesValue", "\"AAEC\"", "truncate(2)", "\"AAE=\""),
  ])
  func addsToNumbers(_ type: String, _ json: String, _ function: String, _ expected: String) throws {
    #expect(try changed("transform", "value:\(function)", json, type: type) == expected)
  }

  @Test func failedChangeNamesTheReason() throws {
    let problem = #expect(throws: LanguageError.self) {
      try changed("set", "stackEntries[9]=x", Self.entries, type: "google.rpc.DebugInfo")
    }
    #expect(
      problem?.reason == "index 9 is out of range: stack_entries has 2 elements; "
        + "append=stack_entries=VALUE appends an element")
  }

  // MARK: Calls

  private func call(_ text: String, _ kind: CallKind = .bidiStreaming) throws -> TestCall {
    let call = TestCall(kind, Journal(), [try services.registration(text)], typed: true)
    call.start()
    return call
  }

  @Test func changesEachMessageOfItsDirection() throws {
    let call = try call("edit,transform=value:upper,response-transform=value:suffix(!)")
    call.send("a")
    call.send("b")
    call.close()
    call.receiveHeaders()
    call.receive("c")
    call.receive("d")
    call.receiveEnd()
    #expect(call.wireLines == ["start", "A", "B", "half-close"])
    #expect(call.callerLines.filter { $0.hasPrefix("typed") } == ["typed c!", "typed d!"])
  }

  @Test func changesApplyInTheirOrder() throws {
    let call = try call(
      "edit,set=value=a,transform=value:suffix(b),transform=value:upper,transform=value:prefix(c)")
    call.send("x")
    #expect(call.wireLines == ["start", "cAB"])
  }

  @Test func replacesTemplates() throws {
    services.variables["NAME"] = "Ada"
    let call = try call("edit,set=value=${env.NAME},transform=value:suffix(-${random(7,,7)}),expand=true")
    call.send("x")
    #expect(call.wireLines == ["start", "Ada-7"])
    let plain = try self.call("edit,set=value=${env.NAME}")
    plain.send("x")
    #expect(plain.wireLines == ["start", "${env.NAME}"])
    let missing = try self.call("edit,set=value=${file(none)},expand=true")
    missing.send("x")
    #expect(missing.end?.error?.message == "set value: file(none): no such file or directory")
  }

  @Test func unknownFieldFailsTheCallBeforeItIsSent() throws {
    let call = try call("edit,response-set=valeu=x")
    #expect(call.end?.code == .failedPrecondition)
    #expect(call.end?.error?.origin == .interceptor("edit"))
    #expect(
      call.end?.error?.message
        == "response-set valeu: google.protobuf.StringValue has no field valeu; did you mean value?")
    #expect(call.wireLines == [])
  }

  @Test func impossibleValueFailsTheCall() throws {
    let call = try call("edit,response-transform=value:add(1)")
    call.receiveHeaders()
    call.receive("x")
    #expect(call.end?.code == .failedPrecondition)
    #expect(call.end?.error?.message == "response-transform value: add(1) has no result of the field's type")
  }

  @Test func doesNotEditSubrequests() throws {
    let registration = try services.registration("edit,set=none=x")
    let call = TestCall(.unary, Journal(), [registration], excluded: [RegistrationID()], typed: true)
    call.start()
    #expect(call.wireLines == ["start"])
  }

  // MARK: Configuration

  @Test(arguments: [
    ("edit", "edit: no change is given"),
    ("edit,set=name", "edit: set: must have the form PATH=VALUE"),
    ("edit,copy=a", "edit: copy: must have the form FROM:TO"),
    ("edit,response-transform=a", "edit: response-transform: must have the form PATH:FUNCTION"),
    ("edit,set=a..b=1", "edit: set: expected a field name at byte 2 of the path"),
    ("edit,clear=", "edit: clear: expected a field name at byte 0 of the path"),
    (
      "edit,transform=a:reverse",
      "edit: transform: reverse is not one of upper, lower, trim, truncate(N), prefix(TEXT), suffix(TEXT), add(N)"
    ),
    (
      "edit,transform=a:truncate(-1)",
      "edit: transform: truncate(-1) is not one of upper, lower, trim, truncate(N), prefix(TEXT), suffix(TEXT), add(N)"
    ),
    ("edit,set=a=1,seed=1", "edit: seed: requires expand=true"),
    ("edit,set=a=${env.NONE},expand=true", "edit: set: env.NONE: the environment variable is not set"),
    ("edit,set=a=${uid()},expand=true", "edit: set: uid is not a function"),
    ("edit,transform=a:prefix(${A}),expand=true", "edit: transform: A: there are no variables here"),
    (
      #"edit,set=a["${A}"]=b,expand=true"#,
      #"edit: set: a["${A}"]: values are not inserted in paths"#
    ),
  ])
  func invalidConfigurationNamesKey(_ text: String, _ message: String) {
    let error = #expect(throws: ConfigurationError.self) { try services.registration(text) }
    #expect(error?.description == message)
  }
}
