import RPCurlChain
import RPCurlProtocols

/// A network whose responses the test provides.
final class TestNetwork: SubrequestTransport {
  /// The requests, in order.
  private(set) var fetches: [HTTPFetch] = []
  private var completions: [(Result<HTTPFetchResponse, RPCError>) -> Void] = []
  /// The calls, in order, with their completions.
  private(set) var calls: [(call: Subrequest, complete: (SubrequestResponse) -> Void)] = []

  /// The encoded parameters of the last request.
  var lastParameters: [String] {
    fetches.last.map { String(decoding: $0.body, as: UTF8.self).split(separator: "&").map(String.init) } ?? []
  }

  func call(
    _ call: Subrequest, for facts: CallFacts, excluding excluded: Set<RegistrationID>,
    completion: @escaping (SubrequestResponse) -> Void
  ) {
    calls.append((call, completion))
  }

  func open(
    _ call: Subrequest, _ kind: CallKind, for facts: CallFacts, excluding excluded: Set<RegistrationID>,
    receive: @escaping (SubrequestEvent) -> Void
  ) -> (any SubrequestStream)? { nil }

  func fetch(_ fetch: HTTPFetch, completion: @escaping (Result<HTTPFetchResponse, RPCError>) -> Void) {
    fetches.append(fetch)
    completions.append(completion)
  }

  /// Responds to a request, by default the oldest pending one.
  func answer(_ body: String, index: Int = 0, status: Int = 200) {
    completions.remove(at: index)(.success(HTTPFetchResponse(status: status, body: Array(body.utf8))))
  }

  func fail(_ words: String) {
    completions.removeFirst()(.failure(RPCError(.unavailable, words, origin: .connection)))
  }
}
