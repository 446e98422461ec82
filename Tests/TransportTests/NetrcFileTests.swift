import Testing

@testable import RPCurlTransport

@Suite struct NetrcFileTests {
  @Test(arguments: [
    ("machine a login b password c", ["b c"]),
    ("machine a\n\tlogin b\n\tpassword c\ndefault login d password \"e \\\"f\\n\"\n", ["b c", "d e \"f\n"]),
    ("machine a password c", [" c"]), ("", []), (" \r\n\t\n", []), ("machine a password p login n", ["n p"]),
    ("MACHINE a LOGIN b Password c", ["b c"]),
    ("machine password login password password password", ["password password"]),
    ("# password a\nmachine h # x\n  # login \"\nlogin b account x password c#d\n", ["b c#d"]),
    ("macdef m\npassword a\n\nmachine h password b", [" b"]), ("machine h password \"a\nb\"", [" a\nb"]),
    ("machine h \"password\" a password b", [" b"]), ("default", []),
  ])
  func readsLogins(text: String, logins: [String]) {
    let file = NetrcFile(contents: Array(text.utf8))
    #expect(file.logins.map { "\($0.name) \($0.password)" } == logins)
    #expect(file.problem == nil)
  }

  @Test(arguments: [
    ("machine h login n password \"p\n", NetrcFile.Problem.quotation(line: 1)),
    ("# c\n# d\nmachine h\nlogin \"n", .quotation(line: 4)),
    ("machine h login n password", .end(after: "password")),
    ("machine h password p\nlogin", .end(after: "login")), ("machine h password a\0b", .null(line: 1)),
    ("garbage of another format", .noEntry), ("login n password p", .noEntry),
  ])
  func findsProblem(text: String, problem: NetrcFile.Problem) {
    #expect(NetrcFile(contents: Array(text.utf8)).problem == problem)
  }

  /// The sizes are those at which libcurl stops sending credentials.
  @Test func limitsAreThoseOfLibcurl() {
    func problem(_ text: String) -> NetrcFile.Problem? { NetrcFile(contents: Array(text.utf8)).problem }
    func bytes(_ count: Int) -> String { String(repeating: "a", count: count) }
    for quote in ["", "\""] {
      #expect(problem("machine h\npassword \(quote)\(bytes(4095))\(quote)") == nil)
      #expect(problem("machine h\npassword \(quote)\(bytes(4096))\(quote)") == .value(line: 2))
    }
    // Only values are limited.
    #expect(problem("machine h \(bytes(5000)) password p") == nil)
    #expect(problem("machine h password p\n#\(bytes(16_381))\n") == nil)
    #expect(problem("machine h password p\n#\(bytes(16_382))\n") == .length(line: 2))
    let entry = "machine h password p\n"
    let lines = String(repeating: bytes(99) + "\n", count: 1310)
    #expect(problem(entry + lines + bytes(131_070 - 131_000 - entry.utf8.count - 1) + "\n") == nil)
    #expect(problem(entry + lines + bytes(131_070 - 131_000 - entry.utf8.count) + "\n") == .size)
    #expect(problem(entry + String(repeating: "#\(bytes(99))\n", count: 2000)) == nil)
  }

  @Test func loginsBeforeAProblemAreFound() {
    let file = NetrcFile(contents: Array("machine a login b password c\nmachine d password \"e".utf8))
    #expect(file.logins.map(\.password) == ["c"])
  }

  @Test func missingOrOtherFileHasNoLogins() {
    for path in ["/nonexistent", "/dev/zero"] {
      #expect(NetrcFile(path).logins.isEmpty)
      #expect(NetrcFile(path).problem == nil)
    }
  }

  @Test(arguments: [
    ("http://u:p%40ss@proxy:1", "p@ss"), ("u:p@ss@proxy", "p@ss"), ("http://proxy:1", nil),
    ("socks5://u@h", nil),
  ])
  func passwordOfProxy(proxy: String, password: String?) {
    var options = ConnectionOptions()
    options.proxy = proxy
    #expect(options.passwords.last == password)
    options.proxyCredentials = "a:b:c"
    #expect(options.passwords.first == "b:c")
  }
}
