import RPCurlCFakeCurl
import RPCurlCommandSupport
import RPCurlPlatform
import RPCurlProgram
import Testing

@testable import RPCurlEngine

/// Scripts that run without a server: `Find` fails, the stream of `Watch` fails after a response, and `Place` succeeds.
struct SessionScriptTests {
  private static let stubs = """
    {"method":"*/Find","response":{"status":"not_found"}}
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
}
