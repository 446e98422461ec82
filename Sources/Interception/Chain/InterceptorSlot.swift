import RPCProtocols
import Synchronization

/// An interceptor's place at one call, as its context knows it.
final class InterceptorHandle: Sendable {
  let registration: RegistrationID
  private let lastTimerNumber = Atomic(0)

  init(_ registration: RegistrationID) {
    self.registration = registration
  }

  /// A number for a timer that is to be set, on any thread.
  func takeTimerNumber() -> Int { lastTimerNumber.add(1, ordering: .relaxed).newValue }
}

/// One interceptor of a call's chain, with what it asked for.
final class InterceptorSlot {
  let name: String
  let handle: InterceptorHandle
  /// The instance; released when the call has finished.
  private(set) var interceptor: (any Interceptor)?
  let stages: Stages
  let requirements: InterceptorRequirements
  /// The nodes that it has in any case, and those that it has where it is split (see `Pipeline`).
  let requestNode: PipelineNode
  let requestBytesNode: PipelineNode
  let responseBytesNode: PipelineNode
  let responseNode: PipelineNode
  let report: PipelineNode
  /// The last of its nodes on the pipeline of the request, where the end is delivered.
  var lastRequestNode: PipelineNode
  /// The first of its nodes on the pipeline of the response.
  var firstResponseNode: PipelineNode
  /// Whether messages come to its raw node on the pipeline of the response after those further in have had them typed.
  var isBytesNodeDelayed = false
  /// Its nodes on the pipeline of the response.
  var responseNodes: [PipelineNode] {
    firstResponseNode === responseNode ? [responseNode] : [firstResponseNode, responseNode]
  }

  /// Notes that it gives nothing more to the response.
  func closeResponse() {
    for node in responseNodes { node.passage = .closed }
  }

  /// Notes that a further attempt brings another response.
  func reopenResponse() {
    isBytesNodeDelayed = false
    for node in responseNodes { node.passage = .awaitingStart }
  }

  /// Whether it answers the call, and holds the request's start for that.
  var isAnswering = false
  /// The clock's numbers of the timers that it has set.
  var timers: [CallTimer: Int] = [:]

  init(name: String, handle: InterceptorHandle, interceptor: any Interceptor, position: Int) {
    self.name = name
    self.handle = handle
    self.interceptor = interceptor
    stages = interceptor.stages
    requirements = interceptor.requirements
    let place = (position: position, isSerial: requirements.isSerial)
    requestNode = PipelineNode(.request, place)
    // The start passes before the pipeline is laid out.
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

  /// Gives up the instance. The slot stays, with the nodes that tokens know.
  func letGo() -> (any Interceptor)? {
    defer { interceptor = nil }
    return interceptor
  }
}
