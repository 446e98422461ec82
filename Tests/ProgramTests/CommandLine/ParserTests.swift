import Testing

@testable import RPCurlProgram

/// A command line as a shell splits it: at spaces, outside of single quotes.
private func words(_ line: String) -> [String] {
  var words: [String] = []
  var word = ""
  var isQuoted = false
  var isWord = false
  for character in line {
    switch character {
    case "'":
      isQuoted.toggle()
      isWord = true
    case " " where !isQuoted:
      if isWord { words.append(word) }
      (word, isWord) = ("", false)
    default:
      word.append(character)
      isWord = true
    }
  }
  return isWord ? words + [word] : words
}

private func parse(_ line: String) -> Invocation { Parser.parse(words(line)) }

struct ParserTests {
  @Test func readsHelpOfTheLanguage() {
    #expect(Parser.parse(["help", "language"]).request == .languageHelp)
    #expect(Help.language.split(separator: "\n").allSatisfy { $0.count <= 80 })
  }

  @Test(arguments: [
    "--data {} --verbose --plaintext h M", "--data={} -v --plaintext h M", "-d {} -v --plaintext h M",
    "-d{} -v --plaintext h M", "-d={} -v --plaintext h M", "-vd {} --plaintext h M", "-vd{} --plaintext h M",
    "h M --plaintext -v -d {}", "call h -d {} M -v --plaintext", "-plaintext -v -d {} h M",
    "--plaintext=true -v=true -d {} h M", "--plaintext -vd {} -- h M", "--data-raw {} -i --plaintext h M",
  ])
  func readsEveryFormOfAnOption(line: String) {
    let invocation = parse(line)
    #expect(invocation.errors == [])
    #expect(invocation.command == .call)
    #expect(invocation.text(.data) == "{}")
    #expect(invocation.count(.verbose) == 1)
    #expect(invocation.has(.plaintext))
    #expect(invocation.positionals.map(\.text) == ["h", "M"])
  }

  @Test(arguments: [
    "-k h M", "-k=false h M", "--no-reflect h M", "--no-reflect=false h M", "--no-cache=false -d {} -v h M",
  ])
  func argumentsHaveTheSameWords(line: String) {
    let invocation = parse(line)
    let again = Parser.parse(["call"] + invocation.arguments.flatMap(\.words) + ["h", "M"])
    #expect(again.errors == [] && again.arguments.map(\.value) == invocation.arguments.map(\.value))
  }

  @Test(arguments: [([0x4A, 0xFC], 2), ([0xC3], 1), ([0x61, 0x62, 0xE2, 0x82], 3)] as [([UInt8], Int)])
  func rejectsArgumentsThatAreNotUTF8(bytes: [UInt8], byte: Int) {
    let arguments = ["--nope".utf8.map { $0 }, bytes, Array("é".utf8)].map { bytes in
      (bytes + [0]).map(CChar.init(bitPattern:))
    }
    let invocation = arguments[0].withUnsafeBufferPointer { first in
      arguments[1].withUnsafeBufferPointer { second in
        arguments[2].withUnsafeBufferPointer { third in
          Parser.parse(cStrings: [first, second, third].compactMap(\.baseAddress))
        }
      }
    }
    #expect(invocation.errors.first?.what == "argument 2")
    #expect(invocation.errors.first?.why == "not UTF-8 (byte \(byte))")
    #expect(invocation.errors.dropFirst().first?.what == "--nope")
    #expect(invocation.positionals.last?.text == "é")
  }

  @Test func keepsPositions() {
    let invocation = parse("--use log --plugin a.so h --script=./s.py M")
    #expect(invocation.arguments.map(\.id) == [.use, .plugin, .script])
    #expect(
      invocation.arguments.map(\.origin) == [.typed(index: 0), .typed(index: 2), .typed(index: 5)])
    #expect(invocation.positionals.map(\.origin) == [.typed(index: 4), .typed(index: 6)])
  }

  @Test(arguments: [
    ("-d - h M", "-"), ("-d @ h M", "@-"), ("-d @- h M", "@-"), ("-d -1 h M", "-1"), ("-d '' h M", ""),
    ("--data= h M", ""), ("-d -x h M", "-x"),
  ])
  func readsValues(line: String, data: String) {
    let invocation = parse(line)
    #expect(invocation.errors == [])
    #expect(invocation.text(.data) == data)
  }

  @Test(arguments: [
    ("-H=x:1", OptionID.header, "=x:1"), ("-o=f", .output, "=f"), ("-I=d", .importPath, "=d"),
    ("-u=a:b", .user, "=a:b"),
    ("-vH=x:1", .header, "=x:1"), ("-Hx:1", .header, "x:1"), ("-d={}", .data, "{}"), ("-d=", .data, ""),
  ])
  func whatFollowsALetterIsItsValue(word: String, id: OptionID, text: String) {
    let invocation = parse("\(word) h M")
    #expect(invocation.errors == [])
    #expect(invocation.last(id)?.text == text)
  }

  @Test func readsADashAndWhatFollowsTwoAsArguments() {
    #expect(parse("h -").positionals.map(\.text) == ["h", "-"])
    #expect(parse("-- -h --plaintext").positionals.map(\.text) == ["-h", "--plaintext"])
    #expect(parse("convert --type a --from json --to text -").positionals.map(\.text) == ["-"])
  }

  @Test func theLastValueHolds() {
    let invocation = parse("--max-time 1 -m 500ms --reflect --no-reflect --http2 --http1.1 h M")
    #expect(invocation.duration(.maxTime) == .milliseconds(500))
    #expect(invocation.flag(.reflect) == false)
    #expect(invocation.last(of: [.http1, .http2])?.id == .http1)
    #expect(invocation.flag(.plaintext) == nil)
  }

  @Test(
    arguments: [
      ("-plaintext", OptionID.plaintext, nil), ("-insecure", .insecure, nil), ("-max-time 5", .maxTime, "5"),
      ("-max-time=5", .maxTime, "5"), ("-rpc-header a:b", .rpcHeader, "a:b"),
      ("-import-path D", .importPath, "D"),
      ("-proto F", .proto, "F"), ("-protoset F", .descriptorSet, "F"), ("-cacert F", .cacert, "F"),
      ("-cert F", .cert, "F"), ("-key F", .key, "F"), ("-authority a", .authority, "a"),
      ("-servername a", .servername, "a"), ("-user-agent a", .userAgent, "a"),
      ("-emit-defaults", .emitDefaults, nil), ("-keep-proto-names", .protoNames, nil),
      ("-allow-unknown-fields", .allowUnknownFields, nil), ("-connect-timeout 5", .connectTimeout, "5"),
      ("-keepalive-time 5", .keepaliveTime, "5"), ("-max-msg-sz 100", .maxMessageSize, "100"),
      ("-use-reflection", .reflect, nil),
      ("-reflect-header a:b", .reflectHeader, "a:b"), ("-v", .verbose, nil), ("-H a:b", .header, "a:b"),
      ("-format json", .format, "json"), ("-plaintext=true", .plaintext, nil),
    ] as [(String, OptionID, String?)])
  func takesOptionsOfGrpcurl(line: String, id: OptionID, text: String?) {
    let invocation = parse("\(line) h M")
    #expect(invocation.errors == [])
    #expect(invocation.last(id)?.text == text)
    #expect(invocation.last(id) != nil)
    #expect(invocation.positionals.map(\.text) == ["h", "M"])
  }

  @Test(arguments: [
    ("--expand", "typed"), ("--expand=true", "typed"), ("--expand=typed", "typed"),
    ("--expand=files", "files"),
    ("--expand=all", "all"), ("--expand --expand=all", "all"), ("--expand=all --expand=false", nil),
  ])
  func readsFlagWithLevels(line: String, level: String?) {
    let invocation = parse("\(line) h M")
    #expect(invocation.errors == [])
    #expect(invocation.text(.expand) == level)
    #expect(invocation.positionals.map(\.text) == ["h", "M"])
    let words = invocation.arguments.flatMap(\.words)
    #expect(Parser.parse(["call"] + words).text(.expand) == level)
  }

  @Test(arguments: [
    ("--expand=al", "not one of typed, files, all", "write --expand[=files|all]"),
    (
      "--expand-headers", "unknown option",
      "use --expand, and write ${env.NAME} for a variable of the environment"
    ),
    (
      "--expand-data", "unknown option",
      "use --expand, and write ${env.NAME} for a variable of the environment"
    ),
    (
      "-expand-headers", "unknown option",
      "use --expand, and write ${env.NAME} for a variable of the environment"
    ),
  ])
  func rejectsOtherExpansion(line: String, why: String, hint: String) {
    let error = parse("\(line) h M").errors.first
    #expect(error?.why == why)
    #expect(error?.hint == hint)
  }

  @Test func formatOfGrpcurlIsForDataAndResponses() {
    let invocation = parse("-format text h M")
    #expect(invocation.text(.format) == "text")
    #expect(invocation.text(.dataFormat) == "text")
    #expect(parse("-use-reflection=false h M").flag(.reflect) == false)
  }

  @Test(
    arguments: [
      ("-m 5", OptionID.maxTime, "5"), ("-x http://p", .proxy, "http://p"), ("-K f", .config, "f"),
      ("-i", .verbose, nil),
      ("-4", .ipv4, nil), ("-6", .ipv6, nil), ("--connect-to a:1:b:2", .connectTo, "a:1:b:2"),
      ("--oauth2-bearer t", .bearer, "t"), ("--timeout 5", .maxTime, "5"),
      ("--max-msg-sz 5", .maxMessageSize, "5"),
      ("--use-reflection", .reflect, nil), ("--cert-type P12", .certType, "P12"),
      ("--proxy-user a:b", .proxyUser, "a:b"), ("--abstract-unix-socket n", .abstractUnixSocket, "n"),
      ("--json {}", .data, "{}"),
    ] as [(String, OptionID, String?)])
  func takesAliases(line: String, id: OptionID, text: String?) {
    let invocation = parse("\(line) h M")
    #expect(invocation.errors == [])
    #expect(invocation.last(id)?.text == text)
    #expect(invocation.last(id) != nil)
  }

  @Test func takesSpellingsOfValues() {
    #expect(parse("--protocol grpcweb h M").text(.protocolName) == "grpc-web")
    #expect(parse("list --reflect-protocol grpc-v1 h").text(.reflectVersion) == "v1")
    #expect(parse("--accept-compression zstd,gzip h M").list(.acceptCompression) == ["zstd", "gzip"])
  }

  @Test(
    arguments: [
      ("--no-such-option h M", "--no-such-option", "unknown option", nil),
      ("--protocl grpc h M", "--protocl", "unknown option", "did you mean --protocol?"),
      ("--plain h M", "--plain", "unknown option", "did you mean --plaintext?"),
      ("--retry 3 h M", "--retry", "unknown option", "use --use retry,attempts=N"),
      ("--trace h M", "--trace", "unknown option", "use -vv"),
      ("--list-services h", "--list-services", "unknown option", "use \"rpcurl list\""),
      ("-msg-template h M", "-msg-template", "unknown option", "use \"rpcurl template TARGET METHOD|TYPE\""),
      ("-format-error h M", "-format-error", "unknown option", "use --error-format json"),
      (
        "-X POST h M", "-X", "unknown option",
        "omit it: the protocol determines the method; --connect-get uses GET"
      ),
      ("-Z h M", "-Z", "unknown option", "use --each --jobs NUMBER"),
      ("-q h M", "-q", "unknown option", "use -s, or --format none for no output"),
      ("-sq h M", "-q in -sq", "unknown option", "use -s, or --format none for no output"),
      ("-chain h M", "-chain", "unknown option", nil),
      ("-filter a h M", "-filter", "unknown option", "did you mean --filter?"),
      ("-timng h M", "-timng", "unknown option", "did you mean --timing?"),
      ("h M --data", "--data", "missing value", nil), ("h M -d", "-d", "missing value", nil),
      ("-d --plaintext h M", "-d", "missing value", nil), ("h M -m -- ", "-m", "missing value", nil),
      (
        "--max-time soon h M", "--max-time soon", "not a valid duration",
        "write seconds, or a unit: 1.5, 500ms, 2m"
      ),
      ("-m0 h M", "-m 0", "a duration is above 0", "omit -m for no limit"),
      ("-m 2500000h h M", "-m 2500000h", "too long: a duration is below 2500000h", "omit -m for no limit"),
      (
        "--connect-timeout 0 h M", "--connect-timeout 0", "a duration is above 0",
        "omit --connect-timeout for its default"
      ),
      ("health --wait 0 h", "--wait 0", "a duration is above 0", "omit --wait"),
      ("-m=5 h M", "-m =5", "not a valid duration", "write seconds, or a unit: 1.5, 500ms, 2m"),
      (
        "--max-message-size x h M", "--max-message-size x", "not a valid number of bytes",
        "write a number, or a unit: 65536, 512k, 64m"
      ),
      (
        "--max-message-size 0k h M", "--max-message-size 0k", "a number of bytes is above 0",
        "omit --max-message-size for its default"
      ),
      ("-maxtime 5 h M", "-maxtime", "unknown option", "did you mean --max-time?"),
      ("-max_time 5 h M", "-max_time", "unknown option", "did you mean --max-time?"),
      ("-data {} h M", "-data", "unknown option", "did you mean --data?"),
      ("-output f h M", "-output", "unknown option", "did you mean --output?"),
      ("-use log h M", "-use", "unknown option", "did you mean --use?"),
      ("--PLAINTEXT h M", "--PLAINTEXT", "unknown option", "did you mean --plaintext?"),
      ("--max_time 5 h M", "--max_time", "unknown option", "did you mean --max-time?"),
      ("--protocol GRPC h M", "--protocol GRPC", "not one of grpc, grpc-web, connect", "did you mean grpc?"),
      (
        "--format jsn h M", "--format jsn",
        "not one of pretty, json, text, binary, tsv, csv, events, none, sh, curl, grpcurl, buf",
        "did you mean json?"
      ),
      (
        "–plaintext h M", "–plaintext", "unknown option",
        "it begins with U+2013, which is not a hyphen: write --plaintext"
      ),
      (
        "—d {} h M", "—d", "unknown option", "it begins with U+2014, which is not a hyphen: write -d"
      ),
      ("h M ' '", "' '", "unexpected argument", "to continue a line, let \\ be its last character"),
      ("h M \\", "\\", "unexpected argument", "to continue a line, let \\ be its last character"),
      ("h M {}", "{}", "unexpected argument", "write -d before the message: -d '{}'"),
      ("h a.b.C D", "D", "unexpected argument", "did you mean a.b.C/D?"),
      (
        "grpcurl -plaintext h M", "M", "unexpected argument",
        "omit grpcurl: the arguments begin after the program's name"
      ),
      (
        "buf curl http://h/M", "http://h/M", "unexpected argument",
        "omit buf: the arguments begin after the program's name"
      ),
      ("$ rpcurl h M", "h M", "unexpected arguments", "omit $: the arguments begin after the program's name"),
      ("--each --jobs x h M", "--jobs x", "not a valid number", nil),
      ("--protocol soap h M", "--protocol soap", "not one of grpc, grpc-web, connect", nil),
      ("--plaintext=yes h M", "--plaintext", "expected true or false", nil),
      ("h M more", "more", "unexpected argument", nil), ("h M a b", "a b", "unexpected arguments", nil),
      ("", "missing argument", "TARGET", nil), ("--plaintext", "missing argument", "TARGET", nil),
      ("convert", "missing option", "--type", nil), ("convert --nope", "--nope", "unknown option", nil),
      ("convert --tipe=a", "--tipe", "unknown option", "did you mean --type?"),
      (
        "h attempts=3 M", "M", "unexpected argument",
        "attempts=3 is not a target: a setting follows the interceptor's name and a comma, as in --use retry,attempts=3"
      ),
      ("h --pretty M", "--pretty", "call has no such option, but convert has", "use --format pretty"),
      ("h --jq .a M", "--jq", "unknown option", "use --filter PATH"),
      ("--set-file a f h M", "--set-file a", "not of the form PATH=FILE", nil),
      ("load --concurrency 2 h M", "--concurrency", "unknown option", "use --jobs NUMBER"),
      ("load -c 2 h M", "-c", "unknown option", "use --jobs NUMBER"),
      ("load -c2 h M", "-c2", "unknown option", "use --jobs NUMBER"),
      ("load -z 5s h M", "-z", "unknown option", "use --duration DURATION"),
      ("load --rps 5 h M", "--rps", "unknown option", "use --rate CALLS"),
      ("load -n10 h M", "-1 in -n10", "unknown option", "use --requests NUMBER"),
      (
        "load -n 10 h/M", "10", "unexpected argument",
        "use --requests NUMBER: -n is --netrc, and has no value"
      ),
      (
        "load h M -n 10", "10", "unexpected argument",
        "use --requests NUMBER: -n is --netrc, and has no value"
      ),
      ("list -d x h", "-d", "list has no such option, but call or load has", nil),
      ("list --jobs 2 h", "--jobs", "list has no such option, but call or load has", nil),
      ("plugins check", "missing argument", "NAME|PATH[,KEY=VALUE…]|COMMAND", nil),
      ("plugins chek", "plugins chek", "no such command", "did you mean check?"),
      ("describ h:1 S", "describ", "no such command", "did you mean describe?"),
      ("desc h:1 S x", "desc", "no such command", "did you mean describe?"),
      ("cli call M", "M", "unexpected argument", "omit cli: the arguments begin after the program's name"),
      ("ls h:1 S x", "ls", "no such command", "did you mean list?"),
      ("help descrbe", "help descrbe", "no such command", "did you mean describe?"),
      ("help plugins chek", "help chek", "no such command", "did you mean check?"),
      (
        "help nope", "help nope", "no such command", "there are \(CommandTable.names.joined(separator: ", "))"
      ),
    ] as [(String, String, String, String?)])
  func reportsErrors(line: String, what: String, why: String, hint: String?) {
    let error = parse(line).errors.first
    #expect(error?.what == what)
    #expect(error?.why == why)
    #expect(error?.hint == hint)
  }

  @Test func goesOnAfterAnError() {
    let invocation = parse("--nope --error-format json -sS h M")
    #expect(invocation.errors.count == 1)
    #expect(invocation.text(.errorFormat) == "json")
    #expect(invocation.has(.silent) && invocation.has(.showError))
  }

  @Test(arguments: [
    ("list h", CommandID.list, ["h"]), ("-plaintext list h S", .list, ["h", "S"]),
    ("-plaintext h list", .list, ["h"]), ("-plaintext h list S", .list, ["h", "S"]),
    ("-plaintext h describe S", .describe, ["h", "S"]), ("--plaintext template h M", .template, ["h", "M"]),
    ("-v call h M", .call, ["h", "M"]), ("call h list", .call, ["h", "list"]), ("-- list", .list, []),
    ("h call M", .call, ["h", "M"]), ("h template M", .template, ["h", "M"]),
    ("h template", .call, ["h", "template"]),
    ("--plaintext list --format json h", .list, ["h"]), ("-k load --requests 3 h M", .load, ["h", "M"]),
    ("-plaintext h describe S --format json", .describe, ["h", "S"]),
    ("-k health --wait 3s h", .health, ["h"]),
    ("plugins", .pluginsList, []), ("plugins list", .pluginsList, []),
    ("plugins check p", .pluginsCheck, ["p"]), ("--format json plugins", .pluginsList, []),
    ("--format json plugins list", .pluginsList, []), ("-s plugins new --lang c n", .pluginsNew, ["n"]),
    ("plugins --format json", .pluginsList, []), ("plugins new -s n", .pluginsNew, ["n"]),
    ("session", .session, []), ("run f", .run, ["f"]), ("version", .version, []),
  ])
  func findsTheCommand(line: String, command: CommandID, positionals: [String]) {
    let invocation = parse(line)
    #expect(invocation.errors == [])
    #expect(invocation.command == command)
    #expect(invocation.positionals.map(\.text) == positionals)
  }

  @Test(arguments: [
    ("-k plugins list", "-k", "plugins list has no such option, but call or session has"),
    ("-s plugins lst", "lst", "unexpected argument"),
  ])
  func refusesArgumentsThatFoundPluginsCommandLacks(line: String, what: String, why: String) {
    let error = parse(line).errors.first
    #expect(error?.what == what)
    #expect(error?.why == why)
  }

  @Test func refusesOptionsThatTheFoundCommandLacks() {
    let error = parse("-plaintext -d {} h list").errors.first
    #expect(error?.what == "-d")
    #expect(error?.why == "list has no such option, but call or load has")
  }

  @Test(arguments: [
    ("-h", Invocation.Request.help(nil, isWhole: false)), ("--help", .help(nil, isWhole: true)),
    ("help", .help(nil, isWhole: true)), ("help call", .help(.call, isWhole: true)),
    ("call -h", .help(.call, isWhole: false)), ("call --nope --help", .help(.call, isWhole: true)),
    ("h M -vh", .help(.call, isWhole: false)), ("-k list --help", .help(.list, isWhole: true)),
    ("-help", .help(nil, isWhole: true)),
    ("--plaintext help", .help(nil, isWhole: true)),
    ("--plaintext help call", .help(.call, isWhole: true)), ("-m 5 help list", .help(.list, isWhole: true)),
    ("help plugins", .pluginsHelp(isWhole: true)), ("plugins -h", .pluginsHelp(isWhole: false)),
    ("help plugins new", .help(.pluginsNew, isWhole: true)), ("--version", .version), ("-V", .version),
    ("list -V", .version), ("complete use x", .complete(["use", "x"])), ("--dump-options", .dump),
  ])
  func findsRequests(line: String, request: Invocation.Request) {
    #expect(parse(line).request == request)
  }

  @Test(arguments: ["-chain h M", "-d --help", "-- --help", "-A -h h M", "-dh h M"])
  func showsHelpOnlyIfAskedFor(line: String) {
    let request = parse(line).request
    #expect(request == nil || line == "-d --help")
  }

  @Test func combiningScalarsAreOfTheValue() {
    let accent = "\u{301}"
    #expect(Parser.parse(["-d\(accent)x", "h"]).text(.data) == "\(accent)x")
    #expect(Parser.parse(["--data=\(accent)x", "h"]).text(.data) == "\(accent)x")
    #expect(Parser.parse(["--\(accent)x", "h"]).errors.first?.why == "unknown option")
    #expect(Parser.parse(["-\(accent)", "h"]).errors.first?.why == "unknown option")
    #expect(OptionPart.parts(of: "-u\(accent)x").first?.value == "\(accent)x")
  }

  @Test func readsEmptyAndOddArguments() {
    #expect(Parser.parse(["", "-"]).positionals.map(\.text) == ["", "-"])
    #expect(Parser.parse(["-é"]).errors.first?.what == "-é")
    #expect(Parser.parse(["--=x"]).errors.first?.what == "--")
    #expect(Parser.parse(["-="]).errors.first?.what == "-")
    #expect(Parser.parse(["-🇩🇪x"]).errors.first?.why == "unknown option")
  }
}
