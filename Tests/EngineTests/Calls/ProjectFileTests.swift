import RPCurlCommandSupport
import RPCurlPlatform
import RPCurlProgram
import Testing

@testable import RPCurlEngine

struct ProjectFileTests {
  private let temporary = TemporaryDirectory()

  /// The path without links: that of a working directory.
  private func folder() throws -> TemporaryDirectory { try #require(temporary) }

  private func path(_ name: String) throws -> String { "\(try folder().path)/\(name)" }

  @discardableResult
  private func write(_ text: String, in directory: String = "p", mode: mode_t = 0o600) throws -> String {
    let folder = try folder()
    var made = ""
    for part in directory.split(separator: "/") {
      made += made.isEmpty ? String(part) : "/\(part)"
      if access("\(folder.path)/\(made)", F_OK) != 0 { folder.makeDirectory(made) }
    }
    return folder.write("\(directory)/.rpcurl", Array(text.utf8), mode: mode)
  }

  private func environment(_ more: [String: String] = [:]) throws -> (String) -> String? {
    let variables = ["HOME": try path("home"), "XDG_STATE_HOME": try path("state")].merging(more) { $1 }
    return { variables[$0] }
  }

  private func read(
    _ line: String, in directory: String = "p", _ more: [String: String] = [:]
  ) throws -> Invocation {
    var invocation = Parser.parse(line.split(separator: " ").map(String.init))
    try Configuration.read(into: &invocation, environment: environment(more), directory: path(directory))
    return invocation
  }

  private func failure(_ line: String, in directory: String = "p") throws -> Failure.Message? {
    #expect(throws: Failure.self) { try read(line, in: directory) }?.message
  }

  private func trust(_ directory: String = "p") throws {
    let file = try ProjectFile(in: path(directory))
    try #require(TrustStore(environment: environment())).trust(file.path, contents: file.contents)
  }

  // MARK: Search

  @Test func searchesUpToRootOfRepository() throws {
    let folder = try folder()
    try write("", in: "a/b/c")
    try write("", in: "a/b")
    try write("", in: "a")
    folder.makeDirectory("a/b/c/d")
    folder.makeDirectory("a/b/e")
    func found(_ name: String) throws -> String? {
      try ProjectFile.directory(from: path(name), home: nil)
    }
    // Without a repository, only the working directory.
    #expect(try found("a/b/c/d") == nil)
    #expect(try found("a/b/c") == path("a/b/c"))
    // A repository or a work tree.
    folder.write("a/b/.git", [])
    #expect(try found("a/b/c/d") == path("a/b/c"))
    #expect(try found("a/b/e") == path("a/b"))
    #expect(try found("a") == path("a"))
    unlink(try path("a/b/.rpcurl"))
    #expect(try found("a/b/e") == nil)
  }

  @Test func endsAtHome() throws {
    let folder = try folder()
    try write("", in: "a")
    folder.makeDirectory("a/.git")
    folder.makeDirectory("a/b")
    folder.makeDirectory("a/b/c")
    #expect(try ProjectFile.directory(from: path("a/b/c"), home: nil) == path("a"))
    #expect(try ProjectFile.directory(from: path("a/b/c"), home: path("a")) == path("a"))
    #expect(try ProjectFile.directory(from: path("a/b/c"), home: path("a/b")) == nil)
    // A home that is a link.
    symlink(try path("a/b"), try path("link"))
    #expect(try ProjectFile.directory(from: path("a/b/c"), home: path("link")) == nil)
  }

  @Test(arguments: [(0o755 as mode_t, true), (0o775, true), (0o777, false), (0o1777, false)])
  func endsAtDirectoryThatEveryUserCanWrite(mode: mode_t, isSearched: Bool) throws {
    let folder = try folder()
    try write("", in: "a")
    folder.makeDirectory("a/.git")
    folder.makeDirectory("a/b")
    chmod(try path("a"), mode)
    #expect(try ProjectFile.directory(from: path("a/b"), home: nil) == (isSearched ? path("a") : nil))
    #expect(try ProjectFile.directory(from: path("a"), home: nil) == path("a"))
  }

  // MARK: File

  @Test func rejectsWhatIsNotRegularFile() throws {
    let folder = try folder()
    folder.makeDirectory("p")
    let file = try path("p/.rpcurl")
    folder.makeDirectory("p/.rpcurl")
    #expect(try failure("list")?.why == "a directory, not a project file of rpcurl")
    rmdir(file)
    mkfifo(file, 0o600)
    #expect(try failure("list")?.why == "not a regular file")
    unlink(file)
    symlink("/dev/zero", file)
    #expect(try failure("list")?.why == "a symbolic link, which a project file must not be")
    #expect(try failure("list")?.hint == "--config /dev/null ignores it")
    let trusting = #expect(throws: Failure.self) { try ProjectFile(in: path("p"), isOptional: false) }
    #expect(trusting?.message?.hint == nil)
    unlink(file)
    try write(String(repeating: "#", count: (1 << 20) + 1))
    #expect(try failure("list")?.why == "more than 1048576 bytes")
  }

  @Test(arguments: [(0o600 as mode_t, true), (0o664, true), (0o602, false), (0o666, false)])
  func rejectsFileThatEveryUserCanWrite(mode: mode_t, isRead: Bool) throws {
    let file = try write("--max-time 1", mode: mode)
    guard !isRead else {
      #expect(try read("h M").duration(.maxTime) == .seconds(1))
      return
    }
    #expect(try failure("h M")?.hint == "chmod o-w \(file)")
  }

  @Test func isIgnoredWithConfig() throws {
    try write("nonsense")
    #expect(try read("--config /dev/null h M").configuration.files.map(\.path) == ["/dev/null"])
    #expect(try read("version").configuration.files == [])
  }

  // MARK: Trust

  @Test func trustIsForPathAndContents() throws {
    let file = try write("-k\n")
    #expect(try failure("h M")?.what == "\(file), line 1")
    #expect(try failure("h M")?.why == "-k: the file is not trusted, and this setting needs trust")
    #expect(try failure("h M")?.hint == "read the file, then run \"rpcurl trust\"")
    try trust()
    #expect(try read("h M").has(.insecure))
    try write("-k\n#")
    #expect(
      try failure("h M")?.why == "-k: the file changed after it was trusted, and this setting needs trust")
    try write("-k\n", in: "q")
    #expect(try failure("h M", in: "q")?.what == "\(path("q/.rpcurl")), line 1")
    try write("-k\n")
    #expect(try read("h M").has(.insecure))
  }

  @Test(arguments: [
    "--bearer s3cret", "-H authorization: s3cret", "-H @s3cret", "-u s3cret:s3cret",
    "--use auth,bearer=s3cret",
    "target unix:/s3cret", "--no-such s3cret",
  ])
  func errorsContainNoValue(line: String) throws {
    try write(line)
    let (environment, directory) = try (environment(), path("p"))
    var invocation = Parser.parse(["h", "M"])
    var message: Failure.Message?
    do throws(Failure) {
      try Configuration.read(into: &invocation, environment: environment, directory: directory)
      message = invocation.errors.first.flatMap { Failure($0).message }
    } catch {
      message = error.message
    }
    #expect(message?.rendered().contains("s3cret") == false)
  }

  @Test func checksOnlyLinesThatApply() throws {
    try write("--max-time 1\n[profile a]\n-k\n[profile b]\n--max-time 2\n")
    #expect(try read("h M").duration(.maxTime) == .seconds(1))
    #expect(try read("--profile b h M").duration(.maxTime) == .seconds(2))
    #expect(try failure("--profile a h M")?.what == "\(path("p/.rpcurl")), line 3")
  }

  /// Values that need trust, although other values of the option need none.
  @Test(arguments: [
    "-H authorization: x", "-H Cookie: x", "-H x-api-key: x", "-H x: ${HOME}", "-H @headers", "-H x",
    "-H Proxy-Authorization: x", "-H host: x", "--rpc-header x-token: y", "--reflect-header @f",
    "-I /etc", "-I ..", "-I a/../..", "-I .:/etc", "-I a=/etc", "-I link", "-I link/x", "-I /etc/none",
    "-I none/../../x", "-I none/../b", "-I dangling", "--proto dangling/x", "-I x=..",
    "-I x/../..=protos", "--proto /etc/*.proto", "--proto */../../x", "--descriptor-set /dev/stdin",
    "--descriptor-set -", "--proto ../x.proto",
    "--proto link/x.proto", "target unix:/run/x.sock", "target unix:../x", "target unix:link/x",
    "target unix-abstract:x",
  ])
  func needsTrust(line: String) throws {
    try write(line)
    symlink("/etc", try path("p/link"))
    symlink("/none", try path("p/dangling"))
    #expect(try failure("h M")?.why.hasSuffix("this setting needs trust") == true)
    #expect(try ProjectFile(in: path("p")).linesThatNeedTrust().count == 1)
    try trust()
    #expect(try read("h M").errors == [])
  }

  @Test(arguments: [
    "-H x-tenant: blue", "--rpc-header x: $HOME", "-I .", "-I protos", "-I protos:none",
    "-I github.com/x=protos",
    "--proto protos/**/*.proto", "--proto a:/etc/x.proto",
    "--descriptor-set x.binpb", "--proto x.proto", "--proto none/x.proto", "target localhost:1",
    "target https://demo.example", "target :1", "target dns:///a:1", "target unix:x.sock", "--format json",
    "-v", "-m 5",
  ])
  func needsNoTrust(line: String) throws {
    try write(line)
    try folder().makeDirectory("p/protos")
    #expect(try read("h M").errors == [])
    #expect(try ProjectFile(in: path("p")).linesThatNeedTrust().isEmpty)
  }

  @Test(arguments: [
    ("--nope", "--nope", "unknown option"),
    ("-v\n[profile a]\n--max-time soon", "--max-time soon", "duration"),
  ])
  func invalidOptionsAreNotTrusted(text: String, option: String, why: String) throws {
    try write(text)
    let file = try ProjectFile(in: path("p"))
    let error = #expect(throws: Failure.self) { try file.linesThatNeedTrust() }
    let line = text.split(separator: "\n").count
    #expect(error?.message?.what == "\(file.path), line \(line)")
    #expect(error?.message?.why.hasPrefix(option) == true && error?.message?.why.contains(why) == true)
  }

  /// A value of -I is split there.
  @Test(arguments: ["a:b", "a=b"])
  func sourcesInDirectoryWithDelimiterNeedTrust(name: String) throws {
    try write("-I .", in: name)
    #expect(try failure("h M", in: name)?.why.hasSuffix("this setting needs trust") == true)
    try write("--descriptor-set x\n--proto x.proto", in: name)
    #expect(try read("h M", in: name).errors == [])
  }

  // MARK: Paths

  @Test func pathsAreRelativeToTheFile() throws {
    try write(
      """
      -I protos
      -I /usr/include
      --proto there.proto
      --proto elsewhere.proto
      --proto a/*.proto
      -I x/y=protos:z
      --descriptor-set ./x.binpb
      --cacert ca.pem
      --bearer @token
      -H @headers
      -d @-
      -o -
      --pass env:PHRASE
      --use auth,bearer=@a,,b
      --use header,set=x:y,set=z:@file,add=z:@@f,set=q:env:r
      --use log,file=log.txt,redact=@list
      --use header,set=a:@@b
      --plugin ./sign.so,key=@key,cert=file
      --plugin ?lib/other,,1.so
      --plugin byname
      --script ./sign.py --key './k y'
      --script '../a b/s,1.py'
      --script python3 ./x.py
      --script /usr/bin/x
      --use script,run=bin/s,name=x
      target unix:x.sock
      """)
    try folder().write("p/there.proto", [])
    try trust()
    let invocation = try read("M")
    let p = try path("p")
    #expect(invocation.texts(.importPath) == ["\(p)/protos", "/usr/include", "x/y=\(p)/protos:\(p)/z"])
    #expect(invocation.texts(.proto) == ["\(p)/there.proto", "elsewhere.proto", "\(p)/a/*.proto"])
    #expect(invocation.texts(.descriptorSet) == ["\(p)/x.binpb"])
    #expect(invocation.texts(.cacert) == ["\(p)/ca.pem"])
    #expect(invocation.texts(.bearer) == ["@\(p)/token"])
    #expect(invocation.texts(.header) == ["@\(p)/headers"])
    #expect(invocation.texts(.data) == ["@-"])
    #expect(invocation.texts(.output) == ["-"])
    #expect(invocation.texts(.pass) == ["env:PHRASE"])
    #expect(
      invocation.texts(.use) == [
        "auth,bearer=@\(p)/a,,b", "header,set=x:y,set=z:@\(p)/file,add=z:@@f,set=q:env:r",
        "log,file=\(p)/log.txt,redact=@\(p)/list", "header,set=a:@@b",
        "script,run='\(p)/bin/s',name=x",
      ])
    #expect(
      invocation.texts(.script) == [
        "\(p)/sign.py --key './k y'", "'\(p)/../a b/s,1.py'", "python3 ./x.py", "/usr/bin/x",
      ])
    #expect(
      invocation.texts(.plugin) == [
        "\(p)/sign.so,key=@\(p)/key,cert=file", "?\(p)/lib/other,,1.so", "byname",
      ])
    #expect(invocation.configuredTarget?.text == "unix:\(p)/x.sock")
  }

  // MARK: Credentials of the user

  private static let own = "--bearer secret\n--use retry\n-H x-key: y\n"

  private func withheld(_ line: String, _ more: [String: String] = [:]) throws -> [OptionID] {
    let folder = try folder()
    if access(try path("home"), F_OK) != 0 {
      for name in ["home", "home/.config", "home/.config/rpcurl"] { folder.makeDirectory(name) }
      folder.write("home/.config/rpcurl/config", Array(Self.own.utf8))
    }
    let invocation = try read(line, more)
    #expect(
      (invocation.last(.bearer) != nil)
        == (invocation.configuration.withheld.isEmpty || invocation.isTyped(.bearer)))
    return invocation.configuration.withheld.map(\.id)
  }

  @Test(arguments: [
    "GetProduct", "shop.v1.Shop/GetProduct", "session", "run file", "list", "list shop.v1.Shop", "describe",
    "template X", "export", "health", "health s.S", "check", "--bearer typed GetProduct",
  ])
  func areNotAppliedToUntrustedTarget(line: String) throws {
    try write("target http://evil.example")
    #expect(try withheld(line) == (line.contains("typed") ? [.header] : [.bearer, .header]))
    try trust()
    #expect(try withheld(line) == [])
  }

  @Test(arguments: [
    "http://host M", "host:1 M", "https://host/a.B/C", "session host:1", "run host:1 file", "list host:1",
    "describe host:1 X", "list --descriptor-set x", "health host:1", "health host s.S", "check host",
  ])
  func areAppliedToTypedTarget(line: String) throws {
    try write("target http://evil.example")
    #expect(try withheld(line) == [])
  }

  @Test func areAppliedToTargetOfTheUser() throws {
    try write("target http://evil.example")
    #expect(try withheld("GetProduct", ["RPCURL_TARGET": "https://own.example"]) == [])
    #expect(try withheld("GetProduct", ["RPCURL_TARGET": ""]) == [.bearer, .header])
    try write("--max-time 1")
    #expect(try withheld("GetProduct") == [])
  }

  @Test func profileOfUntrustedFileDoesNotReceiveCredentials() throws {
    try write("[profile p]\ntarget http://evil.example")
    #expect(try withheld("--profile p M") == [.bearer, .header])
  }

  @Test func reportsProfileThatNoFileHas() throws {
    try write("[profile a]\n")
    _ = try withheld("M")
    #expect(try failure("--profile b M")?.why.hasSuffix("have no such profile") == true)
    #expect(try failure("--profile b M")?.hint == "profiles: a")
  }
}
