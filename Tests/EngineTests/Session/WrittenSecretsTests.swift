import RPCurlLanguage
import Testing

@testable import RPCurlEngine

struct WrittenSecretsTests {
  @Test(arguments: [
    ("header authorization: Bearer x", "header authorization: ${env.AUTHORIZATION}"),
    (":header  X-Api-Key: 1", ":header  X-Api-Key: ${env.X_API_KEY}"),
    ("header authorization: ${TOKEN}", "header authorization: ${TOKEN}"),
    ("header x-trace: 1", "header x-trace: 1"),
    ("attribute api_token=x y", "attribute api_token=${env.API_TOKEN}"),
    (":attribute  Session=a=b", ":attribute  Session=${env.SESSION}"),
    ("attribute token=", "attribute token="),
    ("attribute token=${TOKEN}", "attribute token=${TOKEN}"), ("attribute tier=gold", "attribute tier=gold"),
    ("attribute", "attribute"), ("options --attribute token=x", "options --attribute \"token=${env.TOKEN}\""),
    ("options --attribute tier=gold", "options --attribute tier=gold"),
    ("use auth,bearer=abc,hosts=a", "use auth,bearer=env:AUTH_BEARER,hosts=a"),
    ("use auth,bearer=@file", "use auth,bearer=@file"), ("use retry,attempts=3", "use retry,attempts=3"),
    ("use header,set=authorization:x", "use header,set=env:HEADER_SET"),
    ("use header,set=x-tenant:a,,b", "use header,set=x-tenant:a,,b"),
    ("plugin load ./sign.so,secret=x", "plugin load ./sign.so,secret=env:SIGN_SECRET"),
    ("options -u me:x -k", "options -u \"${env.RPCURL_USER}\" -k"),
    ("options --bearer=x", "options --bearer \"${env.RPCURL_BEARER}\""),
    ("options --bearer @file", "options --bearer @file"),
    ("options -H 'cookie: a=b'", "options -H \"cookie: ${env.COOKIE}\""),
    ("options --proxy http://p", "options --proxy http://p"),
    ("options --proxy http://u:p@p", "options --proxy \"${env.RPCURL_PROXY}\""),
    ("options -kvu me:x", "options -kv -u \"${env.RPCURL_USER}\""),
    ("options -ume:x", "options -u \"${env.RPCURL_USER}\""),
    ("options -vHcookie:a", "options -v -H \"cookie: ${env.COOKIE}\""),
    ("options -H 'x: ${A}' -u me:x", "options -H 'x: ${A}' -u \"${env.RPCURL_USER}\""),
    ("options -H \"x: ${A}\" -u \"me:${B}\" -k", "options -H \"x: ${A}\" -u \"me:${B}\" -k"),
    ("options -u 'me:${B}'", "options -u \"${env.RPCURL_USER}\""),
    ("options -A $agent -E '$file'", "options -A \"$agent\" -E '$file'"),
    ("options --pass x", "options --pass \"${env.RPCURL_PASS}\""),
    ("options --pass env:X --key k", "options --pass env:X --key k"),
    ("target http://me:x@host", "target ${env.RPCURL_TARGET}"),
    ("target me:x@host:1", "target ${env.RPCURL_TARGET}"),
    ("target http://host/a@b", "target http://host/a@b"), ("target unix:@a", "target unix:@a"),
    ("set password = \"x\"", "set password = ${env.PASSWORD}"), ("set id = 1", "set id = 1"),
    ("set token = $last.token", "set token = $last.token"),
    ("target http://host/?key=x", "target ${env.RPCURL_TARGET}"),
    ("plugin load sign.so,key=x", "plugin load sign.so,key=env:SIGN_KEY"),
    (
      "plugin load sign.so,signingKey=x,db_password=y,pages=2",
      "plugin load sign.so,signingKey=env:SIGN_SIGNINGKEY,db_password=env:SIGN_DB_PASSWORD,pages=2"
    ),
    ("plugin load sign.so,keys=x,level=1", "plugin load sign.so,keys=x,level=1"),
    (
      "expect header authorization == Bearer x",
      "expect header authorization == ${env.EXPECTED_AUTHORIZATION}"
    ),
    (":expect  trailer X-Api-Key!=1", ":expect  trailer X-Api-Key!=${env.EXPECTED_X_API_KEY}"),
    ("expect header set-cookie contains a=b", "expect header set-cookie contains ${env.EXPECTED_SET_COOKIE}"),
    (
      "expect stream Chat[1] header set-cookie contains a=b",
      "expect stream Chat[1] header set-cookie contains ${env.EXPECTED_SET_COOKIE}"
    ),
    ("expect header set-cookie exists", "expect header set-cookie exists"),
    ("expect header authorization == $token", "expect header authorization == $token"),
    ("expect header x-trace == 1", "expect header x-trace == 1"),
    ("expect .token == \"x\"", "expect .token == \"x\""),
    // Lines that are not commands.
    ("atribute token=x", "atribute token=${env.TOKEN}"),
    ("attribute token x", "attribute token ${env.TOKEN}"),
    ("HEADER x-token: x", "HEADER x-token: ${env.X_TOKEN}"),
    ("headr authorization: Bearer x", "headr authorization: ${env.AUTHORIZATION}"),
    ("header authorization x", "header authorization ${env.AUTHORIZATION}"),
    ("header authorization=x", "header authorization=${env.AUTHORIZATION}"),
    ("authorization: x", "authorization: ${env.AUTHORIZATION}"),
    ("sett token = x", "sett token = ${env.TOKEN}"),
    ("plugin sign.so,key=x", "plugin sign.so,key=env:SIGN_KEY"),
    ("plugn load sign.so,key=x y", "plugn load sign.so,key=env:SIGN_KEY"),
    ("usr auth,bearer=x", "usr auth,bearer=env:AUTH_BEARER"),
    ("option -k -u me:x", "option -k ${env.RPCURL_OPTIONS}"), ("-kvu me:x", "${env.RPCURL_OPTIONS}"),
    ("options -u \"me:x", "options ${env.RPCURL_OPTIONS}"),
    ("Token {\"a\":\"x\"}", "Token {\"a\":\"x\"}"), ("Hello {\"token\":\"x\"}", "Hello {\"token\":\"x\"}"),
    ("headr x-trace: 1", "headr x-trace: 1"),
    ("header authorization", "header authorization"), ("headr", "headr"),
    ("call Hello {\"name\":\"Ada\"}", "call Hello {\"name\":\"Ada\"}"),
    // Options of other commands, which are not in JSON.
    ("call Hello {\"a\":1} -H \"authorization: x\"", "call Hello {\"a\":1} ${env.RPCURL_OPTIONS}"),
    ("Hello {}--bearer x", "Hello {}${env.RPCURL_OPTIONS}"),
    ("call Hello {\"a\":\"b} --bearer x", "call Hello {\"a\":\"b} ${env.RPCURL_OPTIONS}"),
    ("call A {} --bearer x | curl -ume:x", "call A {} ${env.RPCURL_OPTIONS} | curl ${env.RPCURL_OPTIONS}"),
    ("open Chat --bearer x", "open Chat ${env.RPCURL_OPTIONS}"),
    ("{\"text\":\"-u me\"} -u me:x", "{\"text\":\"-u me\"} ${env.RPCURL_OPTIONS}"),
    ("list \"--bearer=x\"", "list \"${env.RPCURL_OPTIONS}"),
    ("describe A -H 'x-api-key: x'", "describe A ${env.RPCURL_OPTIONS}"),
    ("repeat 2 call Hello --bearer x", "repeat 2 call Hello ${env.RPCURL_OPTIONS}"),
    ("target h:1 --bearer x", "target h:1 ${env.RPCURL_OPTIONS}"),
    ("set x = 1 --bearer x", "set x = 1 ${env.RPCURL_OPTIONS}"),
    ("set x = \"-u me\"", "set x = \"-u me\""), ("header x: -u me", "header x: -u me"),
    ("expect .x == -u", "expect .x == -u"),
    // What a shell or the command line accepts, and a session does not.
    ("header \"authorization: Bearer x\"", "header \"authorization: ${env.AUTHORIZATION}"),
    ("use auth bearer=x", "use auth bearer=env:AUTH_BEARER"),
    ("use ./sign.py --key=x", "use ./sign.py --key=x"),
    ("set a.b = 1", "set a.b = 1"), ("set t = {\"password\":\"x\"}", "set t = ${env.T}"),
    ("set url =  \"https://u:x@h/\"", "set url =  ${env.URL}"),
    ("set t = {\"password\":\"${env.X}\"}", "set t = {\"password\":\"${env.X}\"}"),
    // Scalars that join a delimiter into one character.
    ("header authorization:\u{301}x", "header authorization:${env.AUTHORIZATION}"),
    ("headr authorization:\u{301}x", "headr authorization:${env.AUTHORIZATION}"),
    ("use auth,bearer=\u{301}x", "use auth,bearer=env:AUTH_BEARER"),
    ("use x,\u{301}a=1,token=x", "use x,\u{301}a=1,token=env:X_TOKEN"),
    ("options --bearer=\u{301}x", "options --bearer \"${env.RPCURL_BEARER}\""),
    ("options -u\u{301}me:x", "options -u \"${env.RPCURL_USER}\""),
    ("target http://\u{301}me:x@host", "target ${env.RPCURL_TARGET}"),
    ("set token =\u{301}x", "set token =${env.TOKEN}"),
  ])
  func replacesSecretsInLines(line: String, expected: String) {
    var secrets = WrittenSecrets(separates: false)
    #expect(secrets.line(line) == expected)
    var open = WrittenSecrets(showsSecrets: true, separates: false)
    #expect(open.line(line) == line)
    #expect(open.placeholders.isEmpty)
  }

  @Test func replacesSecretsWithFurtherNames() {
    var secrets = WrittenSecrets(SecretNames(adding: ["x-tenant", "tier*"]), separates: false)
    #expect(secrets.line("header x-tenant: blue") == "header x-tenant: ${env.X_TENANT}")
    #expect(secrets.line("attribute tier-of=x") == "attribute tier-of=${env.TIER_OF}")
    #expect(secrets.line("use header,set=x-tenant:blue") == "use header,set=env:HEADER_SET")
    #expect(secrets.line("options -H 'x-tenant: a'") == "options -H \"x-tenant: ${env.X_TENANT}\"")
    #expect(secrets.occur(inLine: "header x-tenant: blue"))
  }

  @Test func listsEachPlaceholderOnce() {
    var secrets = WrittenSecrets(separates: false)
    _ = secrets.words(["-H", "authorization: a", "--bearer", "x", "--header", "authorization: b", "-k"])
    #expect(secrets.placeholders.map(\.name) == ["AUTHORIZATION", "RPCURL_BEARER"])
  }

  @Test func replacesSecretsInOptions() {
    var secrets = WrittenSecrets(separates: false)
    let words = secrets.words(["--bearer=x", "--use", "auth,bearer=y", "-H", "x: 1", "--max-time", "2"])
    #expect(
      words.map(\.before) == [
        "--bearer", "", "--use", "auth,bearer=env:AUTH_BEARER", "-H", "x: 1", "--max-time", "2",
      ])
    #expect(words.map { $0.placeholder?.name } == [nil, "RPCURL_BEARER", nil, nil, nil, nil, nil, nil])
  }

  @Test(
    arguments: [
      ("cfg={\"password\":\"x\"}", "CFG"), ("a=[{\"b\":{\"apiKey\":1}}]", "A"), ("url=https://u:x@h/", "URL"),
      ("cfg={\"urls\":[\"http://h\",\"http://u:x@h\"]}", "CFG"), ("mail=ada@h.example", nil),
      ("cfg={\"name\":\"password\"}", nil), ("url=https://h/a@b", nil), ("password=@file", nil),
    ] as [(String, String?)])
  func replacesSecretsWithinVariables(value: String, name: String?) {
    var secrets = WrittenSecrets(separates: true)
    #expect(secrets.words(["--var", value]).last?.placeholder?.name == name)
  }

  // MARK: Lines of the history

  @Test(arguments: [
    "header authorization: Bearer x", "header x-api-key:1", "attribute api-key=1",
    "use header,set=authorization:x",
    "use auth,token=abc", "use auth,tokn=abc", "usee auth,hosts=a,tokn=abc",
    "options -H 'Cookie: a=b'", "set password = x", "options --bearer x", "options -u me:x",
    "list --bearer x", "call Hello {} -H \"authorization: x\"",
  ])
  func detectsSecrets(line: String) {
    #expect(WrittenSecrets(separates: false).occur(inLine: line))
  }

  @Test(arguments: [
    "call Hello {\"pageToken\": \"a\"}", "header x-trace: 1", "attribute tier=gold", "describe auth.Service",
    "call shop.Orders/Token", "{\"a\": 1}",
    "use retry,max-delay=1", "use auth,bearer=cmd:c,timeout=1s", "use header,set=authorization:env:TOKEN",
    "use header,set=x-api-key:cmd:pass api", "use retry,atempts=1", "",
    "call Hello {\"text\": \"use --bearer x or -u me\"}", "call Hello {\"n\": [-1, -2]}",
  ])
  func ignoresOtherLines(line: String) {
    #expect(!WrittenSecrets(separates: false).occur(inLine: line))
  }
}
