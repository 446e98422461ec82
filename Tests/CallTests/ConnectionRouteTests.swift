import RPCurlTransport
import Testing

@testable import RPCurlCall

struct ConnectionRouteTests {
  @Test func namesWhatSelectsServerAndClient() {
    #expect(ConnectionOptions().route == "")
    let changes: [(inout ConnectionOptions) -> Void] = [
      { $0.unixSocket = "a" }, { $0.abstractUnixSocket = "a" }, { $0.serverName = "a" },
      { $0.certificate = ConnectionOptions.Certificate(file: "a") },
      { $0.certificate = ConnectionOptions.Certificate(file: "a", keyFile: "b") }, { $0.netrcFile = "a" },
      { $0.authoritiesFile = "a" }, { $0.authoritiesDirectory = "a" }, { $0.proxy = "a" },
      { $0.authoritiesPEM = [1] }, { $0.certificate = ConnectionOptions.Certificate(pem: [1]) },
      { $0.certificate = ConnectionOptions.Certificate(pem: [1], keyPEM: [2]) },
      { $0.certificate = ConnectionOptions.Certificate(pem: [2]) },
      { $0.isInsecure = true }, { $0.connectTo = ["a"] }, { $0.resolve = ["a"] },
    ]
    let routes = changes.map { change in
      var options = ConnectionOptions()
      change(&options)
      return options.route
    }
    #expect(Set(routes + [""]).count == changes.count + 1)
  }
}
