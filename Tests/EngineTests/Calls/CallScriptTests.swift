import RPCurlCommandSupport
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import Testing

@testable import RPCurlEngine

/// The commands of other programs. Their options are those of grpcurl 1.9.3 and of buf 1.72.
struct CallScriptTests {
  /// The command of a program for a call of `shop.Orders`, without line breaks.
  ///
  /// - Parameters:
  ///   - options: The options of the call.
  ///   - method: The method of the service.
  ///   - knowsSchema: Whether the schema is at hand.
  private func script(
    _ program: CallProgram, _ options: [String], target: String = "http://h:1", method: String = "Place",
    knowsSchema: Bool = true, environment: [String: String] = [:]
  ) throws -> String {
    let words = ["call", target, "shop.Orders/\(method)", "--explain", "--format", program.rawValue]
    let arguments = Parser.parse(words + options)
    let settings = try CallSettings(
      arguments, arguments.tls, isTerminal: false,
      ArgumentSources(environment: { environment[$0] }, secrets: SecretPrompt()))
    let pool = try ShopSchema.pool()
    let found = try #require(try pool.service(named: "shop.Orders")?.method(named: method))
    let plan = try CallPlan(
      arguments, settings, (pool, found), reflection: nil, ChainSource(), sharesConnection: false)
    if program.readsData(arguments) {
      var form = settings.requestForm
      form.edits = try FieldEdit.read(arguments.edits, nil, waitLimit: nil)
      plan.sources = try RequestData.sources(arguments.data, for: found, isBatch: false, form: form)
    }
    let resolved = ResolvedCall(
      settings: settings, chain: ChainSource(), plan: knowsSchema ? plan : nil,
      origin: knowsSchema ? .files : nil)
    let text = try program.script(
      arguments, resolved, StandardError(OutputStream(2)), environment: { environment[$0] })
    return String(text.replacing(" \\\n  ", with: " ").dropLast())
  }

  /// The programs send it, and buf refuses the option.
  @Test(arguments: [CallProgram.rpcurl, .curl, .buf])
  func contentTypeIsNotWrittenAgain(program: CallProgram) throws {
    let headers = ["-H", "Content-Type: application/json", "-H", "x-a: 1"]
    let text = try script(program, ["--protocol", "connect", "--codec", "json", "-d", "{}"] + headers)
    #expect(text.contains("x-a: 1") && !text.contains("Content-Type"))
  }

  /// Attributes are not sent; interceptors that read them are reported by themselves.
  @Test(arguments: CallProgram.allCases)
  func attributesAreOfRpcurlOnly(program: CallProgram) throws {
    let attributes = ["--attribute", "tier=gold", "--attribute", "token=x"]
    let text = try script(program, ["--protocol", program == .grpcurl ? "grpc" : "connect"] + attributes)
    let shown = text.contains("--attribute tier=gold --attribute \"token=${TOKEN}\"")
    #expect(shown == (program == .rpcurl), "\(text)")
    #expect(!text.contains("token=x") && (shown || !text.contains("attribute")))
  }

  // MARK: grpcurl

  @Test(arguments: [
    (["-d", "{\"id\":\"a b\"}"], "grpcurl -plaintext -d '{\"id\":\"a b\"}' h:1 shop.Orders/Place"),
    (["-d", "@-"], "grpcurl -plaintext -d @ h:1 shop.Orders/Place"),
    (["-d", "@f"], "grpcurl -plaintext -d @ h:1 shop.Orders/Place < f"),
    (["--set", "id=x"], "grpcurl -plaintext -d '{\"id\":\"x\"}' h:1 shop.Orders/Place"),
    (
      ["--data-format", "text", "-d", "id: 'x'"],
      "grpcurl -plaintext -d '{\"id\":\"x\"}' h:1 shop.Orders/Place"
    ),
    (["-m", "1500ms"], "grpcurl -max-time 1.5 -plaintext h:1 shop.Orders/Place"),
    (["--connect-timeout", "2m"], "grpcurl -connect-timeout 120 -plaintext h:1 shop.Orders/Place"),
    (["--keepalive-time", "1us"], "grpcurl -keepalive-time 0.001 -plaintext h:1 shop.Orders/Place"),
    (["--max-message-size", "1k"], "grpcurl -plaintext -max-msg-sz 1024 h:1 shop.Orders/Place"),
    (
      ["--protoset", "a", "--protoset", "b"],
      "grpcurl -protoset a -protoset b -plaintext h:1 shop.Orders/Place"
    ),
    (
      ["--reflect", "--proto", "google/rpc/status.proto"],
      "# First run: rpcurl export --proto google/rpc/status.proto -o schema.binpb\n"
        + "grpcurl -protoset schema.binpb -plaintext -use-reflection h:1 shop.Orders/Place"
    ),
    (
      ["--emit-defaults", "--allow-unknown-fields"],
      "grpcurl -emit-defaults -allow-unknown-fields -plaintext h:1 shop.Orders/Place"
    ),
    (
      ["-H", "x: 1", "--rpc-header", "y: 2"],
      "grpcurl -H 'x: 1' -rpc-header 'y: 2' -plaintext h:1 shop.Orders/Place"
    ),
    (["--reflect-header", "y: 2"], "grpcurl -reflect-header 'y: 2' -plaintext h:1 shop.Orders/Place"),
    (
      ["--reflect-header", "y: 2", "--protoset", "a"],
      "grpcurl -protoset a -plaintext h:1 shop.Orders/Place"
    ),
    (
      ["-A", "me", "--authority", "a"], "grpcurl -user-agent me -authority a -plaintext h:1 shop.Orders/Place"
    ),
    (
      ["--error-format", "json", "-o", "out"], "grpcurl -format-error -plaintext h:1 shop.Orders/Place > out"
    ),
    (["-v"], "grpcurl -plaintext -v h:1 shop.Orders/Place"),
    (["-v", "-v"], "grpcurl -plaintext -vv h:1 shop.Orders/Place"),
    // The last one applies.
    (["-m", "1", "-m", "2"], "grpcurl -max-time 2 -plaintext h:1 shop.Orders/Place"),
    (["--emit-defaults", "--emit-defaults=false"], "grpcurl -plaintext h:1 shop.Orders/Place"),
  ])
  func writesCallForGrpcurl(options: [String], command: String) throws {
    #expect(try script(.grpcurl, options) == command)
  }

  @Test(arguments: [
    ("https://h", "grpcurl h:443 shop.Orders/Place"), ("h", "grpcurl h:443 shop.Orders/Place"),
    ("http://h", "grpcurl -plaintext h:80 shop.Orders/Place"),
    ("http://[::1]", "grpcurl -plaintext '[::1]:80' shop.Orders/Place"),
    ("http://[::1]:5", "grpcurl -plaintext '[::1]:5' shop.Orders/Place"),
    ("unix:/s", "grpcurl -unix /s shop.Orders/Place"),
  ])
  func namesServerForGrpcurl(target: String, command: String) throws {
    #expect(try script(.grpcurl, [], target: target).replacing(" -plaintext /s", with: " /s") == command)
  }

  @Test func writesAbstractSockets() throws {
    let target = "unix-abstract:s"
    #expect(try script(.curl, [], target: target).contains(" --abstract-unix-socket s "))
    #expect(try script(.rpcurl, [], target: target).contains(" unix-abstract:s "))
    #expect(try script(.buf, [], target: target).contains("# not in buf curl: unix-abstract:s"))
    #expect(throws: Failure.self) { try script(.grpcurl, [], target: target) }
  }

  @Test func writesTLSForGrpcurl() throws {
    #expect(
      try script(
        .grpcurl, ["--cacert", "/dev/null", "--cert", "/dev/null", "--servername", "n"], target: "h:1")
        == "grpcurl -cacert /dev/null -cert /dev/null -servername n -key /dev/null h:1 shop.Orders/Place")
    #expect(try script(.grpcurl, ["-k"], target: "h:1") == "grpcurl -insecure h:1 shop.Orders/Place")
  }

  @Test(arguments: [
    (["--use", "retry,attempts=3"], "--use retry,attempts=3"), (["--proto-names"], "--proto-names"),
    (["--filter", "id"], "--filter id"), (["--format", "binary"], "--format binary"),
    (["-x", "http://p"], "--proxy http://p"), (["--compression", "gzip"], "--compression gzip"),
    (["-H", "@/dev/null"], "--header @/dev/null"), (["-4"], "--ipv4"), (["--tlsv1.3"], "--tlsv1.3"),
    (["--limit", "3"], "--limit 3"),
    (["--protoset", "a", "--proto", "b"], "--proto b beside --descriptor-set"),
    (["--resolve", "a:1:127.0.0.1"], "--resolve a:1:127.0.0.1"), (["--codec", "json"], "--codec json"),
  ])
  func namesWhatGrpcurlLacks(options: [String], text: String) throws {
    var given = options
    // The format of responses is the last one that is no program.
    if let index = given.firstIndex(of: "--format") { given.replaceSubrange(index..<(index + 2), with: []) }
    let format = options.contains("--format") ? ["--format", "binary", "--format", "grpcurl"] : []
    let written = try script(.grpcurl, given + format)
    #expect(written.hasPrefix("# not in grpcurl: \(text)\n"))
  }

  @Test func refusesWhatGrpcurlCannotCall() throws {
    #expect(throws: Failure.self) { try script(.grpcurl, ["--protocol", "connect"]) }
    #expect(throws: Failure.self) { try script(.grpcurl, [], target: "http://h/prefix") }
    #expect(throws: Failure.self) { try script(.grpcurl, ["--each"]) }
    #expect(throws: Failure.self) { try script(.grpcurl, ["--set", "id=x"], knowsSchema: false) }
  }

  // MARK: buf

  @Test(arguments: [
    (["-d", "{}"], "buf curl --protocol grpc --http2-prior-knowledge --timeout 0s -d '{}'"),
    (["-d", "@f"], "buf curl --protocol grpc --http2-prior-knowledge --timeout 0s -d @f"),
    (["--protocol", "grpc-web"], "buf curl --protocol grpcweb --http2-prior-knowledge --timeout 0s"),
    (["--protocol", "connect", "--protoset", "s"], "buf curl --schema 's#format=binpb' --timeout 0s"),
    (["--protocol", "connect", "--protoset", "s.binpb"], "buf curl --schema s.binpb --timeout 0s"),
    (
      ["-m", "2", "--proto", "google/rpc/status.proto"],
      "# First run: rpcurl export --proto google/rpc/status.proto -o schema.binpb\n"
        + "buf curl --protocol grpc --schema schema.binpb --http2-prior-knowledge --timeout 2s"
    ),
    (
      ["-H", "x: 1"],
      "buf curl --protocol grpc --http2-prior-knowledge --timeout 0s -H 'x: 1' --reflect-header '*'"
    ),
    (
      ["-H", "x: 1", "--rpc-header", "y: 2"],
      "buf curl --protocol grpc --http2-prior-knowledge --timeout 0s -H 'x: 1' -H 'y: 2' --reflect-header 'x: 1'"
    ),
    (
      ["--reflect-header", "x: a,\"b\""],
      "buf curl --protocol grpc --http2-prior-knowledge --timeout 0s --reflect-header '\"x: a,\"\"b\"\"\"'"
    ),
    (
      ["--reflect-version", "v1"],
      "buf curl --protocol grpc --reflect-protocol grpc-v1 --http2-prior-knowledge --timeout 0s"
    ),
    (
      ["--connect-timeout", "500ms", "--keepalive-time", "9", "--emit-defaults", "-o", "f", "-v"],
      "buf curl --protocol grpc --connect-timeout 0.5 --keepalive-time 9 --emit-defaults --output f --http2-prior-knowledge --timeout 0s --verbose"
    ),
    (
      ["-n", "-A", "me"],
      "buf curl --protocol grpc --netrc --user-agent me --http2-prior-knowledge --timeout 0s"
    ),
    (["--authority", "a"], "buf curl --protocol grpc --http2-prior-knowledge --timeout 0s -H 'host: a'"),
  ])
  func writesCallForBuf(options: [String], command: String) throws {
    #expect(try script(.buf, options) == "\(command) http://h:1/shop.Orders/Place")
  }

  @Test func writesTLSForBuf() throws {
    let options = [
      "--cacert", "/dev/null", "--cert", "/dev/null", "--key", "/dev/null", "--protocol", "connect",
    ]
    #expect(
      try script(.buf, options, target: "https://h/p")
        == "buf curl --cert /dev/null --cacert /dev/null --key /dev/null --timeout 0s https://h/p/shop.Orders/Place"
    )
    #expect(
      try script(.buf, ["-k", "--cacert", "/dev/null", "--protocol", "connect"], target: "h")
        == "buf curl --insecure --timeout 0s https://h/shop.Orders/Place")
  }

  @Test func namesWhatBufLacks() throws {
    let written = try script(.buf, ["--use", "auth,bearer=x", "--codec", "json"])
    #expect(
      written.hasPrefix(
        "# not in buf curl: --use auth,bearer=env:AUTH_BEARER\n# not in buf curl: --codec json\n"))
  }

  // MARK: Secrets

  @Test(arguments: CallProgram.allCases)
  func writesVariablesForSecrets(program: CallProgram) throws {
    let options = [
      "-H", "cookie: geheim1", "--bearer", "geheim2", "--use", "auth,bearer=geheim3", "-x",
      "http://u:geheim4@p",
      "-U", "u:geheim5",
    ]
    let written = try script(program, options)
    #expect(!written.contains("geheim"))
    for name in ["COOKIE", "RPCURL_BEARER", "AUTH_BEARER"] { #expect(written.contains("# Set \(name) in ")) }
    #expect(written.contains("\"cookie: ${COOKIE}") || written.contains("\"\\\"cookie: ${COOKIE}"))
    #expect(!(try script(program, ["-u", "ada:geheim"])).contains("geheim"))
    #expect(try script(program, options + ["--show-secrets"]).contains("geheim1"))
  }

  @Test func namesEachSecretOnce() throws {
    let written = try script(
      .rpcurl, ["-H", "cookie: a", "-H", "cookie: b", "--reflect-header", "cookie: a"])
    #expect(
      written.contains(
        "\"cookie: ${COOKIE}\" --header \"cookie: ${COOKIE_2}\" --reflect-header \"cookie: ${COOKIE}\""))
  }

  /// With a colon, curl would remove the header.
  @Test func writesHeadersWithoutAValueForCurl() throws {
    let written = try script(.curl, ["-H", "x-a:", "-H", "x-b: \t", "-H", "x-c: 1"])
    #expect(written.contains("-H 'x-a;' -H 'x-b;' -H 'x-c: 1'"))
  }

  @Test func writesTemplatesOfHeaders() throws {
    let options = ["--expand", "-H", "x-api-key: a${env.PATH}$b", "-H", "x-n: ${random(3,3)}"]
    for program in [CallProgram.curl, .grpcurl] {
      let written = try script(program, options)
      #expect(written.contains("-H \"x-api-key: a${PATH}\\$b\" -H 'x-n: 3'"), "\(written)")
    }
    #expect(try script(.buf, options).contains("x-api-key: a${PATH}\\$b"))
    #expect(
      try script(.rpcurl, options).contains(
        "--expand --header 'x-api-key: a${env.PATH}$b' --header 'x-n: ${random(3,3)}'"))
  }

  /// The value of a function of the environment is not shown.
  @Test func namesVariablesForValuesThatMayBeSecret() throws {
    let options = ["--expand", "-H", "x-a: ${base64(env.PATH)}"]
    let written = try script(.grpcurl, options)
    #expect(written.contains("# Set X_A in the environment: ${base64(env.PATH)} of the header x-a.\n"))
    #expect(written.contains("-H \"x-a: ${X_A}\""))
  }

  @Test func keepsTheLevelOfExpansion() throws {
    #expect(try script(.rpcurl, ["--expand=files"]).contains("rpcurl --config /dev/null --expand=files http"))
    #expect(try script(.rpcurl, ["--expand=false"]).contains("rpcurl --config /dev/null --expand=false http"))
    #expect(try script(.rpcurl, ["--expand=typed"]).contains("rpcurl --config /dev/null --expand http"))
    #expect(throws: Failure.self) { try script(.curl, ["--expand=files", "-H", "@none"]) }
  }

  // MARK: rpcurl

  @Test(arguments: [
    (["--plaintext"], "h:1", "rpcurl --config /dev/null http://h:1 shop.Orders/Place"),
    (["--plaintext"], "unix:/s", "rpcurl --config /dev/null --plaintext unix:/s shop.Orders/Place"),
    (["--no-reflect"], "h", "rpcurl --config /dev/null --no-reflect https://h shop.Orders/Place"),
    (["--insecure=false"], "h", "rpcurl --config /dev/null --insecure=false https://h shop.Orders/Place"),
    (["-vv"], "h", "rpcurl --config /dev/null --verbose --verbose https://h shop.Orders/Place"),
    (["-max-time", "5"], "h", "rpcurl --config /dev/null --max-time 5 https://h shop.Orders/Place"),
  ])
  func writesCallForShell(options: [String], target: String, command: String) throws {
    #expect(try script(.rpcurl, options, target: target) == command)
  }

  @Test func keepsFormatOfResponses() throws {
    let written = try script(.rpcurl, ["--format", "text", "--format", "sh"])
    #expect(written == "rpcurl --config /dev/null --format text http://h:1 shop.Orders/Place")
  }

  @Test func writesSettingsOfEnvironment() throws {
    let written = try script(
      .rpcurl, [], environment: ["RPCURL_PROTOCOL": "connect", "https_proxy": "http://u:geheim@p"])
    #expect(
      written
        == "# Also in use, from the environment: https_proxy\nrpcurl --config /dev/null --protocol connect http://h:1 shop.Orders/Place"
    )
  }
}

struct ShellTextTests {
  @Test(arguments: [
    ("a", "a"), ("", "''"), ("a b", "'a b'"), ("it's", "'it'\\''s'"), ("$(x)`y`", "'$(x)`y`'"),
    ("a\nb", "'a\nb'"),
    ("\u{1B}[2J", "''\"$(printf '\\033')\"'[2J'"), ("\u{9B}", "''\"$(printf '\\302\\233')\"''"), ("é", "'é'"),
  ])
  func quotesText(text: String, quoted: String) {
    #expect(ShellText(text).quoted == quoted)
  }

  @Test func quotesTextBesideVariable() {
    #expect(
      (ShellText("a\"$`\\\u{1B}") + .variable("B")).quoted == "\"a\\\"\\$\\`\\\\$(printf '\\033')${B}\"")
  }

  @Test func writesFormatForPrintf() {
    #expect(
      ShellText.format(printing: Array("-a%b\\c'd-\u{0}é".utf8)) == "\\055a\\045b\\134c\\047d-\\000\\303\\251"
    )
  }
}
