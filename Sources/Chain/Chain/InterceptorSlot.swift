import RPCurlProtocols
import Synchronization

/// Identifies an interceptor of one call to the chain; its context has it.
final class InterceptorHandle: Sendable {
  let registration: RegistrationID
  private let lastTimerNumber = Atomic(0)

  init(_ registration: RegistrationID) {
    self.registration = registration
  }

  /// A number for a new timer. `[any thread]`
  func takeTimerNumber() -> Int { lastTimerNumber.add(1, ordering: .relaxed).newValue }
}

/// One interceptor of a call's chain, with its requirements and its places on the pipelines.
final class InterceptorSlot {
  let name: String
  let handle: InterceptorHandle
  /// Its number among the interceptors of the call, also those of attempts (`ChainFamily`).
  let number: Int
  /// The instance; released when the call has finished.
  private(set) var interceptor: (any StagedInterceptor)?
  let requirements: InterceptorRequirements
  let request: PipelineNode
  let response: PipelineNode
  let report: PipelineNode
  /// The stages that it observes.
  let observed: Stages
  /// Whether it responds to the call, and holds the request's start meanwhile.
  var isResponding = false
  /// Whether it has half-closed the request itself.
  var hasEndedRequest = false
  /// The clock's numbers of its timers.
  var timers: [CallTimer: Int] = [:]

  init(
    name: String, handle: InterceptorHandle, number: Int, interceptor: any StagedInterceptor, position: Int
  ) {
    self.name = name
    self.handle = handle
    self.number = number
    self.interceptor = interceptor
    requirements = interceptor.requirements
    let (stages, messages) = (interceptor.stages, interceptor.messages)
    observed = stages.intersection(.observed)
    let place = (position: position, isSerial: requirements.isSerial)
    request = PipelineNode(.request, place, stages.intersection(.request), messages.request)
    response = PipelineNode(.response, place, stages.intersection(.response), messages.response)
    report = PipelineNode(.report, place, stages.intersection(.reports), .none)
  }

  /// Its place on the chain.
  var position: Int { response.position }

  /// All of its nodes.
  var nodes: [PipelineNode] { [request, response, report] }

  /// Records that nothing more of the response passes it.
  func closeResponse() { response.passage = .closed }

  /// Records that the response of another attempt follows.
  func reopenResponse() { response.passage = .awaitingStart }

  /// Releases the instance. The slot stays, with the nodes that tokens refer to.
  func release() -> (any StagedInterceptor)? {
    defer { interceptor = nil }
    return interceptor
  }
}
