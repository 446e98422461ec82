import RPCProtocols
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

/// One interceptor of a call's chain, with its stages, requirements and nodes.
final class InterceptorSlot {
  let name: String
  let handle: InterceptorHandle
  /// The instance; released when the call has finished.
  private(set) var interceptor: (any StagedInterceptor)?
  /// Its stages; those of the response without messages after it has begun to respond itself.
  var stages: Stages
  let requirements: InterceptorRequirements
  // The nodes; the two for bytes are used only if the interceptor is split (see `Pipeline`).
  let requestNode: PipelineNode
  let requestBytesNode: PipelineNode
  let responseBytesNode: PipelineNode
  let responseNode: PipelineNode
  let report: PipelineNode
  /// Its last node of the request, where the half-close is delivered.
  var lastRequestNode: PipelineNode
  /// Its first node of the response.
  var firstResponseNode: PipelineNode
  /// Whether response bytes reach it after the interceptors further in have received the typed messages.
  var isBytesNodeDelayed = false
  /// Its nodes of the response, in the order in which values pass them.
  var responseNodes: [PipelineNode] {
    firstResponseNode === responseNode ? [responseNode] : [firstResponseNode, responseNode]
  }

  /// Records that nothing more of the response passes it.
  func closeResponse() {
    for node in responseNodes { node.passage = .closed }
  }

  /// Records that the response of another attempt follows.
  func reopenResponse() {
    isBytesNodeDelayed = false
    for node in responseNodes { node.passage = .awaitingStart }
  }

  /// Whether it responds to the call, and holds the request's start meanwhile.
  var isResponding = false
  /// The clock's numbers of its timers.
  var timers: [CallTimer: Int] = [:]

  init(name: String, handle: InterceptorHandle, interceptor: any StagedInterceptor, position: Int) {
    self.name = name
    self.handle = handle
    self.interceptor = interceptor
    stages = interceptor.stages
    requirements = interceptor.requirements
    let place = (position: position, isSerial: requirements.isSerial)
    requestNode = PipelineNode(.request, place)
    // The request's start passes before the pipeline is laid out.
    requestNode.stages = stages.intersection(.requestStart)
    requestBytesNode = PipelineNode(.requestBytes, place)
    responseBytesNode = PipelineNode(.responseBytes, place)
    responseNode = PipelineNode(.response, place)
    lastRequestNode = requestNode
    firstResponseNode = responseNode
    report = PipelineNode(.report, place)
  }

  /// Its place on the chain.
  var position: Int { responseNode.position }

  /// All of its nodes.
  var nodes: [PipelineNode] { [requestNode, requestBytesNode, responseBytesNode, responseNode, report] }

  /// Releases the instance. The slot stays, with the nodes that tokens refer to.
  func release() -> (any StagedInterceptor)? {
    defer { interceptor = nil }
    return interceptor
  }
}
