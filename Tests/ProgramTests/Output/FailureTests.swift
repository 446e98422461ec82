import RPCurlBase
import RPCurlProtobuf
import RPCurlProtocols
import Testing

@testable import RPCurlProgram

struct FailureTests {
  @Test(arguments: [
    ("what", "why", nil, "rpcurl: what: why\n"),
    ("", "why", nil, "rpcurl: why\n"),
    ("what", "why", "do this", "rpcurl: what: why\nhint: do this\n"),
    // Only rpcurl's own line breaks remain.
    ("a\nb", "c\u{1b}[31m", "d\r", "rpcurl: a\\nb: c\\u{1B}[31m\nhint: d\\r\n"),
  ])
  func rendersMessage(what: String, why: String, hint: String?, text: String) throws {
    let failure = Failure(.usage, what, why, hint: hint)
    #expect(failure.status == .usage)
    #expect("\(failure)" == (what.isEmpty ? why : "\(what): \(why)"))
    #expect(failure.message?.rendered() == text)
  }

  @Test func showsExcerptBetweenErrorAndHint() {
    var position = TextPosition()
    position.column = 8
    let excerpt = InputExcerpt(Array(#"{"name":1}"#.utf8), at: 8)
    let failure = Failure(
      .input, "-d", "wrong", hint: "do this", place: InputPlace(position: position, excerpt: excerpt))
    #expect(
      failure.message?.rendered() == """
        rpcurl: -d: wrong
          {"name":1}
                  ^
        hint: do this

        """)
  }

  @Test func coloursNameWhatMattersFirst() {
    let excerpt = InputExcerpt(Array("{]".utf8), at: 1)
    let place = InputPlace(position: TextPosition(), excerpt: excerpt)
    let message = Failure.Message(what: "a\u{1b}", why: "wrong", hint: "do\u{9b} this", place: place)
    #expect(
      message.rendered(TextColors(areOn: true)).replacing("\u{1b}[", with: "<") == """
        <1;31mrpcurl:<0m <1ma\\u{1B}:<0m wrong
          {]
           <1;31m^<0m
        <2mhint: do\\u{009B} this<0m

        """)
  }

  @Test func hasNoMessageOnceReported() {
    #expect(Failure(reported: .connection).message == nil)
    #expect(Failure(reported: .connection).status == .connection)
  }

  @Test func addsPlaceOfArgument() {
    let origin = Origin.file(path: "config", line: 3, profile: nil)
    #expect(Failure(.usage, "what", "why").at(origin).message?.what == "config, line 3: what")
    #expect(Failure(.usage, "", "why").at(origin).message?.what == "config, line 3")
    #expect(Failure(.usage, "what", "why").at(nil).message?.what == "what")
    #expect(Failure(reported: .usage).at(origin).message == nil)
  }

  @Test func innermostPlaceStays() {
    let inner = Failure(.input, "what", "why").with(.streamEnded).prefixed("inner, line 1")
    #expect(inner.message?.what == "inner, line 1: what")
    let outer = inner.prefixed("outer, line 2")
    #expect((outer.status, outer.message) == (.input, inner.message))
    #expect(outer.cause == .streamEnded)
    // The name of a file may look like a place.
    let file = Failure(.input, "a, line 7", "why").prefixed("script, line 1")
    #expect(file.message?.what == "script, line 1: a, line 7")
    let reported = Failure(reported: .connection).prefixed("script, line 1")
    #expect((reported.status, reported.message?.what) == (.connection, "script, line 1"))
    let line = Failure(.usage, "-H", "why").at(.file(path: "config", line: 3, profile: nil))
    #expect(line.prefixed("script, line 1").message?.what == "config, line 3: -H")
    let variable = Failure(.usage, "-H", "why").at(.environment(name: "VARIABLE"))
    #expect(variable.prefixed("script, line 1").message?.what == "script, line 1: VARIABLE: -H")
  }

  @Test func changedMessageKeepsCause() {
    let failure = Failure(.schema, "a.B", "why").lacking(.symbol("a.B")).changed { $0.hint = "hint" }
    #expect(failure.missingNames == [.symbol("a.B")])
    #expect(failure.message?.hint == "hint")
    #expect(Failure(reported: .schema).changed { $0.hint = "hint" }.message == nil)
    #expect(Failure(.schema, "a", "b").lacking(nil).cause == nil)
  }

  @Test func refersToHelpOfCommandWithoutOtherHint() throws {
    let error = try #require(Parser.parse(["list", "--colour", "x"]).errors.first)
    #expect(Failure(error, of: .list, hint: "own").message?.hint != nil)
    let plain = try #require(Parser.parse(["call"]).errors.first)
    #expect(Failure(plain, of: .call).message?.hint == "see \"rpcurl --help\", which lists the commands")
    let other = try #require(Parser.parse(["call", "--no-such-option", "h"]).errors.first)
    #expect(Failure(other, of: .call).message?.hint == "see \"rpcurl call --help\"")
    #expect(Failure(plain, of: .call).status == .usage)
  }
}

struct ExitStatusTests {
  @Test(
    arguments: [
      (.server, .notFound, 64 + 5), (.violation, .internal, 64 + 13),
      (.client, .deadlineExceeded, 64 + 4), (.interceptor("x"), .unauthenticated, 64 + 16),
      (.connection, .unavailable, 5), (.proxy("http://p"), .unavailable, 5), (.tls, .unavailable, 6),
      (.request, .invalidArgument, 2),
    ] as [(RPCError.Origin, StatusCode, Int32)])
  func dependsOnLayerThatFailed(origin: RPCError.Origin, code: StatusCode, status: Int32) {
    #expect(RPCurlProgram.ExitStatus.call(RPCError(code, "", origin: origin)).rawValue == status)
  }
}
