import RPCurlProtocolsSupport
import Testing

@testable import RPCurlProtocols

@Suite struct ConnectStreamProtocolTests {
  private static let stream = [("content-type", "application/connect+json")]

  private func feed(_ response: HTTPResponse) -> ResponseRecorder {
    response.feed(WireProtocols.make(.connect, .of(.serverStreaming, codec: .json)))
  }

  private func end(_ json: String) -> ResponseEnd? {
    feed(HTTPResponse(headers: Self.stream, body: envelope(Array(json.utf8), flags: 2))).end
  }

  @Test func requestHasTheSpecifiedHeaders() throws {
    let call = WireProtocols.make(.connect, .of(.serverStreaming, codec: .json))
    let request = try call.makeRequest(.test, timeout: .milliseconds(1500))
    #expect(
      request.headers
        == Headers([
          ("content-type", "application/connect+json"), ("connect-protocol-version", "1"),
          ("user-agent", "test/1"), ("connect-accept-encoding", "identity"), ("connect-timeout-ms", "1500"),
        ]))
  }

  @Test func readsTrailersFromLastEnvelope() {
    let found = end(#"{"metadata":{"X-A":["1","2"],"x-b-bin":["AAEC"]},"more":1}"#)
    #expect(found == ResponseEnd(trailers: Headers([("x-a", "1"), ("x-a", "2"), ("x-b-bin", "AAEC")])))
  }

  @Test func nullMetadataHasNoValues() {
    let found = end("\u{FEFF}" + #"{"metadata":{"a":null,"b":["x"]}}"#)
    #expect(found == ResponseEnd(trailers: Headers([("b", "x")])))
  }

  @Test func readsStatusFromLastEnvelope() {
    let found = end(
      #"{"error":{"code":"not_found","message":"no","details":[{"type":"a.B","value":"AQI="},"#
        + #"{"type":"a.B","value":"AQI","debug":{"x":1}}]},"metadata":{"x":["y"]}}"#)
    #expect(
      found?.error
        == RPCError(
          .notFound, "no",
          details: [
            StatusDetail(typeName: "a.B", value: [1, 2]),
            StatusDetail(typeName: "a.B", value: [1, 2], debug: #"{"x":1}"#),
          ], origin: .server))
    #expect(found?.trailers == Headers([("x", "y")]))
  }

  @Test func errorTakesPrecedenceOverNoError() {
    #expect(end(#"{"error":null,"error":{"code":"not_found"}}"#)?.code == .notFound)
  }

  @Test(arguments: [#"{"error":{}}"#, #"{"error":{"code":"teapot"}}"#, #"{"error":{"code":"ok"}}"#])
  func mapsUnknownErrorCodeToUnknown(json: String) {
    #expect(end(json)?.code == .unknown)
    #expect(end(json)?.error?.origin == .server)
  }

  @Test(arguments: [
    "", "[]", "{", "null", #"{"error":[]}"#, #"{"metadata":{"x":1}}"#, #"{"metadata":["x"]}"#,
    #"{"metadata":{"x":["a",1]}}"#,
  ])
  func rejectsInvalidLastEnvelope(json: String) {
    #expect(end(json)?.code == .unknown)
    #expect(end(json)?.error?.origin == .violation)
  }

  @Test func rejectsResponseInAnotherCodec() {
    let headers = [("content-type", "application/connect+proto")]
    #expect(feed(HTTPResponse(headers: headers)).end?.code == .internal)
  }
}
