import CRPCURLPlugin

/// A unary call that a plugin makes, such as for an access token.
public struct OwnCall: Sendable {
  /// `pkg.Service/Method`.
  public var method: String
  /// `http[s]://host[:port][/prefix]`; empty for the target of the current call.
  public var target: String
  /// Leading metadata.
  public var headers: [Field]
  /// The request message.
  public var message: NewMessage
  /// The timeout; `nil` for the default.
  public var timeout: Duration?
  /// Whether the response is converted to ProtoJSON, which requires a schema, or stays serialized.
  public var wantsJSON: Bool

  /// Makes a call for ``Call/call(_:_:)``.
  public init(
    method: String, target: String = "", headers: [Field] = [], message: NewMessage, timeout: Duration? = nil,
    wantsJSON: Bool = false
  ) {
    self.method = method
    self.target = target
    self.headers = headers
    self.message = message
    self.timeout = timeout
    self.wantsJSON = wantsJSON
  }
}

/// The result of a plugin's own call.
public struct OwnResponse: Sendable {
  /// The status.
  public var status: Status
  /// Leading metadata.
  public var headers: [Field]
  /// The message in the requested form; empty if the call failed.
  public var message: [UInt8]
  /// Trailing metadata.
  public var trailers: [Field]

  /// The message as text.
  public var json: String { String(decoding: message, as: UTF8.self) }

  init(_ plain: rpcurl_own_response) {
    status = plain.status.map { Status($0.pointee) } ?? .ok
    headers = [Field](plain.headers, plain.header_count)
    message = [UInt8](plain.message)
    trailers = [Field](plain.trailers, plain.trailer_count)
  }
}

extension Call {
  /// Makes a call for the plugin, which does not pass this plugin. `[loop]`
  ///
  /// `done` runs exactly once, on the loop's thread; if the current call ends first, with the code 1
  /// (canceled). The interceptor's methods run on that thread too, so `done` may capture it.
  public func call(_ own: OwnCall, _ done: @escaping (OwnResponse) -> Void) throws(HostError) {
    let lender = Lender()
    let plainCall = lender.ownCall(own)
    let argument = Unmanaged.passRetained(Completion(done))
    let result = withUnsafePointer(to: plainCall) { pointer in
      host.pointer.pointee.call(
        host.pointer, plain, pointer,
        { _, argument, response in
          guard let argument, let response else { return }
          Unmanaged<Completion>.fromOpaque(argument).takeRetainedValue().run(OwnResponse(response.pointee))
        }, argument.toOpaque())
    }
    withExtendedLifetime(lender) {}
    if result < 0 { argument.release() }
    try host.check(result)
  }
}

private final class Completion {
  let run: (OwnResponse) -> Void

  init(_ run: @escaping (OwnResponse) -> Void) { self.run = run }
}

extension Lender {
  func ownCall(_ own: OwnCall) -> rpcurl_own_call {
    rpcurl_own_call(
      struct_size: MemoryLayout<rpcurl_own_call>.size, method: text(own.method),
      target: text(own.target), headers: fields(own.headers), header_count: own.headers.count,
      message: array([message(own.message)]), timeout_ns: own.timeout?.nanoseconds ?? 0,
      response_form: UInt32(own.wantsJSON ? RPCURL_FORM_JSON : RPCURL_FORM_SERIALIZED), reserved: 0)
  }
}
