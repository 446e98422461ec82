import RPCurlBase
import RPCurlChain
import RPCurlPlatform
import RPCurlProtocols
import Testing

@testable import RPCurlPluginHost

@Suite(.oneAtATime) struct LoadingTests {
  private let log = LogCollector()

  private func spec(_ name: String, _ settings: [(String, String)] = []) -> InterceptorSpec {
    InterceptorSpec(
      name: name, settings: settings.map { InterceptorSpec.Setting(key: $0.0, value: $0.1) })
  }

  private func error(_ path: String, _ settings: [(String, String)] = []) -> PluginError? {
    #expect(throws: PluginError.self) { try log.loader().load(spec(path, settings)) }
  }

  @Test func reportsMissingPlugin() throws {
    #expect(error("/nonexistent/x.so")?.description == "plugin /nonexistent/x.so: no such file or directory")
    let empty = try Fixtures.temporaryDirectory()
    let error = #expect(throws: PluginError.self) { try log.loader([empty]).load(spec("ghost")) }
    #expect(error == .notFound(name: "ghost", searched: [empty], ignored: []))
    #expect(error?.hint?.contains("./NAME.so") == true)
  }

  @Test func searchesNamesInOrderWithoutExtension() throws {
    let source = try Fixtures.path("fussy")
    let (first, second) = (try Fixtures.temporaryDirectory(), try Fixtures.temporaryDirectory())
    Fixtures.run("cp '\(source)' '\(second)/tool.so'; mkdir '\(first)/tool'")
    #expect(try log.loader([first, second]).load(spec("tool")).path == "\(second)/tool.so")
  }

  @Test func reportsRelativeDirectoriesOfTheSearchPath() {
    let path = PluginSearchPath(
      environment: { $0 == "RPCURL_PLUGIN_PATH" ? "/a:b:./c" : nil }, prefix: "/usr")
    #expect(path.ignored == ["b", "./c"])
    let error = #expect(throws: PluginError.self) { try path.locate("ghost") }
    #expect(error?.hint == "use absolute directories in RPCURL_PLUGIN_PATH: b, ./c is ignored")
  }

  @Test func searchPathExcludesWorkingDirectory() {
    let environment = ["RPCURL_PLUGIN_PATH": "/a:.:b:", "XDG_DATA_HOME": "/data", "HOME": "/home/u"]
    #expect(
      PluginSearchPath(environment: { environment[$0] }, prefix: "/usr").directories
        == ["/a", "/data/rpcurl/plugins", "/usr/lib/rpcurl/plugins"])
    #expect(
      PluginSearchPath(environment: { $0 == "HOME" ? "/home/u" : nil }, prefix: "/usr").directories
        == ["/home/u/.local/share/rpcurl/plugins", "/usr/lib/rpcurl/plugins"])
  }

  @Test func rejectsFileThatIsNotASharedObject() throws {
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
        == .notSharedObject(path: "\(directory)/short.so", reason: "the file is truncated"))
    guard case .unreadable(_, "not a file")? = error(directory) else {
      Issue.record("a directory is not a plugin")
      return
    }
  }

  @Test func rejectsFileOfAnotherMachine() throws {
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
    bytes[18] = 0
    bytes[19] = 43
    bytes[5] = 2
    try Fixtures.write(bytes, to: "\(directory)/sparc.so")
    chmod("\(directory)/sparc.so", 0o644)
    guard case .otherMachine(_, "big-endian machine 43", _)? = error("\(directory)/sparc.so") else {
      Issue.record("a big-endian plugin was not refused")
      return
    }
    bytes[5] = 1
    bytes[19] = 0
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

  @Test func rejectsAnotherMajorVersionBeforeItsCodeRuns() throws {
    let path = try Fixtures.path("other_version")
    #expect(error(path) == .otherVersion(path: path, plugin: "2.0", host: "1.0"))
    #expect(getenv("RPCURL_TEST_CONSTRUCTOR_RAN") == nil)
  }

  @Test func threadsThatLoadTheSameFileShareIt() async throws {
    let loader = log.loader()
    for _ in 0..<10 {
      let copy = try Fixtures.temporaryDirectory() + "/copy.so"
      Fixtures.run("cp '\(try Fixtures.path("fussy"))' '\(copy)'; chmod 755 '\(copy)'")
      let addresses = await withTaskGroup(of: UInt?.self) { group in
        for _ in 0..<4 { group.addTask { (try? loader.describe(copy)).map { UInt(bitPattern: $0.address) } } }
        return await group.reduce(into: Set<UInt?>()) { $0.insert($1) }
      }
      #expect(addresses.count == 1 && addresses.first != .some(nil))
    }
  }

  @Test func acceptsPluginBuiltWithHeaderOfVersion1_0() throws {
    let plugin = try log.loader().load(spec(try Fixtures.path("exercise", headerVersion: "1.0")))
    #expect(plugin.version == "2.1")
    let call = try PluginCallTest([plugin])
    call.run()
    #expect(call.sentStart?.headers == Headers([("a", "one"), ("c", "3")]))
    #expect(call.end?.error?.message == "not here")
    plugin.unload()
    #expect(log.lines == ["closed", "unloaded"])
  }

  @Test func ignoresWhatFollowsShorterStructures() throws {
    let plugin = try log.loader().load(spec(try Fixtures.path("older")))
    let call = try PluginCallTest([plugin])
    call.start()
    #expect(call.end?.error?.message == "shorter")
    #expect(call.end?.error?.details.isEmpty == true)
    #expect(call.end?.trailers.isEmpty == true)
    #expect(log.lines == ["respond: 0"])
  }

  @Test func acceptsLaterMinorVersion() throws {
    let plugin = try log.loader().load(spec(try Fixtures.path("newer")))
    let call = try PluginCallTest([plugin])
    call.start()
    #expect(call.end?.error?.message == "longer")
    #expect(log.lines == ["longer host: 0", "get_start: 0", "behind: 0"])
  }

  /// Each structure that grows has members behind those of this host.
  @Test func acceptsPluginBuiltWithGrownStructures() throws {
    let headers = try Fixtures.grownHeaders()
    var plugin = try log.loader().load(spec(try Fixtures.path("exercise", headers: headers)))
    var call = try PluginCallTest([plugin])
    call.run()
    #expect(call.end?.error?.message == "not here")
    plugin.unload()
    #expect(log.lines == ["closed", "unloaded"])
    // Arrays with more than one element.
    plugin = try log.loader().load(spec(try Fixtures.path("mock", headers: headers)))
    call = try PluginCallTest([plugin], .serverStreaming)
    call.start()
    call.chain.send(.bytes(PluginCallTest.bytes("Ada")))
    call.chain.closeRequest()
    #expect(call.receivedTexts == ["one", "two"])
    #expect(call.end?.error?.details == [StatusDetail(typeName: "a.B", value: [1])])
  }

  @Test func rejectsPluginThatRequiresNewerHostBeforeItsCodeRuns() throws {
    let path = try Fixtures.path("requires_newer")
    #expect(error(path) == .requiresNewerHost(path: path, required: "1.2", host: "1.0"))
    #expect(getenv("RPCURL_TEST_NEWER_CONSTRUCTOR_RAN") == nil)
    #expect(error(path)?.hint == "install a newer rpcurl")
  }

  @Test func versionNoteSurvivesStrip() throws {
    let path = try Fixtures.path("fussy")
    let stripped = try Fixtures.temporaryDirectory() + "/stripped.so"
    #expect(Fixtures.run("strip -o '\(stripped)' '\(path)' && chmod go-w '\(stripped)'") == 0)
    #expect(try log.loader().load(spec(stripped)).name == "fussy")
  }

  @Test func rejectsInvalidPluginsWithReason() throws {
    var path = try Fixtures.path("no_note")
    #expect(error(path) == .noVersionNote(path: path))
    path = try Fixtures.path("no_symbol")
    #expect(error(path) == .noEntry(path: path, symbol: "rpcurl_plugin_entry"))
    path = try Fixtures.path("null_entry")
    #expect(error(path) == .malformed(path: path, reason: "rpcurl_plugin_entry returns null"))
    path = try Fixtures.path("small_struct")
    #expect(error(path)?.description.contains("struct_size is 16,") == true)
    path = try Fixtures.path("cut_struct")
    #expect(error(path)?.description.contains("struct_size is 228,") == true)
    path = try Fixtures.path("huge_struct")
    #expect(error(path)?.description.contains("struct_size is \(UInt.max),") == true)
    path = try Fixtures.path("undefined")
    #expect(error(path)?.description.contains("undefined symbol: nobody_has_this") == true)
    path = try Fixtures.path("must_see_all")
    #expect(error(path) == .wouldNotSeeAll(path: path))
  }

  @Test func rejectedConfigurationNamesKey() throws {
    let path = try Fixtures.path("fussy")
    #expect(
      error(path, [("fail", "no"), ("colour", "red")])
        == .configurationRejected(plugin: "fussy", key: "colour", reason: "the only key is fail", keys: []))
    #expect(
      error(path, [("fail", "yes")])?.description
        == "plugin fussy: ready failed: RPCURL_EFAILED (no reason given by the plugin)")
    // A plugin that was loaded is unloaded.
    #expect(log.lines == ["load", "unload", "load", "unload"])
    let keyless = try Fixtures.path("mock")
    #expect(
      error(keyless, [("k", "v")])?.description == "plugin mock: k: unknown key: the plugin has no keys")
  }

  // MARK: Trust

  @Test func rejectsFileThatOthersCanWrite() throws {
    let directory = try Fixtures.temporaryDirectory()
    let path = "\(directory)/open.so"
    Fixtures.run("cp '\(try Fixtures.path("fussy"))' '\(path)'; chmod 666 '\(path)'")
    #expect(error(path) == .untrusted(path: path, culprit: path, reason: .everybody))
    chmod(path, 0o664)
    #expect(error(path)?.description == "plugin \(path): the file is writable by its group")
    #expect(error(path)?.hint == "make it writable only by you: chmod go-w '\(path)'")
    chmod(path, 0o644)
    #expect(try log.loader().load(spec(path)).name == "fussy")
  }

  @Test func rejectsFileInDirectoryThatOthersCanWrite() throws {
    let outer = try Fixtures.temporaryDirectory()
    let path = "\(outer)/in/deep.so"
    Fixtures.run(
      "mkdir '\(outer)/in'; cp '\(try Fixtures.path("fussy"))' '\(path)'; chmod 644 '\(path)'; chmod 777 '\(outer)'"
    )
    #expect(error(path) == .untrusted(path: path, culprit: outer, reason: .everybody))
    chmod(outer, 0o1777)
    #expect(try log.loader().load(spec(path)).name == "fussy")
    // A link does not bypass the check.
    chmod(outer, 0o777)
    let link = try Fixtures.temporaryDirectory() + "/link.so"
    symlink(path, link)
    #expect(error(link) == .untrusted(path: link, culprit: outer, reason: .everybody))
  }

  @Test func rejectsLinkInDirectoryThatOthersCanWrite() throws {
    let outer = try Fixtures.temporaryDirectory()
    Fixtures.run(
      "cd '\(outer)' && mkdir good open && cp '\(try Fixtures.path("fussy"))' good/x.so && chmod 644 good/x.so "
        + "&& ln -s ../good/x.so open/hop.so && ln -s open/hop.so one.so && chmod 777 open")
    let path = "\(outer)/one.so"
    #expect(error(path) == .untrusted(path: path, culprit: "\(outer)/open", reason: .everybody))
    // Nor does a directory that is left again, by a link or by a name.
    symlink("open/../good/x.so", "\(outer)/two.so")
    for name in ["two.so", "open/../good/x.so", "good/../open/hop.so"] {
      guard case .untrusted(_, "\(outer)/open", .everybody)? = error("\(outer)/\(name)") else {
        Issue.record("\(name) was not refused")
        continue
      }
    }
    chmod("\(outer)/open", 0o755)
    #expect(try log.loader().load(spec(path)).name == "fussy")
  }

  @Test func rejectsCyclicLinks() throws {
    let directory = try Fixtures.temporaryDirectory()
    symlink("b.so", "\(directory)/a.so")
    symlink("a.so", "\(directory)/b.so")
    #expect(
      error("\(directory)/a.so")?.description
        == "plugin \(directory)/a.so: too many levels of symbolic links")
  }

  @Test func rejectsLinkOfAnotherUser() throws {
    guard geteuid() == 0 else { return }
    let directory = try Fixtures.temporaryDirectory()
    chmod(directory, 0o1777)
    let link = "\(directory)/link.so"
    symlink(try Fixtures.path("fussy"), link)
    lchown(link, 1234, 1234)
    let refusal = error(link)
    #expect(refusal == .untrustedLink(path: link, link: link, reason: .owner(1234)))
    #expect(refusal?.description == "plugin \(link): the link \(link) belongs to another user (1234)")
    #expect(refusal?.hint == "if you trust where it leads, become its owner: chown -h 0 '\(link)'")
  }

  @Test func followsRelativePathsAndLinksInDirectoriesOfTheUser() throws {
    let directory = try Fixtures.temporaryDirectory()
    Fixtures.run(
      "cd '\(directory)' && mkdir -p a/b && cp '\(try Fixtures.path("fussy"))' a/b/x.so && chmod 644 a/b/x.so "
        + "&& ln -s a/b in && ln -s in/../b/./x.so y.so")
    #expect(try log.loader().load(spec("\(directory)/y.so")).name == "fussy")
    #expect(try log.loader().load(spec("\(directory)//in/x.so")).name == "fussy")
  }

  // MARK: Copies

  @Test func overwritingFileDoesNotAffectLoadedPlugin() throws {
    let path = try Fixtures.temporaryDirectory() + "/plugin.so"
    Fixtures.run("cp '\(try Fixtures.path("mock"))' '\(path)'; chmod 644 '\(path)'")
    let plugin = try log.loader().load(spec(path))
    // In place, like `cp`: mapped content would change.
    guard let file = fopen(path, "r+") else { throw Fixtures.Failure(text: "cannot open \(path)") }
    fwrite([UInt8](repeating: 0xcc, count: 1 << 16), 1, 1 << 16, file)
    fclose(file)
    let call = try PluginCallTest([plugin], .serverStreaming)
    call.start()
    call.chain.send(.bytes(PluginCallTest.bytes("Ada")))
    call.chain.closeRequest()
    #expect(call.receivedTexts == ["one", "two"])
    // The path now leads to another file.
    #expect(error(path) == .notSharedObject(path: path, reason: "not an ELF file"))
  }

  // MARK: Fingerprints

  @Test func fingerprintDependsOnSettingsAndFile() throws {
    func fingerprint(_ path: String, _ settings: [(String, String)] = []) throws -> String? {
      try log.loader().load(spec(path, settings)).registration.fingerprint?.text
    }
    let path = try Fixtures.path("batch")
    let first = try #require(try fingerprint(path, [("on", "request")]))
    #expect(try fingerprint(path, [("on", "request")]) == first)
    #expect(try fingerprint(path, [("on", "response")]) != first)
    let copy = try Fixtures.temporaryDirectory() + "/copy.so"
    Fixtures.run("cp '\(path)' '\(copy)'; chmod 644 '\(copy)'")
    #expect(try fingerprint(copy, [("on", "request")]) == first)
    Fixtures.run("printf x >> '\(copy)'")
    #expect(try fingerprint(copy, [("on", "request")]) != first)
  }

  @Test func fileThatWasReplacedAfterTheLoadHasNoFingerprint() throws {
    let path = try Fixtures.temporaryDirectory() + "/replaced.so"
    Fixtures.run("cp '\(try Fixtures.path("mock"))' '\(path)'; chmod 644 '\(path)'")
    let plugin = try log.loader().load(spec(path))
    Fixtures.run("cp '\(try Fixtures.path("batch"))' '\(path)'")
    #expect(plugin.registration.fingerprint?.text == nil)
  }

  @Test func loadsCopyInsteadOfPath() throws {
    // Not a fixture whose log another test expects: loads of one file share its static variables.
    _ = try log.loader().load(spec(try Fixtures.path("hoarding")))
    guard let maps = try? FileReader(path: "/proc/self/maps"), let bytes = maps.readAll(limitBytes: 1 << 24)
    else { throw Fixtures.Failure(text: "cannot read the maps") }
    let text = String(decoding: bytes, as: UTF8.self)
    #expect(text.contains("/memfd:rpcurl-plugin:hoarding.so"))
    #expect(!text.contains(try Fixtures.path("hoarding")))
  }

  @Test func rejectsTruncatedFilesBeforeLoading() throws {
    let directory = try Fixtures.temporaryDirectory()
    let source = try Fixtures.path("fussy")
    guard let size = FileFacts(source)?.sizeBytes else { throw Fixtures.Failure(text: "no size") }
    for bytes in [100, 500, 1000, 5000, 9000, 12288] where bytes < size {
      let path = "\(directory)/\(bytes).so"
      Fixtures.run("head -c \(bytes) '\(source)' > '\(path)'; chmod 644 '\(path)'")
      #expect(error(path) == .notSharedObject(path: path, reason: "the file is truncated"))
    }
  }

  @Test func rejectsFileOfAnotherUser() throws {
    guard geteuid() == 0 else { return }
    let path = try Fixtures.temporaryDirectory() + "/theirs.so"
    Fixtures.run("cp '\(try Fixtures.path("fussy"))' '\(path)'; chown 1234 '\(path)'")
    #expect(error(path) == .untrusted(path: path, culprit: path, reason: .owner(1234)))
    #expect(error(path)?.hint == "if you trust it, become its owner: chown 0 '\(path)'")
  }
}
