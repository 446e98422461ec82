import RPCurlCommandSupport
import RPCurlProgram
import Testing

@testable import RPCurlEngine

struct ConfigurationFileTests {
  private let directory = TemporaryDirectory()

  private func file(_ text: String, mode: UInt32 = 0o600) throws -> String {
    try #require(directory).write("config", Array(text.utf8), mode: mode)
  }

  private func failure(_ text: String) throws -> Failure.Message? {
    let path = try file(text)
    return #expect(throws: Failure.self) { try ConfigurationFile(path, isDemanded: true) }?.message
  }

  @Test func readsOptionsAndProfiles() throws {
    let path = try file(
      "\u{feff}# comment\r\n\n  --max-time 10\n--header=a: b = c\n-k\ntarget  host:1 \n"
        + "[profile one two]\n--header x: y\n[profile empty]\n")
    let file = try #require(try ConfigurationFile(path, isDemanded: true))
    #expect(file.profileNames == ["empty", "one two"])
    let common = file.lines(profile: nil).common
    #expect(common.map(\.number) == [3, 4, 5, 6])
    #expect(common.map(\.name) == ["--max-time", "--header", "-k", "target"])
    #expect(common.map(\.value) == ["10", "a: b = c", nil, "host:1"])
    let own = file.lines(profile: "one two").own
    #expect(own == [ConfigurationLine(number: 8, name: "--header", value: "x: y")])
    #expect(file.lines(profile: "empty").own == [])
    #expect(file.lines(profile: "none").own == nil)
    #expect(file.allLines.map(\.number) == [3, 4, 5, 6, 8])
  }

  @Test func listsProfilesWhenNameIsUnknown() throws {
    let path = try file("[profile b]\n[profile a]\n")
    var invocation = Parser.parse(["call", "--config", path, "--profile", "c", "M"])
    let failure = #expect(throws: Failure.self) { try Configuration.read(into: &invocation) { _ in nil } }
    #expect(failure?.message?.what == "--profile c")
    #expect(failure?.message?.hint?.contains("a, b") == true)
  }

  @Test(arguments: [
    ("\nsecret", "line 2", "neither an option nor target"),
    ("target", "line 1", "target needs a URL or HOST:PORT"),
    ("[x]", "line 1", "not a section"), ("[profile a", "line 1", "not a section"),
    ("[profile ]", "line 1", "missing profile name"),
    ("[profile -a]", "line 1", "missing profile name"),
    ("[profile a]\n[profile a]", "line 2", "duplicate profile a"),
  ])
  func rejectsInvalidLine(text: String, place: String, why: String) throws {
    let message = try failure(text)
    #expect(message?.what.hasSuffix("/config, \(place)") == true)
    #expect(message?.why == why)
    #expect(message?.rendered().contains("secret") == false)
  }

  @Test func rejectsTextThatIsNotUTF8() {
    let failure = #expect(throws: Failure.self) {
      try ConfigurationFile("f", contents: Array("--header x: J".utf8) + [0xFC])
    }
    #expect(failure?.message?.why == "not UTF-8")
  }

  @Test func limitsSize() throws {
    #expect(try failure(String(repeating: "#", count: 1 << 20))?.why == "more than 1048576 bytes")
    #expect(
      try ConfigurationFile(file(String(repeating: "#", count: (1 << 20) - 1)), isDemanded: true) != nil)
  }

  @Test func rejectsFileThatOthersCanWrite() throws {
    let path = try file("-k\n", mode: 0o666)
    let failure = #expect(throws: Failure.self) { try ConfigurationFile(path, isDemanded: false) }
    #expect(failure?.message?.why == "others can write the file \(path), so the configuration is not used")
    #expect(failure?.message?.hint == "chmod go-w \(path)")
  }

  @Test func requiresFileOnlyOnDemand() throws {
    let path = try "\(#require(directory).path)/none"
    #expect(try ConfigurationFile(path, isDemanded: false) == nil)
    let failure = #expect(throws: Failure.self) { try ConfigurationFile(path, isDemanded: true) }
    #expect(failure?.message?.why == "No such file or directory")
  }

  @Test(arguments: [
    (["XDG_CONFIG_HOME": "/x", "HOME": "/h"], "/x/rpcurl/config" as String?),
    (["XDG_CONFIG_HOME": "x", "HOME": "/h"], "/h/.config/rpcurl/config"),
    (["HOME": "/h"], "/h/.config/rpcurl/config"),
    (["HOME": ""], nil), ([:], nil),
  ])
  func findsStandardPath(environment: [String: String], path: String?) {
    #expect(Configuration.userPath { environment[$0] } == path)
  }

  @Test func namesTheProfileWithoutAFile() throws {
    let home = try #require(directory).path
    var invocation = Parser.parse(["call", "--profile", "p", "M"])
    let failure = #expect(throws: Failure.self) {
      try Configuration.read(into: &invocation, environment: { $0 == "HOME" ? home : nil }, directory: nil)
    }
    #expect(failure?.message?.what == "--profile p")
    #expect(failure?.message?.why == "\(home)/.config/rpcurl/config does not exist")
  }

  @Test func addsOptionsBeforeThoseOfCommandLine() throws {
    let path = try file("--max-time 1\ntarget host:1\n[profile p]\n--max-time 2\n")
    var invocation = Parser.parse(["call", "--config", path, "--profile", "p", "M"])
    try Configuration.read(into: &invocation) { _ in nil }
    #expect(invocation.text(.maxTime) == nil || invocation.errors.isEmpty)
    #expect(invocation.last(.maxTime)?.origin.place?.contains("line 4") == true)
    #expect(invocation.configuredTarget?.text == "host:1")
    var typed = Parser.parse(["call", "--config", path, "--max-time", "3", "M"])
    try Configuration.read(into: &typed) { _ in nil }
    #expect(typed.last(.maxTime)?.origin.place == nil)
  }

  @Test func reportsProfileWithoutFile() {
    var invocation = Parser.parse(["call", "--profile", "p", "M"])
    let failure = #expect(throws: Failure.self) { try Configuration.read(into: &invocation) { _ in nil } }
    #expect(failure?.message?.why == "no configuration file found")
  }
}
