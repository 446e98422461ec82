import RPCurlBase
import RPCurlChain
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlTransport

/// Makes the calls and HTTP requests of a call's interceptors, over the client's loop and connections.
final class ClientSubrequestTransport: SubrequestTransport {
  private weak var client: LoopClient?
  private let request: CallRequest
  private let onFinding: FindingSink
  // Calls that may be unfinished, and how long they may run after the end.
  private var calls: [(call: Call, lingering: Duration?)] = []
  private var fetches: [FetchTransfer] = []
  private var hasEnded = false

  /// Makes a network for the interceptors of a call.
  ///
  /// - Parameters:
  ///   - client: The client whose loop is used.
  ///   - request: The call of the interceptors; its interceptors apply to their calls, and its connection options, as far as
  ///     they do not belong to its server.
  ///   - onFinding: Receives the findings of interceptors on their calls.
  init(_ client: LoopClient, _ request: CallRequest, onFinding: @escaping FindingSink) {
    self.client = client
    self.request = request
    self.onFinding = onFinding
  }

  func call(
    _ call: Subrequest, for facts: CallFacts, excluding excluded: Set<RegistrationID>,
    completion: @escaping (SubrequestResponse) -> Void
  ) {
    // Not from within an interceptor's callback: the call passes through others' callbacks.
    client?.loop.schedule(at: .now) { [self, weak client] in
      guard let client, !hasEnded || call.lingering != nil else { return }
      // Nor from within the last callback of this call.
      let loop = client.loop
      let number = call.lingering == nil ? nil : client.lingeringCalls.begin()
      let observer = SubrequestObserver { [weak client] answer in
        loop.schedule(at: .now) {
          completion(answer)
          if let number { client?.lingeringCalls.end(number) }
        }
      }
      do throws(RPCError) {
        let made = try make(call, .unary, facts, excluded, client, observer)
        if let number { client.lingeringCalls.set(made, number) }
        if hasEnded { cancelCalls() }
        made.start()
        made.send(.bytes(call.message))
        made.finishSending()
      } catch {
        if let number { client.lingeringCalls.end(number) }
        completion(SubrequestResponse(end: ResponseEnd(error: error)))
      }
    }
  }

  /// Makes a call, to be started.
  private func make(
    _ call: Subrequest, _ kind: CallKind, _ facts: CallFacts, _ excluded: Set<RegistrationID>,
    _ client: LoopClient, _ observer: any CallObserver
  ) throws(RPCError) -> Call {
    let (method, isOpaque) = try method(call.method, kind, facts)
    var target = facts.target
    if let other = call.target { target = try TargetSyntax.checked(other) }
    var own = CallRequest(method: method, target: target, userAgent: request.wire.userAgent)
    own.isOpaque = isOpaque
    own.headers = call.headers
    own.attributes = call.attributes
    (own.secretNames, own.secrets) = (request.secretNames, request.secrets)
    own.timeout = call.timeout
    own.protocolName = request.protocolName
    own.wire = request.wire
    (own.wire.compression, own.wire.usesGET) = (nil, false)
    own.connection = request.connection
    own.log = request.log
    own.onFinding = onFinding
    if Origin(url: target) != Origin(url: request.target) { own.connection.leaveServer() }
    if call.lingering == nil { own.interceptors = request.interceptors }
    let made = client.makeCall(
      client.prepare(own, isSubrequest: true), excluding: excluded, observer: observer)
    calls.removeAll { $0.call.isFinished }
    calls.append((made, call.lingering))
    return made
  }

  /// The method in the schema of the current call; if that lacks it, an invented one.
  private func method(
    _ name: MethodName, _ kind: CallKind, _ facts: CallFacts
  ) throws(RPCError) -> (MethodDescriptor, isOpaque: Bool) {
    do {
      if !facts.isOpaque,
        let method = try facts.requestType?.schemaMethod(service: name.service, method: name.method),
        method.kind == kind
      {
        return (method, false)
      }
      return (try OpaqueMethod.descriptor(of: name, kind), true)
    } catch {
      throw RPCError(.internal, "\(name): \(error)", origin: .client)
    }
  }

  func open(
    _ call: Subrequest, _ kind: CallKind, for facts: CallFacts, excluding excluded: Set<RegistrationID>,
    receive: @escaping (SubrequestEvent) -> Void
  ) -> (any SubrequestStream)? {
    guard let client else { return nil }
    let stream = ClientSubrequestStream(client.loop, receive)
    // Not from within an interceptor's callback: the call passes through others' callbacks.
    client.loop.schedule(at: .now) { [weak self, weak client] in
      guard let self, let client, !hasEnded else { return }
      do throws(RPCError) {
        let made = try make(call, kind, facts, excluded, client, stream)
        made.start()
        stream.opened(made)
      } catch {
        stream.receive(.responseEnd(ResponseEnd(error: error)))
      }
    }
    return stream
  }

  func fetch(_ fetch: HTTPFetch, completion: @escaping (Result<HTTPFetchResponse, RPCError>) -> Void) {
    client?.loop.schedule(at: .now) { [weak self, weak client] in
      guard let self, let client, !hasEnded else { return }
      let transfer = FetchTransfer(fetch, completion)
      fetches.removeAll { $0.isOver }
      fetches.append(transfer)
      transfer.start(
        on: client.loop, options: request.connection, for: Origin(url: request.target),
        formerAddresses: request.formerAddresses)
    }
  }

  /// The call has finished: reports it to the factories of its interceptors, and cancels unfinished calls, for which no
  /// interceptor waits. Interceptors of these calls observe their end.
  func end() {
    hasEnded = true
    cancelCalls()
    for fetch in fetches { fetch.cancel() }
    fetches = []
    guard let client else { return }
    for interceptor in request.interceptors {
      interceptor.factory.callFinished(client.network(for: interceptor.id, log: request.log))
    }
  }

  /// Cancels unfinished calls, lingering ones later.
  private func cancelCalls() {
    for (call, lingering) in calls where !call.isFinished {
      guard let lingering, let loop = client?.loop else {
        call.cancel("the call that needed it has ended")
        continue
      }
      loop.schedule(at: .now + lingering) { [weak call] in
        call?.cancel("no response within \(lingering.inSeconds) after the end of the call")
      }
    }
    calls = []
  }
}

extension ConnectionOptions {
  /// Removes what belongs to the server of the options, for a connection to another one, which is always verified.
  mutating func leaveServer() {
    isInsecure = false
    unixSocket = nil
    abstractUnixSocket = nil
    serverName = nil
    certificate = nil
    // The others name the server that they replace.
    connectTo.removeAll { $0.hasPrefix(":") }
  }
}

/// Collects the result of an interceptor's call.
private final class SubrequestObserver: CallObserver {
  private var completion: ((SubrequestResponse) -> Void)?
  private var headers = Headers()
  private var message: [UInt8]?

  init(_ completion: @escaping (SubrequestResponse) -> Void) {
    self.completion = completion
  }

  func receive(_ event: CallEvent<Payload>) {
    switch event {
    case .responseStart(let start): headers = start.headers
    case .responseMessage(let message): self.message = message.serialized
    case .responseEnd(let end):
      completion?(SubrequestResponse(headers: headers, message: end.error == nil ? message : nil, end: end))
      completion = nil
    case .requestStart, .requestMessage, .requestEnd, .metrics: break
    }
  }
}

/// A stream of an interceptor, and the observer of its call.
///
/// What the interceptor does before the call is made, which happens in the next round of the loop, is done then. Events
/// are passed on in later rounds: never from within a callback of another interceptor.
private final class ClientSubrequestStream: SubrequestStream, CallObserver {
  private enum State {
    /// What was requested before the call was made, in order.
    case unopened([(Call) -> Void])
    case open(Call)
    case ended
  }

  private var state = State.unopened([])
  private let loop: EventLoop
  private let pass: (SubrequestEvent) -> Void

  init(_ loop: EventLoop, _ pass: @escaping (SubrequestEvent) -> Void) {
    self.loop = loop
    self.pass = pass
  }

  func opened(_ call: Call) {
    guard case .unopened(let requested) = state else { return }
    state = .open(call)
    for request in requested { request(call) }
  }

  private func perform(_ request: @escaping (Call) -> Void) {
    switch state {
    case .unopened(var requested):
      // Without this reference to the array, the next line changes it in place.
      state = .ended
      requested.append(request)
      state = .unopened(requested)
    case .open(let call): loop.schedule(at: .now) { request(call) }
    case .ended: break
    }
  }

  func send(_ message: [UInt8]) { perform { $0.send(.bytes(message)) } }
  func finishSending() { perform { $0.finishSending() } }
  func wantResponse(_ isWanted: Bool) { perform { $0.wantResponse(isWanted) } }
  func cancel(_ reason: String) { perform { $0.cancel(reason) } }

  func receive(_ event: CallEvent<Payload>) {
    switch event {
    case .responseStart(let start): report(.start(start))
    case .responseMessage(let message): report(.message(message.serialized))
    case .responseEnd(let end):
      if case .ended = state { return }
      state = .ended
      report(.end(end))
    case .requestStart, .requestMessage, .requestEnd, .metrics: break
    }
  }

  func wantInput(_ isWanted: Bool) { report(.wanted(isWanted)) }

  private func report(_ event: SubrequestEvent) {
    let pass = pass
    loop.schedule(at: .now) { pass(event) }
  }
}

/// Describes a method of which only the name is known: its messages are opaque bytes.
package enum OpaqueMethod {
  /// Makes a descriptor whose messages have no fields, so that all fields are kept as unknown ones.
  ///
  /// - Parameters:
  ///   - kind: Which sides are streams.
  ///   - hasNoSideEffects: Whether it can be called by GET.
  package static func descriptor(
    of name: MethodName, _ kind: CallKind = .unary, hasNoSideEffects: Bool = false
  ) throws -> MethodDescriptor {
    let parts = name.service.split(separator: ".").map(String.init)
    let package = parts.dropLast().joined(separator: ".")
    let message = "\(parts.last ?? "")OpaqueMessage"
    let type = package.isEmpty ? ".\(message)" : ".\(package).\(message)"
    // The field numbers are those of google/protobuf/descriptor.proto.
    let streams: [UInt8] =
      (kind.clientStreams ? [5 << 3, 1] : []) + (kind.serverStreams ? [6 << 3, 1] : [])
    // idempotency_level = NO_SIDE_EFFECTS
    let options = hasNoSideEffects ? field(4, [0x90, 0x02, 1]) : []
    let method = field(1, name.method) + field(2, type) + field(3, type) + options + streams
    let service = field(1, parts.last ?? "") + field(2, method)
    let file =
      field(1, "opaque.proto") + field(2, package) + field(4, field(1, message)) + field(6, service)
      + field(12, "proto3")
    let pool = DescriptorPool()
    try pool.add(SchemaBytes(field(1, file)), source: "a method known by its name")
    guard let found = try pool.method(service: name.service, method: name.method) else {
      throw RPCError(.internal, "\(name) is not a method name", origin: .client)
    }
    return found
  }

  private static func field(_ number: UInt8, _ text: String) -> [UInt8] { field(number, Array(text.utf8)) }

  private static func field(_ number: UInt8, _ content: [UInt8]) -> [UInt8] {
    var field = [number << 3 | 2]
    field.append(delimited: content)
    return field
  }
}
