import Testing

@testable import Transport

@Suite struct NetrcFileTests {
  @Test(arguments: [
    ("machine a login b password c", ["b c"]),
    ("machine a\n\tlogin b\n\tpassword c\ndefault login d password \"e \\\"f\\n\"\n", ["b c", "d e \"f\n"]),
    ("machine a password c", [" c"]), ("password", []), ("", []), ("login b password \"c\nlogin d", ["b c"]),
  ])
  func readsLogins(text: String, logins: [String]) {
    #expect(NetrcFile.logins(in: Array(text.utf8)).map { "\($0.name) \($0.password)" } == logins)
  }

  @Test func missingOrOtherFileHasNoLogins() {
    #expect(NetrcFile.logins("/nonexistent").isEmpty)
    #expect(NetrcFile.logins("/dev/zero").isEmpty)
  }

  @Test(arguments: [
    ("http://u:p%40ss@proxy:1", "p@ss"), ("u:p@ss@proxy", "p@ss"), ("http://proxy:1", nil),
    ("socks5://u@h", nil),
  ])
  func passwordOfProxy(proxy: String, password: String?) {
    var options = ConnectionOptions()
    options.proxy = proxy
    #expect(options.passwords(for: "http://h/").last == password)
    options.proxyCredentials = "a:b:c"
    #expect(options.passwords(for: "http://h/").first == "b:c")
  }
}
