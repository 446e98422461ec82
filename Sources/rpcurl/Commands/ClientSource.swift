import RPCClient

/// The client of the process, made when the first call needs it, so that one connection serves all of them.
final class ClientSource {
  private var made: RPCClient?

  /// The client.
  func client() throws(Failure) -> RPCClient {
    if let made { return made }
    do {
      let client = try RPCClient()
      made = client
      return client
    } catch {
      throw Failure(
        .internalError, "libcurl", error.message, hint: "install libcurl 7.88 or newer (Debian: libcurl4)")
    }
  }
}
