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
    #expect(failure.message?.rendered == text)
  }

  @Test func showsExcerptBetweenErrorAndHint() {
    var position = TextPosition()
    position.column = 8
    let excerpt = InputExcerpt(Array(#"{"name":1}"#.utf8), at: 8)
    let failure = Failure(
      .input, "-d", "wrong", hint: "do this", place: InputPlace(position: position, excerpt: excerpt))
    #expect(
      failure.message?.rendered == """
        rpcurl: -d: wrong
          {"name":1}
                  ^
        hint: do this

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
