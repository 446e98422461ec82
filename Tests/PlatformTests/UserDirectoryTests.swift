import RPCurlPlatform
import Testing

@Suite struct UserDirectoryTests {
  @Test(
    arguments: [
      ([:], nil), (["HOME": "/home/ada"], "/home/ada/.local/state"), (["HOME": "ada"], nil),
      (["XDG_STATE_HOME": "/state", "HOME": "/home/ada"], "/state"),
      (["XDG_STATE_HOME": "state", "HOME": "/home/ada"], "/home/ada/.local/state"),
      (["XDG_STATE_HOME": ""], nil),
    ] as [([String: String], String?)])
  func findsStateDirectory(environment: [String: String], path: String?) {
    #expect(UserDirectory.state.path { environment[$0] } == path)
  }

  @Test func findsCacheDirectory() {
    #expect(UserDirectory.cache.path { ["HOME": "/h"][$0] } == "/h/.cache")
    #expect(UserDirectory.cache.path { ["XDG_CACHE_HOME": "/c"][$0] } == "/c")
  }
}
