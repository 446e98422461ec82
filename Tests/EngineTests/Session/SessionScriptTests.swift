import RPCurlCFakeCurl
import RPCurlCommandSupport
import RPCurlPlatform
import RPCurlProgram
import Testing

@testable import RPCurlEngine

/// Scripts that run without a server: `Find` fails, the stream of `Watch` fails after a response, or has three, and `Place`
/// succeeds.
struct SessionScriptTests {
  private static let stubs = """
    {"method":"*/Find","response":{"status":"not_found"}}
    {"method":"*/Watch","request":{"text":"abc"},"response":{"messages":[{"id":"a"},{"id":"b"},{"id":"c"}]}}
    {"method":"*/Watch","response":{"messages":[{"id":"w"}],"status":"aborted"}}
    {"method":"*/Place","response":{"message":{"id":"${request.id}"}}}
    """
  private let directory: TemporaryDirectory

  init() throws {
    fake_install()
    directory = try #require(TemporaryDirectory())
  }

  /// Runs the script `a`. Returns what it has printed on standard output, and why it failed.
  private func run() throws -> (output: String, failure: Failure?) {
    let use = "mock,file=\(directory.write("stubs", Self.stubs.utf8))"
    let set = directory.write("set", ShopSchema.bytes)
    let invocation = Parser.parse(
      ["run", "--descriptor-set", set, "--use", use, "--format", "json", "-S", "http://x", "a"])
    let capture = OutputCapture()
    let session = try Session(
      Console(capture), SessionState(invocation, target: invocation.positionals.first), isInteractive: false
    ) { _, _, _ in }
    let failure: Failure?
    do {
      try session.run(script: "\(directory.path)/a")
      failure = nil
    } catch {
      failure = try #require(error as? Failure)
    }
    return (capture.take(), failure)
  }

  @Test(
    arguments: [
      (["call Orders/Find", "expect status not_found", "call Place {\"id\":\"p\"}"], "p", 0, ""),
      (["call Orders/Find", "expect count == 0", "call Place"], "", 69, "line 1: the command failed"),
      (["call Orders/Find", "expect status ok", "call Place"], "", 8, "line 2: expect status ok"),
      (["call Orders/Find", "call Place"], "", 69, "line 1: the command failed"),
      (["call Place {\"id\":\"p\"}", "no-such-command"], "", 2, "line 2: no-such-command: no such command"),
      (["", "call Orders/Find"], "", 69, "line 2: the command failed"),
      (["call Place {\"id\":\"p\"}", "open Watch", "{}"], "pw", 74, "line 2: the stream opened here failed"),
      (["open Watch {}", "wait", "expect status aborted", "call Place {\"id\":\"p\"}"], "wp", 0, ""),
      // The stream has failed when the next command runs. Commands see that when they have waited for it.
      (
        [
          "open Watch {}", "receive", "call Place {\"id\":\"p\"}", "wait 1", "sleep 1ns",
          "expect status aborted",
        ],
        "wp", 0, ""
      ),
      (["open Watch {}", "receive", "call Place {\"id\":\"p\"}", "cancel 1"], "wp", 0, ""),
      (["open Watch {}", "receive", "close", "close"], "w", 74, "line 1: the stream opened here failed"),
      (["open Watch {}", "wait", "call Place"], "w", 74, "line 1: the stream opened here failed"),
      (
        ["open Watch {}", "receive 2"], "w", 74,
        "line 2: Watch[1]: the stream ended before the response arrived: aborted (10)"
      ),
      // What interceptors find is a failure with any end, which no check can expect.
      (
        [
          "use assert,before=mock,check='.id == x'", "open Watch {}", "cancel", "expect status aborted",
          "call Place",
        ], "w", 8,
        "line 2: the stream opened here failed"
      ),
      (
        ["use assert,before=mock,check='.id == x'", "open Watch {}", "exit"], "w", 8,
        "line 2: the stream opened here failed"
      ),
      (["repeat 3 call Orders/Find", "expect status not_found"], "", 0, ""),
      (["repeat 3 call Orders/Find"], "", 69, "line 1: the command failed"),
      (["source DIR/b", "call Place"], "", 2, "b, line 2: nonsense: no such command"),
      (["source DIR/c", "call Place"], "", 69, "line 1: the command failed"),
      (["source --keep-going DIR/b", "call Place"], "p", 69, "line 1: the command failed"),
      (["call Place {\"id\":\"p\"}", "source DIR/a"], "pppppppppppppppp", 2, "nested more than 16 deep"),
    ] as [([String], String, Int32, String)])
  func endsAtWhatNoCheckExpects(_ lines: [String], _ ids: String, _ status: Int32, _ why: String) throws {
    let text = lines.joined(separator: "\n").replacing("DIR", with: directory.path)
    directory.write("a", text.utf8)
    directory.write("c", "call Orders/Find\ncall Place {\"id\":\"p\"}\n".utf8)
    directory.write("b", "call Orders/Find\nnonsense\ncall Place {\"id\":\"p\"}\n".utf8)
    let (output, failure) = try run()
    let printed = output.split(separator: "\n").filter { $0.hasPrefix("{\"id\"") }
    #expect(printed.joined() == ids.map { "{\"id\":\"\($0)\"}" }.joined(), "\(output)")
    #expect((failure?.status ?? .success).rawValue == status)
    let message = failure?.message.map { "\($0.what): \($0.why)" } ?? ""
    #expect(message.contains(why), "\(message)")
  }

  /// What `last` and checks are about, if `abc` opens a stream with three responses, and `p` makes another call.
  @Test(
    arguments: [
      // The stream that is received from, and the responses that were waited for, also if all have arrived.
      ["abc", "p", "expect .id == p", "receive", "expect .id == a", "expect count == 1", "=a"],
      [
        "abc", "receive", "expect .id == a", "p", "expect .id == p", "=p", "receive", "expect .id == b", "=b",
      ],
      [
        "abc", "receive 2", "expect list .id == [\"a\",\"b\"]", "expect every .id != c",
        "expect first .id == a",
      ],
      ["abc", "receive", "wait", "expect count == 3", "expect .id == c", "=c", "expect status ok"],
      ["abc", "receive", "p", "wait 1", "expect count == 3", "expect .id == c"],
      ["abc", "receive 3", "p", "cancel 1", "expect count == 3", "=c"],
      // The stream that is switched to, also if it has ended.
      ["abc", "abc", "receive 2", "switch 1", "receive", "expect .id == a", "=a"],
      ["abc", "abc", "receive", "p", "switch 2", "expect .id == a", "receive", "expect .id == b"],
      // Other calls do not change which stream is received from.
      [
        "abc", "abc", "switch 1", "p", "receive", "wait 2", "expect stream 2 count == 3",
        "expect stream 1 count == 1",
      ],
      // A stream that a check names.
      [
        "abc", "p", "wait", "expect stream 1 count == 3", "expect stream Watch[1] .id == c",
        "expect .id == p", "=p",
      ],
      ["abc", "receive", "p", "set n = 1", "expect stream $n .id == a"],
      ["abc", "wait", "expect stream 01 count == 3"],
      // Without a number, the stream of the last command about one, which has ended.
      ["abc", "wait", "p", "cancel", "expect count == 3", "=c"],
      ["abc", "wait", "p", "close", "expect count == 3"],
    ])
  func lastCallIsThatOfTheLastCommandAboutOne(_ lines: [String]) throws {
    let script = lines.map { line in
      switch line {
      case "abc": "open Watch {\"text\":\"abc\"}"
      case "p": "call Place {\"id\":\"p\"}"
      default: line.hasPrefix("=") ? "expect $last.id == \(line.dropFirst())" : line
      }
    }
    directory.write("a", script.joined(separator: "\n").utf8)
    let (output, failure) = try run()
    #expect(failure == nil, "\(failure?.message.map { "\($0.what): \($0.why)" } ?? "") after \(output)")
  }

  @Test(
    arguments: [
      (["expect count == 1"], "line 1: expect: no call was made"),
      (
        ["open Watch {\"text\":\"abc\"}", "receive", "expect count == 2"],
        "line 3: expect count == 2: expected 2, got 1"
      ),
      (["call Place", "expect stream 1 count == 1"], "line 2: 1: no such stream is open"),
      (["call Place", "expect stream"], "line 2: expect: missing condition"),
      (
        ["open Watch {\"text\":\"abc\"}", "receive 3", "expect status ok"],
        "line 3: expect status ok: no command has waited for the end of Watch[1]"
      ),
      (["open Watch {}", "expect stream 1 .ident == 1"], "line 2: expect .ident == 1: "),
      (["open Watch {}", "print $last.ident"], "line 2: last.ident: "),
    ])
  func refusesChecksWithoutACall(_ lines: [String], _ why: String) throws {
    directory.write("a", lines.joined(separator: "\n").utf8)
    let message = try #require(try run().failure?.message)
    #expect("\(message.what): \(message.why)".contains(why), "\(message.what): \(message.why)")
  }
}
