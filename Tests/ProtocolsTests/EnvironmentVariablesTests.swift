import RPCurlPlatform
import Testing

@testable import RPCurlProtocols

struct EnvironmentVariablesTests {
  /// In a process of its own: other tests may read the environment meanwhile, on other threads.
  @Test func distinguishesEmptyFromUnset() async {
    await #expect(processExitsWith: .success) {
      let name = "RPCURL_TEST_VARIABLE"
      #expect(EnvironmentVariables.value(name) == nil)
      setenv(name, "", 1)
      #expect(EnvironmentVariables.value(name) == "")
      setenv(name, "größ", 1)
      #expect(EnvironmentVariables.value(name) == "größ")
      unsetenv(name)
      #expect(EnvironmentVariables.value(name) == nil)
    }
  }
}
