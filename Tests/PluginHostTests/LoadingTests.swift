import Glibc
import Interception
import RPCProtocols
import Testing

@testable import PluginHost

@Suite struct LoadingTests {
  private let log = LogCollector()

  private func spec(_ name: String, _ settings: [(String, String)] = []) -> InterceptorSpec {
    InterceptorSpec(
      name: name, settings: settings.map { InterceptorSpec.Setting(key: $0.0, value: $0.1) })
  }

  private func error(_ path: String, _ settings: [(String, String)] = []) -> PluginError? {
    #expect(throws: PluginError.self) { try log.loader().load(spec(path, settings)) }
  }

  @Test func aPluginThatDoesNotExistIsNotFound() throws {
    #expect(error("/nonexistent/x.so")?.description == "plugin /nonexistent/x.so: no such file or directory")
    let empty = try Fixtures.temporaryDirectory()
    let error = #expect(throws: PluginError.self) { try log.loader([empty]).load(spec("ghost")) }
    #expect(error == .notFound(name: "ghost", searched: [empty]))
    #expect(error?.hint?.contains("./NAME.so") == true)
  }

  @Test func namesAreSearchedInOrderAndWithoutTheirEnding() throws {
    let source = try Fixtures.path("fussy")
    let (first, second) = (try Fixtures.temporaryDirectory(), try Fixtures.temporaryDirectory())
    Fixtures.run("cp '\(source)' '\(second)/tool.so'; mkdir '\(first)/tool'")
    #expect(try log.loader([first, second]).load(spec("tool")).path == "\(second)/tool.so")
  }

  @Test func theSearchPathLeavesTheWorkingDirectoryOut() {
    let environment = ["RPCURL_PLUGIN_PATH": "/a:.:b:", "XDG_DATA_HOME": "/data", "HOME": "/home/u"]
    #expect(
      PluginSearchPath(environment: { environment[$0] }, prefix: "/usr").directories
        == ["/a", "/data/rpcurl/plugins", "/usr/lib/rpcurl/plugins"])
    #expect(
      PluginSearchPath(environment: { $0 == "HOME" ? "/home/u" : nil }, prefix: "/usr").directories
        == ["/home/u/.local/share/rpcurl/plugins", "/usr/lib/rpcurl/plugins"])
  }

  @Test func whatIsNoSharedObjectIsRefused() throws {
    let directory = try Fixtures.temporaryDirectory()
    let source = try Fixtures.path("fussy")
    Fixtures.run("umask 022; echo hello > \(directory)/text.so; : > \(directory)/empty.so")
    Fixtures.run("head -c 40 \(source) > \(directory)/short.so; chmod go-w \(directory)/*")
    for name in ["text", "empty"] {
      #expect(
        error("\(directory)/\(name).so")
          == .notSharedObject(path: "\(directory)/\(name).so", reason: "not an ELF file"))
    }
    #expect(
      error("\(directory)/short.so")
        == .notSharedObject(path: "\(directory)/short.so", reason: "the file is cut off"))
    guard case .unreadable(_, "not a file")? = error(directory) else {
      Issue.record("a directory is not a plugin")
      return
    }
  }

  @Test func anotherMachinesFileIsRefused() throws {
    let directory = try Fixtures.temporaryDirectory()
    guard let file = try? FileReader(path: try Fixtures.path("fussy")),
      var bytes = file.readAll(limitBytes: 1 << 24)
    else {
      Issue.record("the fixture cannot be read")
      return
    }
    bytes[18] = 40
    try Fixtures.write(bytes, to: "\(directory)/arm.so")
    chmod("\(directory)/arm.so", 0o644)
    guard case .otherMachine(_, "arm", _)? = error("\(directory)/arm.so") else {
      Issue.record("a plugin for arm was not refused")
      return
    }
    bytes[18] = 62
    bytes[16] = 2
    try Fixtures.write(bytes, to: "\(directory)/program.so")
    chmod("\(directory)/program.so", 0o644)
    #if arch(x86_64)
      #expect(error("\(directory)/program.so")?.description.contains("another kind") == true)
    #endif
  }

  @Test func damagedFilesNeverCrash() throws {
    guard let file = try? FileReader(path: try Fixtures.path("fussy")),
      let whole = file.readAll(limitBytes: 1 << 24)
    else {
      Issue.record("the fixture cannot be read")
      return
    }
    let path = try Fixtures.temporaryDirectory() + "/damaged.so"
    var random = SystemRandomNumberGenerator()
    for _ in 0..<300 {
      var bytes = whole
      for _ in 0..<4 {
        bytes[Int.random(in: 16..<700, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      try Fixtures.write(bytes, to: path)
      guard let damaged = try? FileReader(path: path) else { continue }
      _ = try? ELFFile(damaged, path: path)
    }
  }

  @Test func anotherMajorVersionIsRefusedBeforeItsCodeRuns() throws {
    let path = try Fixtures.path("other_version")
    #expect(error(path) == .otherVersion(path: path, plugin: "2.0", host: "1.1"))
    #expect(getenv("RPCURL_TEST_CONSTRUCTOR_RAN") == nil)
  }

  @Test func aPluginOfAnEarlierMinorVersionWorks() throws {
    let plugin = try log.loader().load(spec(try Fixtures.path("exercise-1.0", headerVersion: "1.0")))
    #expect(plugin.version == "2.1")
    let call = try PluginCallTest([plugin])
    call.run()
    #expect(call.sentStart?.headers == Headers([("a", "one"), ("c", "3")]))
    #expect(call.end?.error?.message == "not here")
    plugin.unload()
    #expect(log.lines == ["closed", "unloaded"])
  }

  @Test func aPluginOfALaterMinorVersionIsTaken() throws {
    let plugin = try log.loader().load(spec(try Fixtures.path("newer")))
    let call = try PluginCallTest([plugin])
    call.start()
    #expect(call.end?.error?.message == "longer")
    #expect(log.lines == ["longer host: 0", "get_start: 0", "behind: 7"])
  }

  @Test func theVersionNoteSurvivesStrip() throws {
    let path = try Fixtures.path("fussy")
    let stripped = try Fixtures.temporaryDirectory() + "/stripped.so"
    #expect(Fixtures.run("strip -o '\(stripped)' '\(path)' && chmod go-w '\(stripped)'") == 0)
    #expect(try log.loader().load(spec(stripped)).name == "fussy")
  }

  @Test func brokenPluginsAreRefusedWithTheirReason() throws {
    var path = try Fixtures.path("no_note")
    #expect(error(path) == .noVersionNote(path: path))
    path = try Fixtures.path("no_symbol")
    #expect(error(path) == .noEntry(path: path, symbol: "rpcurl_plugin_entry"))
    path = try Fixtures.path("null_entry")
    #expect(error(path) == .malformed(path: path, reason: "rpcurl_plugin_entry returns null"))
    path = try Fixtures.path("small_struct")
    #expect(error(path)?.description.contains("struct_size is 16") == true)
    path = try Fixtures.path("undefined")
    #expect(error(path)?.description.contains("undefined symbol: nobody_has_this") == true)
    path = try Fixtures.path("must_see_all")
    #expect(error(path) == .wouldNotSeeAll(path: path))
  }

  @Test func rejectedConfigurationNamesTheKey() throws {
    let path = try Fixtures.path("fussy")
    #expect(
      error(path, [("fail", "no"), ("colour", "red")])
        == .configurationRejected(plugin: "fussy", key: "colour", reason: "the only key is fail", keys: []))
    #expect(
      error(path, [("fail", "yes")])?.description
        == "plugin fussy: ready failed: RPCURL_EFAILED (the plugin does not say why)")
    let keyless = try Fixtures.path("mock")
    #expect(
      error(keyless, [("k", "v")])?.description == "plugin mock: k: unknown key: the plugin has none")
  }

  // MARK: Trust

  @Test func aFileThatOthersCanWriteIsRefused() throws {
    let directory = try Fixtures.temporaryDirectory()
    let path = "\(directory)/open.so"
    Fixtures.run("cp '\(try Fixtures.path("fussy"))' '\(path)'; chmod 666 '\(path)'")
    #expect(error(path) == .untrusted(path: path, culprit: path, reason: "can be written by everybody"))
    chmod(path, 0o664)
    #expect(error(path)?.description == "plugin \(path): the file can be written by its group")
    #expect(error(path)?.hint == "let only yourself write it: chmod go-w '\(path)'")
    chmod(path, 0o644)
    #expect(try log.loader().load(spec(path)).name == "fussy")
  }

  @Test func aFileInADirectoryThatOthersCanWriteIsRefused() throws {
    let outer = try Fixtures.temporaryDirectory()
    let path = "\(outer)/in/deep.so"
    Fixtures.run(
      "mkdir '\(outer)/in'; cp '\(try Fixtures.path("fussy"))' '\(path)'; chmod 644 '\(path)'; chmod 777 '\(outer)'"
    )
    #expect(error(path) == .untrusted(path: path, culprit: outer, reason: "can be written by everybody"))
    chmod(outer, 0o1777)
    #expect(try log.loader().load(spec(path)).name == "fussy")
    // A link does not lead around it.
    chmod(outer, 0o777)
    let link = try Fixtures.temporaryDirectory() + "/link.so"
    symlink(path, link)
    #expect(error(link) == .untrusted(path: link, culprit: outer, reason: "can be written by everybody"))
  }

  @Test func anotherUsersFileIsRefused() throws {
    guard geteuid() == 0 else { return }
    let path = try Fixtures.temporaryDirectory() + "/theirs.so"
    Fixtures.run("cp '\(try Fixtures.path("fussy"))' '\(path)'; chown 1234 '\(path)'")
    #expect(error(path) == .untrusted(path: path, culprit: path, reason: "belongs to another user (1234)"))
  }
}
