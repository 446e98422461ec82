import Interception
import Protobuf
import RPCProtocols
import Transport

/// Makes what interceptors of a call ask for on their own account, over the client's loop and connections.
final class ClientSubrequestTransport: SubrequestTransport {
  private weak var client: RPCClient?
  private let request: CallRequest
  // What may be under way still.
  private var calls: [Call] = []
  private var fetches: [FetchTransfer] = []
  private var hasEnded = false

  /// - Parameters:
  ///   - client: Whose loop and interceptors are used.
  ///   - request: The call whose interceptors ask; its options of the connection hold for theirs.
  init(_ client: RPCClient, _ request: CallRequest) {
    self.client = client
    self.request = request
  }

  func call(
    _ call: Subrequest, for facts: CallFacts, excluding excluded: Set<RegistrationID>,
    completion: @escaping (SubrequestResponse) -> Void
  ) {
    // Not from within an interceptor's callback: the call passes through others' callbacks.
    client?.loop.schedule(at: .now) { [weak self, weak client, request] in
      guard let self, let client, !hasEnded else { return }
      let method: MethodDescriptor
      do {
        method = try OpaqueMethod.descriptor(of: call.method)
      } catch {
        let error = RPCError(.internal, "\(call.method): \(error)", origin: .client)
        return completion(SubrequestResponse(end: ResponseEnd(error: error)))
      }
      var own = CallRequest(
        method: method, target: call.target ?? facts.target, userAgent: request.userAgent)
      own.headers = call.headers
      own.timeout = call.timeout
      own.protocolName = request.protocolName
      own.codec = request.codec
      own.acceptedCompressions = request.acceptedCompressions
      own.maxMessageBytes = request.maxMessageBytes
      own.connection = request.connection
      // Nor from within the last callback of this call.
      let loop = client.loop
      let observer = SubrequestObserver { answer in loop.schedule(at: .now) { completion(answer) } }
      let made = client.makeCall(
        own, interceptors: client.interceptors, excluding: excluded, observer: observer)
      calls.removeAll { $0.isFinished }
      calls.append(made)
      made.start()
      made.send(.bytes(call.message))
      made.finishSending()
    }
  }

  func fetch(_ fetch: HTTPFetch, completion: @escaping (Result<HTTPFetchResponse, RPCError>) -> Void) {
    client?.loop.schedule(at: .now) { [weak self, weak client, request] in
      guard let self, let client, !hasEnded else { return }
      let transfer = FetchTransfer(fetch, completion)
      fetches.removeAll { $0.isOver }
      fetches.append(transfer)
      transfer.start(on: client.loop, options: request.connection, formerAddresses: request.formerAddresses)
    }
  }

  /// Ends what is under way still: the call has finished, and nobody waits for an answer any more. The interceptors
  /// that such calls pass through hear of their end.
  func end() {
    hasEnded = true
    for call in calls { call.cancel("the call that it was made for has ended") }
    for fetch in fetches { fetch.cancel() }
    calls = []
    fetches = []
  }
}

/// Gathers what comes of an interceptor's call.
private final class SubrequestObserver: CallObserver {
  private var completion: ((SubrequestResponse) -> Void)?
  private var headers = Headers()
  private var message: [UInt8]?

  init(_ completion: @escaping (SubrequestResponse) -> Void) {
    self.completion = completion
  }

  func callReceived(_ start: ResponseStart) { headers = start.headers }
  func callReceived(_ message: RawSpan) { self.message = message.copyBytes() }
  func callReceived(_ message: Message) { self.message = message.serialized() }
  func callEnded(_ end: ResponseEnd) {
    completion?(SubrequestResponse(headers: headers, message: end.error == nil ? message : nil, end: end))
    completion = nil
  }
}

/// The descriptor of a method of which only the name is known: its messages are bytes.
enum OpaqueMethod {
  /// Makes a descriptor whose messages have no fields, so that all of them are unknown ones, and kept.
  static func descriptor(of name: MethodName) throws -> MethodDescriptor {
    let parts = name.service.split(separator: ".").map(String.init)
    let package = parts.dropLast().joined(separator: ".")
    let message = "\(parts.last ?? "")OpaqueMessage"
    let type = package.isEmpty ? ".\(message)" : ".\(package).\(message)"
    // The numbers are those of google/protobuf/descriptor.proto.
    let method = field(1, name.method) + field(2, type) + field(3, type)
    let service = field(1, parts.last ?? "") + field(2, method)
    let file =
      field(1, "opaque.proto") + field(2, package) + field(4, field(1, message)) + field(6, service)
      + field(12, "proto3")
    let pool = DescriptorPool()
    try pool.add(SchemaBytes(field(1, file)), source: "a method known by its name")
    guard let found = try pool.method(service: name.service, method: name.method) else {
      throw RPCError(.internal, "\(name) is not a method's name", origin: .client)
    }
    return found
  }

  private static func field(_ number: UInt8, _ text: String) -> [UInt8] { field(number, Array(text.utf8)) }

  private static func field(_ number: UInt8, _ content: [UInt8]) -> [UInt8] {
    var length: [UInt8] = []
    var rest = content.count
    while rest >= 0x80 {
      length.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    return [number << 3 | 2] + length + [UInt8(rest)] + content
  }
}
