import Language
import Protobuf
import Testing

@testable import Interceptors

@Suite struct FieldConditionTests {
  @Test(arguments: [
    ("string", #""Hello""#, "value == Hello", true), ("string", #""Hello""#, "value == hello", false),
    ("string", #""a b""#, #"value == "a b""#, true),
    // The operator ends before a combining scalar.
    ("string", "\"\u{301}b\"", "value ==\u{301}b", true), ("string", #""b""#, "value > a", true),
    ("string", #""Hello""#, "value =~ ^H.*o$", true), ("string", #""Hello""#, "value !~ ^H", false),
    ("string", #""Hello""#, "value contains ell", true), ("string", #""Hello""#, "value contains x", false),
    ("string", #""""#, "value exists", false), ("string", #""""#, "value missing", true),
    ("int32", "-3", "value < 0", true), ("int32", "10", "value > 9", true),
    ("int32", "10", "value>=10", true),
    ("int32", "10", "value <= 9.5", false), ("int32", "10", "value != 10", false),
    ("int64", #""9007199254740993""#, "value == 9007199254740992", false),
    ("uint64", #""18446744073709551615""#, "value == 18446744073709551615", true),
    ("float", "0.1", "value == 0.1", true), ("double", "0.5", "value < 1", true),
    ("double", #""NaN""#, "value == nan", true), ("double", #""NaN""#, "value < 1", false),
    ("bool", "true", "value == true", true), ("bool", "false", "value == true", false),
    ("bytes", #""AQID""#, "value == AQID", true), ("bytes", #""AQID""#, "value contains AgM=", true),
    ("bytes", #""AQID""#, "value contains AgE=", false),
  ])
  func comparesByKind(_ kind: String, _ json: String, _ condition: String, _ holds: Bool) throws {
    let name = kind == "uint64" ? "UInt64" : kind.prefix(1).uppercased() + kind.dropFirst()
    let message = DescriptorMessages.make("google.protobuf.\(name)Value", json: json)
    let condition = try FieldCondition(condition)
    try condition.check(against: message.type)
    #expect((try condition.mismatch(in: message) == nil) == holds)
  }

  @Test(arguments: [
    (#"{"a":1}"#, #"fields["a"] exists"#, true), (#"{"a":1}"#, #"fields["b"] exists"#, false),
    (#"{"a":1}"#, "fields contains a", true), (#"{"a":1}"#, "fields contains b", false),
    (#"{"a":1}"#, "fields length 1", true), (#"{"a":1}"#, "fields length > 1", false),
    (#"{"a":1}"#, #"fields["a"].number_value == 1"#, true), (#"{"a":1}"#, #"fields["a"] < 1.5"#, true),
    (#"{"a":"x"}"#, #"fields["a"] == x"#, true), (#"{"a":1}"#, #"fields["a"] > 1"#, false),
    (#"{"a":[1,"x"]}"#, #"fields["a"].list_value == [1,"x"]"#, true),
    (#"{"a":[1,"x"]}"#, #"fields["a"].list_value.values contains "\"x\"""#, true),
    (#"{"a":[1,"x"]}"#, #"fields["a"].list_value.values[1].string_value =~ x"#, true),
    (#"{"a":[1,"x"]}"#, #"fields["a"].list_value.values[2].string_value == x"#, false),
    (#"{"a":[1,"x"]}"#, #"fields == {"a":[1,"x"]}"#, true),
    (#"{"a":[1,"x"]}"#, #"fields != {"a":[1]}"#, true),
  ])
  func reachesIntoListsAndMaps(_ json: String, _ condition: String, _ holds: Bool) throws {
    let message = DescriptorMessages.make("google.protobuf.Struct", json: json)
    let condition = try FieldCondition(condition)
    try condition.check(against: message.type)
    #expect((try condition.mismatch(in: message) == nil) == holds)
  }

  @Test(arguments: [
    ("retry_delay < 2s", true), ("retry_delay == 1.5s", true), ("retry_delay > 90s", false),
  ])
  func durationsAreOrdered(_ condition: String, _ holds: Bool) throws {
    let message = DescriptorMessages.make("google.rpc.RetryInfo", json: #"{"retryDelay":"1.5s"}"#)
    let condition = try FieldCondition(condition)
    try condition.check(against: message.type)
    #expect((try condition.mismatch(in: message) == nil) == holds)
  }

  @Test(arguments: [
    ("google.rpc.ErrorInfo", "reson == x", "google.rpc.ErrorInfo has no field reson; did you mean reason?"),
    ("google.rpc.ErrorInfo", "metadata == 3x", "metadata"),
    ("google.rpc.ErrorInfo", "metadata < 3", "lists and maps have no order"),
    ("google.rpc.ErrorInfo", "reason length 3", "only lists and maps have a length"),
    ("google.protobuf.Int32Value", "value == x", "\"x\" is not a value of int32"),
    ("google.protobuf.Int32Value", "value =~ 3", "only strings"),
    ("google.protobuf.Int32Value", "value contains 3", "requires a string"),
    ("google.protobuf.BoolValue", "value > true", "bool has no order"),
  ])
  func rejectsConditionsThatCannotHold(_ type: String, _ text: String, _ reason: String) throws {
    let type = DescriptorMessages.make(type, json: nil).type
    let condition = try FieldCondition(text)
    let error = #expect(throws: LanguageError.self) { try condition.check(against: type) }
    #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
  }
}
