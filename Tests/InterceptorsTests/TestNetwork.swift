import Interception
import RPCProtocols

/// A network whose answers tests give.
final class TestNetwork: SubrequestTransport {
  /// What was asked for, in order.
  private(set) var fetches: [HTTPFetch] = []
  private var completions: [(Result<HTTPFetchResponse, RPCError>) -> Void] = []

  /// The last request's parameters, as they were encoded.
  var lastParameters: [String] {
    fetches.last.map { String(decoding: $0.body, as: UTF8.self).split(separator: "&").map(String.init) } ?? []
  }

  func call(
    _ call: Subrequest, for facts: CallFacts, excluding excluded: Set<RegistrationID>,
    completion: @escaping (SubrequestResponse) -> Void
  ) {}

  func fetch(_ fetch: HTTPFetch, completion: @escaping (Result<HTTPFetchResponse, RPCError>) -> Void) {
    fetches.append(fetch)
    completions.append(completion)
  }

  /// Answers a request, by default the oldest without an answer.
  func answer(_ body: String, index: Int = 0, status: Int = 200) {
    completions.remove(at: index)(.success(HTTPFetchResponse(status: status, body: Array(body.utf8))))
  }

  func fail(_ words: String) {
    completions.removeFirst()(.failure(RPCError(.unavailable, words, origin: .connection)))
  }
}
