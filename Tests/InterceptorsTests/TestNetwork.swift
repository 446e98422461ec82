import Interception
import RPCProtocols

/// A network whose responses the test provides.
final class TestNetwork: InterceptorNetwork {
  /// The requests, in order.
  private(set) var fetches: [Fetch] = []
  private var completions: [(Result<Fetched, RPCError>) -> Void] = []

  /// The encoded parameters of the last request.
  var lastParameters: [String] {
    fetches.last.map { String(decoding: $0.body, as: UTF8.self).split(separator: "&").map(String.init) } ?? []
  }

  func call(
    _ call: OwnCall, for facts: CallFacts, excluding excluded: Set<RegistrationID>,
    completion: @escaping (OwnAnswer) -> Void
  ) {}

  func fetch(_ fetch: Fetch, completion: @escaping (Result<Fetched, RPCError>) -> Void) {
    fetches.append(fetch)
    completions.append(completion)
  }

  /// Responds to a request, by default the oldest pending one.
  func answer(_ body: String, index: Int = 0, status: Int = 200) {
    completions.remove(at: index)(.success(Fetched(status: status, body: Array(body.utf8))))
  }

  func fail(_ words: String) {
    completions.removeFirst()(.failure(RPCError(.unavailable, words, origin: .connection)))
  }
}
