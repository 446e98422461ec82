import RPCurlChain
import RPCurlChainSupport
import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtocols
import Testing

@Suite struct RedactionTests {
  @Test(arguments: [
    ("authorization", "Bearer abc", "Bearer [redacted]"), ("authorization", "abc", "[redacted]"),
    ("proxy-authorization", "Basic abc", "Basic [redacted]"), ("cookie", "a=b", "[redacted]"),
    ("set-cookie", "a=b", "[redacted]"), ("x-api-key", "k", "[redacted]"), ("x-id-token", "t", "[redacted]"),
    ("x_auth", "t", "[redacted]"), ("x-tenant", "blue", "blue"), ("host", "h", "h"),
    ("ocp-apim-subscription-key", "k", "[redacted]"), ("x-functions-key", "k", "[redacted]"),
    ("x-goog-iap-jwt-assertion", "j", "[redacted]"), ("x_my_key", "k", "[redacted]"),
    ("x-my-token", "t", "[redacted]"), ("x-my-secret", "s", "[redacted]"),
    ("x-jwt-payload", "j", "[redacted]"),
    ("x-signature-v1", "s", "[redacted]"), ("x-credentials", "c", "[redacted]"), ("x-keyboard", "k", "k"),
    ("x-monkey", "m", "m"), ("x-own", "o", "[redacted]"),
    ("my-key-bin", "U0VDUkVU", "[redacted]"), ("x-monkey-bin", "U0VDUkVU", "U0VDUkVU"),
    ("my-a", "o", "[redacted]"), ("b-my", "o", "[redacted]"), ("c-d-c", "o", "[redacted]"), ("my", "o", "o"),
  ])
  func hidesSecrets(_ name: String, _ value: String, _ shown: String) {
    let redaction = Redaction(names: SecretNames(adding: ["X-Own", "my-*", "*-my", "*-d-*"]), fields: [])
    #expect(redaction.value(value, of: name) == shown)
    #expect(Redaction(showsSecrets: true).value(value, of: name) == value)
  }

  @Test(arguments: [
    (
      "google.rpc.ErrorInfo", "reason", #"{"reason":"a","domain":"b"}"#,
      #"{"reason":"[redacted]","domain":"b"}"#
    ),
    ("google.rpc.ErrorInfo", "metadata", #"{"reason":"a","metadata":{"k":"v"}}"#, #"{"reason":"a"}"#),
    ("google.rpc.ErrorInfo", "nothing", #"{"reason":"a"}"#, #"{"reason":"a"}"#),
    (
      "google.rpc.BadRequest", "field_violations.description",
      #"{"fieldViolations":[{"field":"a","description":"x"},{"field":"b"}]}"#,
      #"{"fieldViolations":[{"field":"a","description":"[redacted]"},{"field":"b"}]}"#
    ),
    ("google.protobuf.Struct", "fields.string_value", #"{"a":"x","b":1}"#, #"{"a":"[redacted]","b":1}"#),
  ])
  func hidesFields(_ type: String, _ path: String, _ json: String, _ shown: String) throws {
    let redaction = Redaction(fields: [try RedactedField(path)])
    let message = redaction.message(DescriptorMessages.make(type, json: json))
    #expect(try String(decoding: message.json(), as: UTF8.self) == shown)
  }

  @Test(arguments: [
    ("google.protobuf.Struct", "password", #"{"password":"s"}"#, "{}"),
    ("google.protobuf.Struct", "user.password", #"{"user":{"password":"s"}}"#, "{}"),
    ("google.protobuf.Struct", "fields.password", #"{"user":{"password":"s"},"b":1}"#, "{}"),
    ("google.protobuf.ListValue", "password", #"[{"password":"s"}]"#, "[]"),
    ("google.protobuf.ListValue", "values.password", #"[{"password":"s"},1]"#, "[]"),
    ("google.protobuf.Struct", "fields.struct_value.password", #"{"user":{"password":"s"},"b":1}"#, "b"),
    ("google.rpc.ErrorInfo", "reason.password", #"{"reason":"a"}"#, #"{"reason":"a"}"#),
  ])
  func clearsContentThatTheSchemaDoesNotHave(
    _ type: String, _ path: String, _ json: String, _ shown: String
  ) throws {
    let redaction = Redaction(fields: [try RedactedField(path)])
    let message = DescriptorMessages.make(type, json: json)
    let redacted = redaction.message(message)
    if shown == "b" {
      // Only the value that has the field is cleared; it has no JSON form then.
      let other = try FieldPath("fields[\"b\"].number_value")
      #expect(try redacted.value(at: other) == .double(1))
      #expect(try redacted.has(FieldPath("fields[\"user\"].struct_value")) == false)
    } else {
      #expect(try String(decoding: redacted.json(), as: UTF8.self) == shown)
    }
    // What is not compared, instead of redacted, stays.
    var compared = message
    try RedactedField(path).redact(&compared, clearsOpenTypes: false)
    #expect(compared == message)
  }

  @Test func hidesFieldsOfMapsWithoutJSONForm() throws {
    // Of two values, the second has no JSON form.
    let secret: [UInt8] = [0x0A, 8, 0x0A, 1, 0x61, 0x12, 3, 0x1A, 1, 0x78]
    let infinity: [UInt8] = [0x0A, 14, 0x0A, 1, 0x62, 0x12, 9, 0x11, 0, 0, 0, 0, 0, 0, 0xF0, 0x7F]
    let type = DescriptorMessages.type("google.protobuf.Struct")
    let message = try Message(type, serialized: secret + infinity)
    #expect(throws: (any Error).self) { try message.json() }
    let redaction = Redaction(fields: [try RedactedField("fields.string_value")])
    let path = try FieldPath("fields[\"a\"].string_value")
    #expect(try redaction.message(message).value(at: path) == .string(SecretMask.placeholder))
  }

  @Test func hidesWhatAResponseRepeats() throws {
    let secrets = CallSecrets()
    var redaction = Redaction(names: SecretNames(adding: ["x-own"]), fields: []).of(secrets)
    // Of an interceptor further in, which this one does not receive.
    secrets.add(Headers([("authorization", "Bearer t0ken-x")]), nil)
    var start = RequestStart(method: MethodName(service: "a", method: "b"), target: "http://a")
    start.headers = Headers([("x-own", "own-value")])
    #expect(redaction.event(CallEvent<Int>.requestStart(start)) != .requestStart(start))
    var error = RPCError(.aborted, "t0ken-x and own-value", origin: .server)
    let info = DescriptorMessages.make(
      "google.rpc.ErrorInfo",
      json: #"{"reason":"<t0ken-x>","domain":"d","metadata":{"own-value":"b3duLXZhbHVl"}}"#
    )
    error.details = [
      StatusDetail(typeName: info.type.name, value: info.serialized(), debug: "own-value"),
      StatusDetail(typeName: "a", value: [0xFF] + Array("t0ken-x".utf8)),
      StatusDetail(typeName: "a", value: [1, 2, 3]),
    ]
    let end = redaction.end(ResponseEnd(error: error, trailers: Headers([("x-echo", "t0ken-x")])))
    #expect(end.error?.message == "[redacted] and [redacted]")
    #expect(end.trailers == Headers([("x-echo", "[redacted]")]))
    let details = try #require(end.error?.details)
    let shown = try Message(info.type, serialized: details[0].value).json()
    #expect(
      String(decoding: shown, as: UTF8.self)
        == #"{"reason":"<[redacted]>","domain":"d","metadata":{"[redacted]":"[redacted]"}}"#)
    #expect(details[0].debug == "[redacted]")
    #expect(details[1].value == [0xFF] + Array("[redacted]".utf8))
    #expect(details[2].value == [1, 2, 3])
    #expect(Redaction(secrets, showsSecrets: true).end(ResponseEnd(error: error)).error == error)
  }
}
