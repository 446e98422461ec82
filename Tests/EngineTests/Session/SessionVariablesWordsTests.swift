import RPCurlInterceptors
import RPCurlProgram
import RPCurlProtobuf
import Testing

@testable import RPCurlEngine

/// What a server sends is data in the words of commands.
struct SessionVariablesWordsTests {
  /// Expands with one value, `$v`.
  private func expand(
    _ value: String, _ expand: (SessionVariables) throws(Failure) -> String
  ) throws -> String {
    var variables = SessionVariables.known()
    try variables.set("v", to: .string(value))
    return try expand(variables)
  }

  @Test(arguments: [
    ("x-a: ${v}", "b:c", "x-a: b:c"), ("x-a: $v", "b:c", "x-a:b:c"), ("x-a:$v", "b", "x-a:b"),
    ("${v}: x", "x-a", "x-a: x"), ("x-a: $v b", "c", "x-a: $v b"), ("x-a: $100", "", "x-a: $100"),
    ("x-a: $${v}", "b", "x-a: ${v}"), ("x-a: ${base64(v)}", "b", "x-a: Yg=="),
    ("x-a: ${'$v'}", "b", "x-a: $v"), ("x-a: ", "b", "x-a: "),
    // The name ends in what was typed.
    ("$v", "a: b", nil), ("x-${v}", "a: b", nil), ("${'a:'}", "", nil),
  ])
  func insertsValuesIntoHeaders(line: String, value: String, expected: String?) throws {
    var variables = SessionVariables.known()
    try variables.set("v", to: .string(value))
    #expect(try variables.expand(pair: line, separator: ":")?.text == expected)
  }

  @Test func valuesDoNotEndNames() throws {
    var variables = SessionVariables.known()
    try variables.set("v", to: .string("authorization: Bearer a=b"))
    #expect(throws: Failure.self) { try variables.expand(pair: "${v}: x", separator: ":") }
    #expect(throws: Failure.self) { try variables.expand(pair: "a${v}=x", separator: "=") }
  }

  @Test(arguments: [
    ("a=${v}", "b=c", "a=b=c"), ("a=$v", "b", "a=b"), ("a= b", "", "a= b"), ("${v}=x", "a", "a=x"),
    ("a${v}", "b=c", nil), ("$v", "a=b", nil),
  ])
  func insertsValuesIntoAttributes(text: String, value: String, expected: String?) throws {
    var variables = SessionVariables.known()
    try variables.set("v", to: .string(value))
    #expect(try variables.expand(pair: text, separator: "=")?.text == expected)
  }

  @Test(arguments: [
    // Text.
    ("error =~ ^no item .${v}", "a.c", "error =~ ^no item .a\\.c"),
    ("error == $v", "a b", #"error == "a b""#),
    ("header content-type !~ ^application/${v}$", "grpc", "header content-type !~ ^application/grpc$"),
    ("header a!= b/${v}", "c", #"header a != "b/c""#),
    ("trailer a contains x${v}", "y", #"trailer a contains "xy""#),
    ("any .name =~ ^${v}", "a", "any .name =~ ^a"), ("detail T .b !~ ${v}", "a", "detail T .b !~ a"),
    (". golden ${v}.json", "a", ". golden a.json"),
    (". golden ${v}", "a within 1", #". golden "a within 1""#),
    (". golden ${v} unordered", "a b", #". golden "a b" unordered"#),
    (#". golden "${v}.json""#, "a", ". golden a.json"), (#". golden "x y/${v}""#, "a", #". golden "x y/a""#),
    (#". golden "\u0061\"$v$${v}${v}" unordered"#, "b", #". golden "a\"$v$${v}b" unordered"#),
    ("last\t. == {\"a\": ${v}}", "b", ". == {\"a\": \"b\"}"),
    ("error == $$${v}", "a", "error == $$${v}"),
    ("status ${v}", "ok", #"status "ok""#), ("count == ${v}", "3", #"count "3""#),
    ("latency < $v", "2s", #"latency < "2s""#),
    // Text that quotation marks or white space would change.
    ("header a == $v", " b", #"header a == " b""#), ("header a == ${v}", #""b"#, #"header a == "\"b""#),
    ("error == ${v}", "", #"error == """#), ("header a <${v}", "= 5", #"header a < "= 5""#),
    // JSON.
    (".name == ${v}", "a", #".name == "a""#), (#".name == "x ${v}""#, "a", #".name == "x a""#),
    (#"header a == "x ${v}""#, "\"", #"header a == "x \"""#),
    (".a contains [$v]", "b", #".a contains ["b"]"#),
    ("list .a is integer", "", "list .a is integer"),
  ])
  func expandsChecks(check: String, value: String, expected: String) throws {
    let text = try expand(value) { variables throws(Failure) in try variables.condition(check).text }
    #expect(text == expected)
  }

  @Test(arguments: [
    ("status ${v}", "!= ok"), ("status not_found,${v}", "ok,aborted"), ("count ${v}", ">= 0"),
    ("latency < $v", "1s 2s"),
  ])
  func refusesOperatorsThatValuesAdd(check: String, value: String) {
    #expect(throws: Failure.self) {
      try expand(value) { variables throws(Failure) in try variables.condition(check).text }
    }
  }

  @Test(arguments: [
    ("auth,bearer=${v}", "a,set=x:cmd:echo", "auth,bearer=a,,set=x:cmd:echo"),
    ("auth,bearer=${v},x=1", "a,", "auth,bearer=a,,,x=1"),
    ("auth,bearer=${v}", "@/etc/passwd", "auth,bearer='@/etc/passwd'"),
    ("auth,bearer=${v}${v}", "@", "auth,bearer='@@'"), ("auth,bearer=@@${v}", "a/b", "auth,bearer=@@a/b"),
    ("header,set=x-a:${v}", "@a", "header,set='x-a:@a'"), ("auth,bearer=${v}", "'a", "auth,bearer='''a'"),
    ("auth,bearer=${v}", "env:HOME", "auth,bearer='env:HOME'"), ("a,b=${v}", "cmd:x,y", "a,b='cmd:x,y'"),
    ("auth,bearer=${v}nv:HOME", "e", "auth,bearer='env:HOME'"),
    ("auth,bearer=e${v}", "nv:HOME", "auth,bearer='env:HOME'"),
    ("header,set=x-a: ${v}", "cmd:a,b", "header,set='x-a: cmd:a,b'"),
    ("header,add=x-a:${v}", " @a", "header,add='x-a: @a'"),
    ("header,add=x-a:env::${v}", "@a", "header,add=x-a:env::@a"),
    ("header,remove=${v}", "a:@", "header,remove=a:@"),
    ("auth,bearer=@${v}", "a,b", "auth,bearer=@a,,b"),
    ("header,set=a:b,,${v}=c", ",", "header,set=a:b,,,,=c"), ("a,b='x${v}',c=1", "',", "a,b='x'',',c=1"),
    ("a,b=[\"${v}\"],c=1", "\",", "a,b=[\"\\\",\"],c=1"),
    ("assert,check=.a == ${v}", "1 within 100", "assert,check='.a == \"1 within 100\"'"),
    ("assert,check='.a == ${v}',name=${v}", "x, 'y", "assert,check='.a == \"x, ''y\"',name=x,, 'y"),
    ("assert,check=.a == \"${v}\"", "x\" contains \"\"", "assert,check='.a == \"x\\\" contains \\\"\\\"\"'"),
    ("assert,check=.a =~ ^${v}$$${,name=b", ".", "assert,check='.a =~ ^\\.$$${',name=b"),
    ("retry,until=header x-a == ${v}", "b,attempts=9", "retry,until='header x-a == \"b,attempts=9\"'"),
    ("retry,header=x-a == ${v}", "b,attempts=9", "retry,header='x-a == \"b,attempts=9\"'"),
    ("header,chain-header=x-a == ${v},set=a:b", "'", "header,chain-header='x-a == \"''\"',set=a:b"),
    ("retry,attribute=tier != ${v}", "env:HOME", "retry,attribute='tier != \"env:HOME\"'"),
    ("assert,check=.a equals ${v}", "x", "assert,check=.a equals ${v}"),
    ("assert,check='.a == ${v}", "x", "assert,check='.a == ${v}"),
    ("$v", "retry", "retry"), ("./${v}.so,a=b", "x=y", "./x=y.so,a=b"),
  ])
  func addsInterceptorsWithDataOnly(text: String, value: String, expected: String) throws {
    #expect(
      try expand(value) { variables throws(Failure) in try variables.expand(specification: text) } == expected
    )
  }

  @Test(arguments: [
    ("$v", "retry,attempts=3"), ("$v", "?./x.so"), ("auth,${v}", "bearer=x"), ("auth,${v}=x", "bearer"),
    ("auth,bearer=,${v}", "x=y"), ("a,b=env:${v}", "HOME"), ("header,set=a: env:${v}", "HOME"),
  ])
  func refusesSettingsThatValuesAdd(text: String, value: String) {
    #expect(throws: Failure.self) {
      try expand(value) { variables throws(Failure) in try variables.expand(specification: text) }
    }
  }

  @Test(arguments: [
    ("$v", "token", "token"), ("--bearer=${v}", "-token", "--bearer=-token"),
    ("x-a: ${v}", "@a", "x-a: @a"), ("--header=x: ${v}", "@a", "--header=x: @a"),
    ("--bearer=@${v}", "file", "--bearer=@file"), ("${v}", "", ""),
  ])
  func expandsArguments(word: String, value: String, expected: String) throws {
    #expect(
      try expand(value) { variables throws(Failure) in try variables.expand(argument: word) } == expected)
  }

  @Test(arguments: [
    ("$v", "--insecure"), ("$v", "@/etc/passwd"), ("$v", "env:HOME"), ("${v}v:HOME", "en"),
    ("--bearer=${v}", "@/etc/passwd"), ("--bearer=${v}", "env:HOME"), ("--${v}", "insecure"),
    ("-H${v}", "@a"),
    ("$v", "@\u{301}a"), ("$v", "-\u{301}k"),
  ])
  func refusesOptionsAndFilesThatValuesName(word: String, value: String) {
    #expect(throws: Failure.self) {
      try expand(value) { variables throws(Failure) in try variables.expand(argument: word) }
    }
  }

  @Test(arguments: [
    ("$v", "a.json", "a.json"), ("../x/${v}.json", "a b", "../x/a b.json"), ("a..${v}", "..b", "a....b"),
    ("x-${v}", "-y", "x--y"), ("${v}${v}", "a", "aa"), ("./${v}", "-y", "./-y"), ("${v}/b", "a", "a/b"),
  ])
  func valuesArePartsOfNamesOfFiles(word: String, value: String, expected: String) throws {
    #expect(try expand(value) { variables throws(Failure) in try variables.expand(path: word) } == expected)
  }

  @Test(arguments: [
    ("$v", "../package"), ("$v", "/etc/passwd"), ("a/${v}/b", ".."), ("${v}", ""), ("a/${v}", "."),
    (".${v}/b", "."), ("$v", "-"), ("$v", "a\nb"), ("${v}.json", "a/b"), ("x${v}", "\u{0}"),
    ("$v", "/\u{301}etc"),
  ])
  func refusesOtherDirectoriesThatValuesName(word: String, value: String) {
    #expect(throws: Failure.self) {
      try expand(value) { variables throws(Failure) in try variables.expand(path: word) }
    }
    #expect(throws: Failure.self) {
      try expand(value) { variables throws(Failure) in try variables.condition(". golden \(word)").text }
    }
    // Only with braces is it a reference within quotes.
    let quoted = "\"\(word.replacing("$v", with: "${v}"))\""
    for check in [". golden \(quoted)", "any .a golden \(quoted) unordered"] {
      #expect(throws: Failure.self) {
        try expand(value) { variables throws(Failure) in try variables.condition(check).text }
      }
    }
  }

  /// Each built-in setting that names a file or a command, with the value after its key.
  private static let settings = BuiltIns.all.flatMap { interceptor in
    interceptor.keys.filter(\.namesFile).map { "\(interceptor.name),\($0.name)=" }
  }

  @Test func settingsWithFilesAreRecognized() {
    #expect(
      Self.settings.sorted() == [
        "assert,junit=", "log,file=", "metrics,file=", "mock,file=", "record,file=", "replay,file=",
        "retry,policy=", "shadow,file=", "trace,file=",
      ])
  }

  @Test(arguments: ["../evil", "/etc/passwd", "..", "-x", "a\nb", ""])
  func refusesOtherDirectoriesInSettings(value: String) throws {
    for setting in Self.settings + [
      "auth,bearer=@", "header,set=x-a:@", "header,add=x-a: @", "log,format=har,file=",
    ] {
      #expect(throws: Failure.self, "\(setting)") {
        try expand(value) { variables throws(Failure) in
          try variables.expand(specification: "\(setting)${v},methods=*")
        }
      }
    }
  }

  @Test func acceptsPartsOfNamesOfFilesInSettings() throws {
    for setting in Self.settings + ["auth,bearer=@", "header,set=x-a:@"] {
      let text = try expand("a,b") { variables throws(Failure) in
        try variables.expand(specification: "\(setting)out/${v}.x")
      }
      #expect(text == "\(setting)out/a,,b.x")
    }
  }

  @Test(arguments: [
    "auth,bearer=cmd:${v}", "auth,bearer=cmd:echo ${v}", "auth, bearer=cmd:echo ${v}",
    "header,set=x-a:cmd:${v}",
    "header,set=x-a:cmd:echo ${v}", "header,set=x-a: cmd:${v}", "a,b=cmd:${v}",
    "header,methods=*,set=x-a:cmd:${v},set=a:b",
  ])
  func refusesCommandsThatValuesName(text: String) {
    for value in ["x", "x-a:touch evil"] {
      #expect(throws: Failure.self) {
        try expand(value) { variables throws(Failure) in try variables.expand(specification: text) }
      }
    }
  }

  /// The words of `options`, whose references are replaced by `value`.
  private func checkOptions(_ line: String, _ value: String) throws {
    var variables = SessionVariables.known()
    try variables.set("v", to: .string(value))
    let words = try line.split(separator: " ").map { try variables.expanded(argument: String($0)) }
    let invocation = Parser.parse(words.map(\.text), as: .session)
    #expect(invocation.errors.isEmpty)
    for argument in invocation.arguments { try argument.checkFile(in: words) }
  }

  @Test(arguments: [
    "--bearer @${v}", "--bearer=@${v}", "-H @${v}", "-H@x=${v}", "-kH @${v}", "--rpc-header @${v}",
    "--reflect-header @${v}", "--cacert ${v}", "--capath ${v}", "--cert ${v}", "--cert=${v}", "-E ${v}",
    "-E=${v}",
    "--key ${v}", "--pass @${v}", "--netrc-file ${v}", "--unix-socket ${v}", "--descriptor-set ${v}",
    "--proto ${v}", "-I ${v}",
  ])
  func refusesOtherDirectoriesInOptions(line: String) throws {
    try checkOptions(line, "name")
    for value in ["../evil", "/etc/passwd", "a/b", "\u{301}/x"] {
      #expect(throws: Failure.self, "\(line)") { try checkOptions(line, value) }
    }
  }

  @Test func valuesThatNameNoFileMayContainSlashes() throws {
    for line in ["--bearer ${v}", "-H x:${v}", "--user-agent ${v}", "--servername ${v}"] {
      try checkOptions(line, "a/../b")
    }
  }

  @Test func refusesSocketsThatValuesName() throws {
    let target = { (text: String, value: String) in
      try expand(value) { variables throws(Failure) in try variables.expand(target: text) }
    }
    #expect(try target("unix:/run/${v}.sock", "a") == "unix:/run/a.sock")
    #expect(try target("$v", "https://a/b") == "https://a/b")
    for (text, value) in [("$v", "unix:/run/x"), ("unix:${v}", "/run/x"), ("unix:a/${v}", "..")] {
      #expect(throws: Failure.self) { try target(text, value) }
    }
  }

  @Test func refusesTargetsOfServers() throws {
    var variables = SessionVariables.known { _ in "host" }
    variables.last = try KnownCall([#"{"id": "evil"}"#])
    try variables.set(
      "taken", to: .string("evil"), isFromServer: variables.expand(json: "$last.id").isFromServer)
    try variables.set("typed", to: .string("host"))
    #expect(try variables.expand(target: "${typed}:${env.PORT}") == "host:host")
    for target in ["$last.id", "http://${last.id}", "$taken", "${base64(taken)}", "a${last.header.x-id}"] {
      #expect(throws: Failure.self) { try variables.expand(target: target) }
    }
  }

  @Test func valuesAreNotExpandedAgain() throws {
    #expect(
      try expand("${env.A}") { variables throws(Failure) in
        try variables.expand(specification: "header,set=a:${v}")
      } == "header,set=a:${env.A}")
    #expect(throws: Failure.self) {
      try expand("${env.A}") { variables throws(Failure) in
        try variables.expand(specification: "header,set=a:${v},expand=true")
      }
    }
  }

  @Test func refusesPathsOfPluginsThatValuesName() {
    #expect(throws: Failure.self) {
      try expand("./x.so") { variables throws(Failure) in try variables.expand(specification: "${v},a=b") }
    }
  }
}
