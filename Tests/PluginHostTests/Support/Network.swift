import RPCurlChain
import RPCurlProtocols

/// Records what plugins request of the network, and responds when a test does.
final class Network: SubrequestTransport {
  var made: [Subrequest] = []
  var completion: ((SubrequestResponse) -> Void)?

  func call(
    _ call: Subrequest, for facts: CallFacts, excluding excluded: Set<RegistrationID>,
    completion: @escaping (SubrequestResponse) -> Void
  ) {
    made.append(call)
    self.completion = completion
  }
  private(set) var streams: [RecordedStream] = []
  func open(
    _ call: Subrequest, _ kind: CallKind, for facts: CallFacts, excluding excluded: Set<RegistrationID>,
    receive: @escaping (SubrequestEvent) -> Void
  ) -> (any SubrequestStream)? {
    streams.append(RecordedStream(call, kind, receive))
    return streams.last
  }
  private(set) var fetches: [(HTTPFetch, (Result<HTTPFetchResponse, RPCError>) -> Void)] = []
  func fetch(_ fetch: HTTPFetch, completion: @escaping (Result<HTTPFetchResponse, RPCError>) -> Void) {
    fetches.append((fetch, completion))
  }
}

/// A stream that records what a plugin does with it.
final class RecordedStream: SubrequestStream {
  let call: Subrequest
  let kind: CallKind
  let receive: (SubrequestEvent) -> Void
  private(set) var requested: [String] = []

  init(_ call: Subrequest, _ kind: CallKind, _ receive: @escaping (SubrequestEvent) -> Void) {
    (self.call, self.kind, self.receive) = (call, kind, receive)
  }
  func send(_ message: [UInt8]) { requested.append(String(decoding: message, as: UTF8.self)) }
  func finishSending() { requested.append("finish") }
  func wantResponse(_ isWanted: Bool) { requested.append("want \(isWanted)") }
  func cancel(_ reason: String) { requested.append("cancel") }
}
