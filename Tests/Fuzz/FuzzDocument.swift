import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtocols

@testable import RPCurlInterceptors

/// Reads what interceptors receive from others: the first byte chooses.
func fuzzDocument(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  guard count > 0 else { return 0 }
  let content = [UInt8](UnsafeBufferPointer(start: start + 1, count: count - 1))
  let text = String(decoding: content, as: UTF8.self)
  switch start[0] % 6 {
  case 0:
    // A service config, of the user or of a repository.
    _ = try? RetryServiceConfig(json: content).policy(for: MethodName(service: "a.B", method: "C"))
  case 1:
    if let response = try? CachedResponse(content: content) {
      let again = try? CachedResponse(content: response.content)
      precondition(again?.content == response.content, "it is stable")
    }
  case 2:
    // The output of a command, or the response of a server of OAuth.
    if let token = try? AccessToken(output: content, now: 1) {
      precondition(HeaderSyntax.isValue(token.value.revealed), "a token is the value of a header")
    }
  case 3:
    if let parent = TraceParent(text) {
      precondition(TraceParent(parent.text) == parent, "it can be sent on")
    }
  case 4:
    let control = CacheControl(Headers([("cache-control", text)]))
    precondition((control.maxAge ?? 0) <= CacheControl.longest, "times are bounded")
    _ = RetryPushback(text)
    precondition((HTTPDate.seconds(text) ?? 0) <= 253_402_300_799, "a year has four digits")
  default:
    _ = RetryInfo.delay(in: [StatusDetail(typeName: "google.rpc.RetryInfo", value: content)])
  }
  return 0
}
