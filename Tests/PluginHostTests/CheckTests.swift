import Glibc
import Interception
import Testing

@testable import PluginHost

@Suite(.serialized) struct CheckTests {
  private let log = LogCollector()

  private func check(_ name: String, limit: Duration = .seconds(2)) throws -> [PluginCheck.Line] {
    var lines: [PluginCheck.Line] = []
    let check = PluginCheck(loader: log.loader(), limit: limit) { lines.append($0) }
    // A copy, as the tests of other suites use the file itself, with its static variables.
    let copy = try Fixtures.temporaryDirectory() + "/copy.so"
    Fixtures.run("cp '\(try Fixtures.path(name))' '\(copy)'; chmod 755 '\(copy)'")
    try check.run(InterceptorSpec(name: copy))
    return lines
  }

  @Test func aPluginInOrderPassesEveryStep() throws {
    let lines = try check("later")
    #expect(lines.contains(.passed("symbol: rpcurl_plugin_entry")))
    #expect(lines.contains(.passed("call: BidiStreaming, cancellation, among others that hold every value")))
    #expect(lines.last == .passed("unloaded"))
    #expect(log.warnings.isEmpty)
  }

  @Test func whatIsHeldForTooLongIsCanceled() throws {
    let lines = try check("hoarding", limit: .milliseconds(20))
    #expect(lines.contains(.note("call: Unary, success: held for 0 s, then canceled")))
    #expect(lines.last == .passed("unloaded"))
  }

  @Test func misuseIsAFault() throws {
    let fault = #expect(throws: PluginCheck.Fault.self) { try check("misbehaving") }
    #expect(fault?.step == "call: Unary, success")
    #expect(fault?.reason == "the plugin misbehaves: proceed with a token that it was never given")
  }

  @Test func theSymbolIsLookedForWithoutLoading() throws {
    let loader = log.loader()
    #expect(try loader.inspect(try Fixtures.path("fussy")).exportsEntry == true)
    #expect(try loader.inspect(try Fixtures.path("no_symbol")).exportsEntry == false)
    let fault = #expect(throws: PluginCheck.Fault.self) { try check("no_symbol") }
    #expect(fault?.step == "inspection")
    // Without section headers nothing lists the symbols, but the dynamic loader finds them.
    let stripped = try Fixtures.temporaryDirectory() + "/stripped.so"
    guard let file = try? FileReader(path: try Fixtures.path("fussy")),
      var bytes = file.readAll(limitBytes: 1 << 24)
    else {
      Issue.record("the fixture cannot be read")
      return
    }
    for index in 40..<48 { bytes[index] = 0 }
    try Fixtures.write(bytes, to: stripped)
    chmod(stripped, 0o755)
    #expect(try loader.inspect(stripped).exportsEntry == nil)
    #expect(try loader.load(InterceptorSpec(name: stripped)).name == "fussy")
  }

  @Test func theCatalogHasTheFirstOfEachNameAndWhatIsRefused() throws {
    let (first, second) = (try Fixtures.temporaryDirectory(), try Fixtures.temporaryDirectory())
    Fixtures.run("cp '\(try Fixtures.path("fussy"))' '\(first)/b.so'; cp '\(first)/b.so' '\(second)/a.so'")
    Fixtures.run("cp '\(try Fixtures.path("mock"))' '\(second)/b.so'; echo x > '\(first)/c.so'")
    Fixtures.run("chmod 644 '\(first)/c.so'; echo x > '\(first)/readme'; mkdir '\(second)/d.so'")
    let catalog = log.loader([first, "/nonexistent", second]).catalog()
    let names = catalog.map { entry in
      switch entry {
      case .success(let plugin): "\(plugin.fileName) \(plugin.name)"
      case .failure(let error): "\(error)"
      }
    }
    #expect(
      names == [
        "b fussy", "plugin \(first)/c.so: not a shared object: not an ELF file", "a fussy",
        "plugin \(second)/d.so: not a file",
      ])
  }
}
