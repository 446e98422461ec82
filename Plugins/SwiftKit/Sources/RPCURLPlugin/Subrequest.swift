import CRPCURLPlugin

/// A unary call that a plugin makes, such as for an access token.
public struct Subrequest: Sendable {
  /// `pkg.Service/Method`.
  public var method: String
  /// `http[s]://host[:port][/prefix]`; empty for the target of the current call.
  public var target: String
  /// Leading metadata.
  public var headers: [Headers.Field]
  /// The request message.
  public var message: Payload
  /// The timeout; `nil` for 30 seconds.
  public var timeout: Duration?
  /// The form of the response's message.
  public var responseForm: MessageForm

  /// Makes a call for ``Call/call(_:_:)``.
  public init(
    method: String, target: String = "", headers: [Headers.Field] = [], message: Payload,
    timeout: Duration? = nil,
    responseForm: MessageForm = .serialized
  ) {
    self.method = method
    self.target = target
    self.headers = headers
    self.message = message
    self.timeout = timeout
    self.responseForm = responseForm
  }
}

/// A form of messages; the host converts.
public enum MessageForm: UInt32, Sendable {
  /// In the call's codec, unconverted.
  case serialized
  /// ProtoJSON; requires a schema.
  case json
  /// Protobuf's binary form; requires a schema if the codec is `json`.
  case binary
}

/// The result of a plugin's own call.
public struct SubrequestResponse: Sendable {
  /// The status.
  public var status: Status
  /// Leading metadata.
  public var headers: [Headers.Field]
  /// The message in the requested form; empty if the call failed.
  public var message: [UInt8]
  /// Trailing metadata.
  public var trailers: [Headers.Field]

  /// The fields of the message, readable until the closure returns; nil without a message, and if the schema does not have
  /// the method.
  public let fields: Message?

  /// The message as text.
  public var json: String { String(decoding: message, as: UTF8.self) }

  init(_ plain: rpcurl_own_response, _ host: Host) {
    status = plain.status.map { Status($0.pointee) } ?? .ok
    headers = [Headers.Field](plain.headers, plain.header_count)
    message = [UInt8](plain.message)
    trailers = [Headers.Field](plain.trailers, plain.trailer_count)
    fields = plain.fields.id == 0 ? nil : Message(token: Token(host: host, plain: plain.fields))
  }
}

extension Call {
  /// Makes a call for the plugin, which does not pass this plugin. `[loop]`
  ///
  /// `done` runs exactly once, on the loop's thread; if the current call ends first, with
  /// ``StatusCode/canceled``. The interceptor's methods run on that thread too, so `done` may capture it.
  public func call(_ own: Subrequest, _ done: @escaping (SubrequestResponse) -> Void) throws(HostError) {
    try host.call(own, in: plain, done)
  }
}

extension Host {
  func call(
    _ own: Subrequest, in call: rpcurl_call, _ done: @escaping (SubrequestResponse) -> Void
  ) throws(HostError) {
    let lender = Lender()
    let plainCall = lender.ownCall(own)
    let argument = Unmanaged.passRetained(Completion(self, done))
    let result = withUnsafePointer(to: plainCall) { plainCall in
      pointer.pointee.call(
        pointer, call, plainCall,
        { _, argument, response in
          guard let argument, let response else { return }
          let completion = Unmanaged<Completion>.fromOpaque(argument).takeRetainedValue()
          completion.run(SubrequestResponse(response.pointee, completion.host))
        }, argument.toOpaque())
    }
    withExtendedLifetime(lender) {}
    if result < 0 { argument.release() }
    try check(result)
  }
}

private final class Completion {
  let host: Host
  let run: (SubrequestResponse) -> Void

  init(_ host: Host, _ run: @escaping (SubrequestResponse) -> Void) {
    self.host = host
    self.run = run
  }
}

extension Lender {
  func ownCall(_ own: Subrequest) -> rpcurl_own_call {
    rpcurl_own_call(
      struct_size: MemoryLayout<rpcurl_own_call>.size, method: text(own.method),
      target: text(own.target), headers: fields(own.headers), header_count: own.headers.count,
      message: array([message(own.message)]), timeout_ns: own.timeout?.nanoseconds ?? 0,
      response_form: own.responseForm.rawValue, reserved: 0)
  }
}
