import RPCurlChain
import RPCurlChainSupport
import RPCurlProtobuf
import RPCurlProtocols
import Testing

@testable import RPCurlValidate

@Suite struct ValidateTests {
  private func violations(_ message: Message) -> [String] {
    var validator = MessageValidator(RuleBook(), now: 1_700_000_000_000_000_000) { warning in
      Issue.record("\(warning)")
    }
    validator.validate(message)
    return validator.violations.map { "\($0.field.isEmpty ? "" : "\($0.field): ")\($0.message) [\($0.rule)]" }
  }

  // MARK: Rules

  @Test func findsTheViolationsOfStandardRules() throws {
    var cases: [(message: Substring, violations: [String])] = []
    for line in RuleCases.text.split(separator: "\n") {
      if line.hasPrefix("  ") {
        cases[cases.count - 1].violations.append(String(line.dropFirst(2)))
      } else {
        cases.append((line, []))
      }
    }
    #expect(cases.count > 30)
    for (line, expected) in cases {
      let parts = line.split(separator: " ", maxSplits: 1)
      let found = violations(try RuleMessages.make(String(parts[0]), String(parts[1])))
      #expect(found == expected, "\(line)")
    }
  }

  @Test(arguments: [
    (
      "email", ["a@b", "a.b+c@example.com", "!#$%&'*/=?^_`{|}~-@1.2"],
      ["a", "@b", "a@", "a@b@c", "a b@c", "é@b", "a@-b", "a@b."]
    ),
    (
      "hostname", ["a", "a.b", "A-1.b2", "example.com.", "1.a"],
      ["-a", "a-", "a..b", "1", "a.1", "a_b", ".", "é", "a.b.."]
    ),
    (
      "ip",
      [
        "1.2.3.4", "::", "::1", "1::", "1:2:3:4:5:6:7:8", "1::8", "::1.2.3.4", "1:2:3:4:5:6:1.2.3.4",
        "fe80::1%eth0",
      ],
      [
        "1.2.3", "256.0.0.1", "01.2.3.4", "1.2.3.4.", ":", ":::", "1:::2", "1::2::3", "1:2:3:4:5:6:7",
        ":1::2", "1::2:",
        "1:2:3:4:5:6:7:8:9", "12345::", "::1.2.3", "1.2.3.4::", "::%", "1:2:3:4:5:6:7:1.2.3.4", "[::]",
        "1.2.3.4%a",
      ]
    ),
    ("ipv4", ["0.0.0.0", "255.255.255.255"], ["::1", "1.2.3.4/8", " 1.2.3.4"]),
    ("ipv6", ["::1", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8"], ["1.2.3.4", "1:2:3:4:5:6:7::8::", "g::"]),
    (
      "uri",
      [
        "http://example.com", "a:", "urn:x:y", "http://u:p@h:80/p;a=b/%20?q=/?#f?", "file:///etc",
        "http://[::1]:80/", "a://[v1.x:y]",
        "http://[fe80::1%25eth0]/", "http://%c3%a9/", "mailto:a@b", "http://h:", "x+y-z.1:/",
      ],
      [
        "example.com", "/a", "1a:b", "a b:c", "http://h/ ", "http://h/%zz", "http://[::1", "http://h:8a",
        "http://[1.2.3.4]",
        "http://a@b@c", "http://%ff/", "http://h/é", "http://[fe80::1%eth0]/", "a:b#c#d", "http://h/[", ":a",
      ]
    ),
    ("uri_ref", ["", "a", "/a", "//h/p", "?q", "#f", "./a:b", "http://h"], ["a:b c", "1:2", "//h:a", "a%"]),
    ("address", ["example.com", "1.2.3.4", "::1"], ["1.2.3", "a_b"]),
    (
      "uuid", ["00000000-0000-0000-0000-00000000abCD"],
      ["0000000-00000-0000-0000-00000000abCD", "000000000000000000000000000000000000"]
    ),
    (
      "tuuid", ["0000000000000000000000000000abCD"],
      ["0000000000000000000000000000abC", "000000000000000000000000000000g0"]
    ),
    (
      "ip_with_prefixlen", ["1.2.3.4/0", "1.2.3.4/32", "::1/128"],
      ["1.2.3.4", "1.2.3.4/33", "1.2.3.4/01", "::/129", "::%a/1", "1.2.3.4/"]
    ),
    ("ipv4_with_prefixlen", ["1.2.3.4/24"], ["::/8"]), ("ipv6_with_prefixlen", ["::1/8"], ["1.2.3.4/24"]),
    (
      "ip_prefix", ["1.2.3.0/24", "128.0.0.0/1", "::/0", "1:8000::/17", "1.2.3.4/32"],
      ["1.2.3.1/24", "192.0.0.0/1", "1:8000::/16", "::1/127"]
    ),
    ("ipv4_prefix", ["10.0.0.0/8"], ["10.0.0.1/8", "::/0"]),
    ("ipv6_prefix", ["fe80::/10"], ["fe80::1/10", "0.0.0.0/0"]),
    (
      "host_and_port", ["a:0", "1.2.3.4:65535", "[::1]:80", "[::1%z]:80"],
      [
        "a", "a:", "a:65536", "a:01", "::1:80", "[::1]", "[::1]80", "[1.2.3.4]:80", ":80", "[]:80", "[",
        "a:b", "a:-1",
      ]
    ),
    (
      "ulid", ["01ARZ3NDEKTSV4RRFFQ69G5FAV", "7zzzzzzzzzzzzzzzzzzzzzzzzz"],
      ["81ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FAI", "0"]
    ),
    ("protobuf_fqn", ["a", "a.B_1._c"], [".a", "a.", "1a", "a..b", "a-b", "é"]),
    ("protobuf_dot_fqn", [".a.b"], ["a.b", ".", "..a"]),
    ("header_name", ["a", ":path", "X-A_b.c~`+,"], [":", "a b", "a:b", "é", "a\n"]),
    ("header_value", ["", "a\tb", "é"], ["a\u{0}", "a\nb", "\u{7f}"]),
    ("loose_header_name", ["a b:", "é"], ["a\nb"]), ("loose_header_value", ["", "\u{1}"], ["a\rb"]),
    ("not_email", ["", "x"], []),
  ])
  func checksFormats(_ format: String, _ valid: [String], _ invalid: [String]) throws {
    for (text, isValid) in valid.map({ ($0, true) }) + invalid.map({ ($0, false) }) {
      var message = try RuleMessages.make("Formats", "{}")
      try message.set(.string(text), at: FieldPath(format))
      let found = violations(message)
      #expect(found.isEmpty == isValid, "\(format) \(text.debugDescription): \(found)")
      #expect(found.allSatisfy { $0.hasPrefix("\(format): ") })
    }
  }

  @Test func emptyStringsBreakRulesOfTheirOwn() throws {
    var message = try RuleMessages.make("Formats", "{}")
    for format in ["email", "host_and_port", "header_name", "uri_ref"] {
      try message.set(.string(""), at: FieldPath(format))
    }
    #expect(
      violations(message) == [
        "email: value is empty, which is not a valid email address [string.email_empty]",
        "host_and_port: value is empty, which is not a valid host and port pair [string.host_and_port_empty]",
        "header_name: value is empty, which is not a valid HTTP header name [string.well_known_regex.header_name_empty]",
      ])
  }

  @Test func listsAtMostOneHundredViolations() throws {
    let names = Array(repeating: #""a""#, count: 1000).joined(separator: ",")
    #expect(
      violations(try RuleMessages.make("Lists", #"{"texts":[\#(names)]}"#)).count == MessageValidator.limit)
  }

  // MARK: Calls

  private func registration(
    requests: Validate.Effect = .fail, responses: Validate.Effect = .off
  ) -> InterceptorRegistration {
    InterceptorRegistration(
      name: "validate", factory: ValidateFactory(requests: requests, responses: responses) { 0 })
  }

  private func call(
    _ kind: CallKind = .bidiStreaming, requests: Validate.Effect = .fail, responses: Validate.Effect = .off
  ) -> TestCall {
    let call = TestCall(
      kind, Journal(), [registration(requests: requests, responses: responses)], typed: true)
    call.start()
    return call
  }

  private static let valid = #"{"a":"abc"}"#
  private static let invalid = #"{"a":"x","c":1,"d":[1,2]}"#

  @Test func failsInvalidRequest() throws {
    let call = call(.unary)
    call.chain.send(.typed(try RuleMessages.make("Choices", Self.invalid)))
    #expect(call.end?.code == .invalidArgument)
    #expect(call.end?.error?.origin == .interceptor("validate"))
    #expect(
      call.end?.error?.message
        == "invalid request: only one of b, c, d can be set [message.oneof] (and 1 more)")
    #expect(call.wireLines == ["start", "cancel"])
    let detail = try #require(call.end?.error?.details.first)
    #expect(detail.typeName == "google.rpc.BadRequest")
    let json = try DescriptorMessages.json(of: detail)
    #expect(
      json == """
        {"fieldViolations":[{"description":"only one of b, c, d can be set","reason":"message.oneof"},\
        {"field":"a","description":"must be at least 3 characters","reason":"string.min_len"}]}
        """)
  }

  @Test func namesTheMessageOfStream() throws {
    let call = call()
    call.chain.send(.typed(try RuleMessages.make("Choices", Self.valid)))
    #expect(call.wireLines == ["start", "abc"])
    call.chain.send(.typed(try RuleMessages.make("Choices", "{}")))
    #expect(call.end?.error?.message == "invalid request 1: one of a, b must be set [message.oneof]")
    #expect(call.wireLines == ["start", "abc", "cancel"])
  }

  @Test func warnsOfInvalidRequest() throws {
    let call = call(.unary, requests: .warn)
    call.chain.send(.typed(try RuleMessages.make("Choices", Self.invalid)))
    #expect(call.wireLines == ["start", "x"])
    #expect(
      call.logged.map(\.text) == [
        "invalid request: only one of b, c, d can be set [message.oneof]",
        "invalid request: a: must be at least 3 characters [string.min_len]",
      ])
    #expect(call.logged.allSatisfy { $0.level == .warning })
  }

  @Test func validatesResponsesOnRequest() throws {
    for (requests, responses, code) in [
      (.fail, .off, .ok), (.off, .fail, .internal), (.fail, .warn, .ok),
    ] as [(Validate.Effect, Validate.Effect, StatusCode)] {
      let call = call(requests: requests, responses: responses)
      call.receiveHeaders()
      call.wireChain.receive(.responseMessage(.typed(try RuleMessages.make("Choices", "{}"))))
      call.receiveEnd()
      #expect(call.end?.code == code)
      #expect(call.logged.isEmpty == (responses != .warn))
      guard code != .ok else { continue }
      #expect(call.end?.error?.message == "invalid response 0: one of a, b must be set [message.oneof]")
    }
  }

  @Test func doesNotValidateSubrequests() throws {
    let call = TestCall(.unary, Journal(), [registration()], excluded: [RegistrationID()], typed: true)
    call.start()
    call.chain.send(.typed(try RuleMessages.make("Choices", "{}")))
    #expect(call.wireLines == ["start", ""])
  }
}
