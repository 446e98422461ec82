import Testing

@testable import RPCurlProgram

struct ConfigurationTests {
  /// Reads a command line with lines of a file: `NAME VALUE` on each.
  private func configured(_ line: String, _ common: [String], _ own: [String] = []) -> Invocation {
    func lines(_ texts: [String], from start: Int) -> [ConfigurationLine] {
      texts.enumerated().map { index, text in
        let parts = text.split(separator: " ", maxSplits: 1).map(String.init)
        return ConfigurationLine(
          number: start + index, name: parts[0], value: parts.count > 1 ? parts[1] : nil)
      }
    }
    var invocation = Parser.parse(line.split(separator: " ").map(String.init))
    invocation.configure([
      ConfigurationLayer(path: "f", profile: nil, lines: lines(common, from: 1)),
      ConfigurationLayer(path: "f", profile: "p", lines: lines(own, from: 100)),
    ])
    return invocation
  }

  /// Reads a command line with a line of the user's configuration, one of a project file, and a profile of each.
  private func layered(
    _ line: String, user: [String], project: [String], userProfile: [String] = [],
    projectProfile: [String] = [], target: String? = nil
  ) -> Invocation {
    func layer(_ path: String, _ profile: String?, _ texts: [String]) -> ConfigurationLayer {
      let lines = texts.enumerated().map { index, text in
        let parts = text.split(separator: " ", maxSplits: 1).map(String.init)
        return ConfigurationLine(
          number: index + 1, name: parts[0], value: parts.count > 1 ? parts[1] : nil)
      }
      return ConfigurationLayer(
        path: path, profile: profile, owner: path == "project" ? .project(isTrusted: true) : .user,
        lines: lines)
    }
    var invocation = Parser.parse(line.split(separator: " ").map(String.init))
    invocation.configure(
      [
        layer("user", nil, user), layer("project", nil, project), layer("user", "p", userProfile),
        layer("project", "p", projectProfile),
      ], environmentTarget: target.map { Positional($0, .environment(name: "RPCURL_TARGET")) })
    return invocation
  }

  @Test func projectFileTakesPrecedenceOverUser() {
    let invocation = layered(
      "M", user: ["--max-time 1", "-H x: 1", "-u a:b", "--proto u"],
      project: ["--max-time 2", "-H X: 2", "--bearer t", "--proto p"])
    #expect(invocation.duration(.maxTime) == .seconds(2))
    #expect(invocation.all(.header).map(\.text) == ["X: 2"])
    #expect(invocation.all(of: [.user, .bearer]).map(\.text) == ["t"])
    #expect(invocation.texts(.proto) == ["p", "u"])
  }

  @Test(arguments: [
    (["target u"], ["target p"], [], [], "e" as String?, "e"), (["target u"], ["target p"], [], [], nil, "p"),
    (["target u"], [], [], [], nil, "u"), (["target u"], ["target p"], ["target o"], [], "e", "o"),
    ([], ["target p"], ["target o"], ["target q"], "e", "q"),
    ([], ["target p"], ["--max-time 1"], [], "e", "e"),
  ])
  func targetHasPrecedence(
    user: [String], project: [String], userProfile: [String], projectProfile: [String], environment: String?,
    target: String
  ) {
    let invocation = layered(
      "M", user: user, project: project, userProfile: userProfile, projectProfile: projectProfile,
      target: environment)
    #expect(invocation.configuredTarget?.text == target)
  }

  @Test func profilesTakePrecedenceOverLinesForAllCalls() {
    let invocation = layered(
      "M", user: [], project: ["--max-time 2"], userProfile: ["--max-time 3"], projectProfile: [])
    #expect(invocation.duration(.maxTime) == .seconds(3))
  }

  @Test(arguments: [
    ("-H authorization:x M", "--bearer t"), ("-H Authorization:x M", "-u a:b"),
    ("--bearer t M", "-H authorization: x"), ("-u a:b M", "-H authorization: x"),
  ])
  func credentialsReplaceEachOther(line: String, configured: String) {
    #expect(self.configured(line, [configured]).arguments.count == 1)
  }

  @Test func rpcHeaderDoesNotReplaceBearer() {
    #expect(configured("--rpc-header authorization:x M", ["--bearer t"]).arguments.count == 2)
  }

  @Test(arguments: [
    ("retry", ["log", "sign"]), ("sign", ["retry", "log"]), ("./lib/sign.so", ["retry", "log"]),
    ("?sign", ["retry", "log"]),
  ])
  func omitsInterceptorOfConfiguration(name: String, left: [String]) {
    let lines = ["--use retry,attempts=2", "--use log", "--plugin /a/sign.so,key=x"]
    let invocation = configured("--use retry --no-use \(name) h M", lines)
    #expect(invocation.errors == [])
    let chain = invocation.all(of: [.use, .plugin]).map { ($0.interceptorName ?? "", $0.origin.file) }
    #expect(chain.filter { $0.1 != nil }.map(\.0) == left)
    #expect(chain.last?.0 == "retry" && chain.last?.1 == nil)
    #expect(invocation.omitted.count == 1)
  }

  @Test(arguments: ["x.py", "./x.py"]) func omitsScriptOfConfiguration(name: String) {
    let invocation = configured("--no-use \(name) h M", ["--script '/a/x.py' --key k", "--use log"])
    #expect(invocation.errors == [])
    #expect(invocation.omitted.map(\.id) == [.script])
    #expect(invocation.all(of: [.use, .script]).map(\.id) == [.use])
  }

  @Test(arguments: [
    (["--use retry"], "retri", "did you mean retry?"), (["--use retry"], "x", "the configuration has retry"),
    ([], "retry", "no configuration file that was read has interceptors"),
  ])
  func rejectsUnknownInterceptorToOmit(lines: [String], name: String, hint: String) {
    let error = configured("--use retry --no-use \(name) h M", lines).errors.first
    #expect(error?.what == "--no-use \(name)" && error?.hint == hint)
  }

  @Test func withholdsWhatMayHoldCredentials() {
    var invocation = layered(
      "--bearer t -H a:b M",
      user: [
        "-H x: y", "--rpc-header x: z", "--use auth,bearer=env:T", "--use retry", "--plugin p", "--script s",
        "--cert c",
        "--netrc", "-d {}", "--proxy p", "--max-time 1",
      ], project: ["-H p: q"])
    let withheld = invocation.withholdCredentials(of: "user") { $0 == "retry" }
    #expect(withheld.map(\.id) == [.header, .rpcHeader, .use, .plugin, .script, .cert, .netrc, .data])
    #expect(invocation.arguments.map(\.id) == [.use, .proxy, .maxTime, .header, .bearer, .header])
  }

  @Test func whatIsTypedTakesPrecedence() {
    let invocation = configured("--max-time 5 h M", ["--max-time 10", "--http2"], ["--max-time 7"])
    #expect(invocation.duration(.maxTime) == .seconds(5))
    #expect(invocation.last(.maxTime)?.origin == .typed(index: 0))
    #expect(invocation.all(.maxTime).map(\.origin.place) == ["f, line 1", "f, line 100", nil])
    #expect(invocation.isTyped(.maxTime) && !invocation.isTyped(.http2))
  }

  @Test func schemasOfTheFileFollowThoseThatAreTyped() {
    let invocation = configured("--protoset a h M", ["--descriptor-set b", "-H x: y"])
    #expect(invocation.all(.descriptorSet).map(\.text) == ["a", "b"])
    #expect(invocation.arguments.map(\.id) == [.header, .descriptorSet, .descriptorSet])
  }

  @Test(arguments: [
    ("-u a:b h M", ["--bearer t"], OptionID.bearer), ("--bearer t h M", ["-u a:b"], .user),
    ("-d x h M", ["-d y"], .data), ("-H x:1 h M", ["--rpc-header X: 2"], .rpcHeader),
  ])
  func whatIsTypedReplaces(line: String, lines: [String], id: OptionID) {
    #expect(configured(line, lines).arguments.count == 1)
  }

  @Test func profilesReplaceCommonLines() {
    let invocation = configured("M", ["target a", "-H x: 1", "-H y: 1"], ["target b", "-H X: 2"])
    #expect(invocation.all(.header).map(\.text) == ["y: 1", "X: 2"])
    #expect(invocation.configuredTarget == Positional("b", .file(path: "f", line: 100, profile: "p")))
  }

  @Test func commandsOmitLinesThatTheyHaveNoUseFor() {
    let invocation = configured(
      "list h", ["-d {}", "--format json", "--use log", "--no-cache", "--kind message"])
    #expect(invocation.errors == [])
    #expect(invocation.arguments.map(\.id) == [.noCache, .kind])
    #expect(configured("h M", ["--kind message"]).arguments == [])
  }

  @Test(arguments: [
    ("-uada:s3cr3t", "-u …", "missing blank after the name"),
    ("-u=ada:s3cr3t", "-u …", "missing blank after the name"),
    ("-kus3cr3t", "-u …", "missing blank after the name"),
    ("-Hauthorization:Bearer_s3cr3t", "-H …", "missing blank after the name"),
    ("--bearer:s3cr3t", "--bearer …", "missing blank after the name"),
    ("--bearers3cr3t", "--bearer …", "missing blank after the name"),
    ("--users3cr3t", "--user …", "missing blank after the name"),
    ("--bearr", "--bearr", "unknown option"), ("--user-agnet", "--user-agnet", "unknown option"),
    ("-bearer=s3cr3t", "-bearer", "unknown option"), ("--token:s3cr3t", "--token", "unknown option"),
    ("--plaintext:s3cr3t", "--plaintext", "expected true or false"), ("-@s3cr3t", "-", "unknown option"),
    ("-max-time 1", "-max-time", "unknown option"), ("-kv", "-kv", "unknown option"),
  ])
  func errorsOfNamesHaveNoSecrets(line: String, what: String, why: String) {
    let error = configured("h M", [line]).errors.first
    #expect(error?.what == what)
    #expect(error?.why == why)
    #expect(error?.hint?.contains("s3cr3t") != true)
  }

  @Test func errorOfNameWithoutBlankHasHint() {
    #expect(configured("h M", ["-Hx:1"]).errors.first?.hint == "write -H \(OptionTable[.header].placeholder)")
    #expect(configured("h M", ["-bearer=x"]).errors.first?.hint == "did you mean --bearer?")
  }

  @Test(arguments: [
    (["--no-such-option 1"], "--no-such-option", "unknown option"),
    (["--max-time soon"], "--max-time soon", "not a valid duration"),
    (["--verbose yes"], "--verbose", "expected true or false"), (["--user"], "--user", "missing value"),
    (["--config x"], "--config", "only for the command line"),
    (["--help"], "--help", "only for the command line"),
  ])
  func errorsHaveTheirLine(lines: [String], what: String, why: String) {
    for command in ["h M", "list h"] {
      let error = configured(command, lines).errors.first
      #expect(error?.what == what)
      #expect(error?.why == why)
      #expect(error?.origin?.place == "f, line 1")
    }
  }
}
