import RPCurlBase
import RPCurlChain
import RPCurlProtobuf
import RPCurlProtocols

/// Sends spans to a collector, or writes them to a file. One request at a time is sent while calls run, with the spans
/// of all calls that have ended meanwhile.
final class SpanExporter: Sendable {
  /// Where the spans go.
  enum Destination: Sendable {
    case endpoint(OTLPEndpoint)
    /// A file, and its path.
    case file(any OutputFile, String)
  }

  private struct State {
    /// The calls that run, for their attempts.
    var calls: [Span.Beginning] = []
    /// Serialized spans that are not sent yet.
    var waiting: [[UInt8]] = []
    /// The number of spans in the request that is being sent; 0 between requests.
    var sending = 0
    /// The number of spans that were not exported, and why the first of them was not.
    var lost = 0
    var problem: String?
    /// To be called when everything is sent. Set when no call of a client follows; several clients may share the exporter.
    var completions: [@Sendable () -> Void] = []

    mutating func lose(_ count: Int, _ reason: String) {
      lost += count
      problem = problem ?? reason
    }
  }

  /// The maximum number of spans that wait. OpenTelemetry limits its queue to the same number.
  private static let maxWaiting = 2048

  private let name: String
  private let destination: Destination
  private let resource: OTLPResource
  private let state = Locked(State())

  init(_ name: String, _ destination: Destination, _ resource: OTLPResource) {
    self.name = name
    self.destination = destination
    self.resource = resource
  }

  /// Replaces the old content of a file. A failure is that of the first write, which is reported.
  func begin() {
    if case .file(let file, _) = destination { try? file.begin() }
  }

  /// Notes that a call has begun.
  func begin(_ call: Span.Beginning) { state.withLock { $0.calls.append(call) } }

  /// Notes that a call has ended.
  func end(_ call: Span.Beginning) { state.withLock { $0.calls.removeAll { $0 === call } } }

  /// The call with this identity; nil if it does not run.
  func call(_ identity: TraceParent) -> Span.Beginning? {
    state.withLock { $0.calls.first { $0.identity == identity } }
  }

  /// Adds a serialized span, which the next request contains.
  func add(_ span: [UInt8]) {
    state.withLock { state in
      guard state.waiting.count < Self.maxWaiting else { return state.lose(1, "too many spans wait") }
      state.waiting.append(span)
    }
  }

  /// Sends the waiting spans, unless a request is being sent. `[loop's thread]`
  func flush(_ network: FactoryNetwork) {
    let spans = state.withLock { state -> [[UInt8]] in
      guard state.sending == 0 else { return [] }
      defer { state.waiting = [] }
      state.sending = state.waiting.count
      return state.waiting
    }
    guard !spans.isEmpty else { return finishIfDone(network) }
    let body = resource.request(spans)
    switch destination {
    case .endpoint(let endpoint):
      endpoint.send(body, network) { [self] problem in sent(problem, network) }
    case .file(let file, let path):
      do throws(SystemError) {
        try file.write(binary: body)
        sent(nil, network)
      } catch {
        sent("\(path): \(error.reason)", network)
      }
    }
  }

  /// Sends the rest, and reports once what was not exported. `[loop's thread]`
  func conclude(_ network: FactoryNetwork, _ completion: @escaping @Sendable () -> Void) {
    state.withLock { $0.completions.append(completion) }
    flush(network)
  }

  private func sent(_ problem: String?, _ network: FactoryNetwork) {
    state.withLock { state in
      if let problem {
        state.lose(state.sending, problem)
        if !state.completions.isEmpty {
          // The program waits for one failure only.
          state.lose(state.waiting.count, problem)
          state.waiting = []
        }
      }
      state.sending = 0
    }
    flush(network)
  }

  private func finishIfDone(_ network: FactoryNetwork) {
    let (completions, lost, problem) = state.withLock { state -> ([@Sendable () -> Void], Int, String?) in
      guard state.sending == 0 else { return ([], 0, nil) }
      defer { state.completions = [] }
      return (state.completions, state.lost, state.problem)
    }
    guard !completions.isEmpty else { return }
    if let problem {
      network.log(
        LogRecord(
          level: .warning, source: name,
          text: "\(lost) span\(lost == 1 ? " was" : "s were") not exported: \(problem)"))
    }
    for completion in completions { completion() }
  }
}
