import RPCurlChain
import RPCurlLanguage
import Testing

@testable import RPCurlScripts

struct ReplyTests {
  private func reply(_ line: String) throws -> ScriptReply { try ScriptReply(parsing: Array(line.utf8)) }

  private func reason(_ line: String) -> String {
    do {
      _ = try reply(line)
      return "none"
    } catch {
      return (error as? LanguageError)?.reason ?? "\(error)"
    }
  }

  @Test func emptyReplyLetsTheValueGoOn() throws {
    let reply = try reply(#"{"call":7,"value":3}"#)
    #expect(reply.call == 7)
    #expect(reply.subject == .value(3))
    #expect(reply.verdict == nil)
  }

  @Test(arguments: [
    (#"[]"#, "must be an object"),
    (#"{"call":7,"value":3,"mesage":1}"#, "mesage: unknown member; did you mean message?"),
    (#"{"value":3}"#, "value: only with \"call\""),
    (#"{"call":7,"drop":true}"#, "drop: only with \"value\""),
    (#"{"call":7,"upto":3,"drop":true}"#, "drop: not with upto"),
    (#"{"call":7,"value":3,"upto":3}"#, "upto: not with value"),
    (#"{"call":7,"value":3,"drop":true,"message":{}}"#, "message: not with drop"),
    (#"{"call":7,"value":3,"fail":{"code":"ok"}}"#, "fail.code: ok is no failure"),
    (#"{"call":7,"value":-1}"#, "value: must be a whole number, at least 0"),
    (#"{"call":7,"value":3,"bytes":"*"}"#, "bytes: is not base64"),
    (
      #"{"call":7,"value":3,"headers":{"set":{"a":1}}}"#,
      "headers.set.a: must be a string or a list of strings"
    ),
    (#"{"call":7,"log":{"level":"loud","text":"x"}}"#, "log.level: must be debug, info, warning or error"),
    (#"{"call":{"of":1,"id":2,"method":"x"}}"#, "call.method: must be a method such as pkg.Service/Method"),
  ])
  func invalidLinesNameTheMember(line: String, expected: String) {
    #expect(reason(line) == expected)
  }

  @Test func helloOfAllMembers() throws {
    let hello = try ScriptHello(
      parsing: Array(
        #"{"rpcurl":1,"stages":["request_start","finish"],"methods":["a.B/*"],"request":"none","response":"read-json","window":9,"replay_limit":8,"waits":true,"effects":["changes headers"],"summary":"s","version":"2"}"#
          .utf8))
    #expect(hello.stages == .requestStart)
    #expect(hello.wantsFinish)
    #expect(hello.messages == MessageAccesses(request: .none, response: .readTyped))
    #expect(hello.requirements.replayLimitBytes == 8)
    #expect(hello.effects == .changesHeaders)
  }

  @Test(arguments: [
    (#"{"stages":[]}"#, "the first line has no member \"rpcurl\""),
    (#"{"rpcurl":2,"stages":[]}"#, "rpcurl: version 2 of the protocol; this program has 1"),
    (#"{"rpcurl":1}"#, "stages: missing"),
    (#"hello"#, "a line that is no JSON: expected a value"),
  ])
  func invalidFirstLines(line: String, expected: String) {
    do {
      _ = try ScriptHello(parsing: Array(line.utf8))
      Issue.record("accepted")
    } catch {
      #expect(error.reason == expected)
    }
  }
}
