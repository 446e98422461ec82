import RPCurlBase
import RPCurlChain
import RPCurlProtocols
import RPCurlTransport

/// A request for any number of calls: what they share is derived once.
package final class PreparedRequest {
  /// The parameters of the calls.
  package let request: CallRequest

  let facts: CallFacts
  let messageCodec: MessageCodec
  let builder: ChainBuilder
  let connection: SharedConnectionOptions
  /// The secrets that are known before a call, besides those of headers and attributes.
  let secrets: [String]
  private let parameters: CallParameters
  /// The last HTTP request, and the start that it was made from.
  private var last: (start: RequestStart, request: HTTPRequest)?

  init(_ request: CallRequest) {
    self.request = request
    facts = request.facts
    messageCodec = request.messageCodec
    builder = ChainBuilder(request.interceptors)
    connection = SharedConnectionOptions(request.connection)
    secrets = request.secrets + request.connection.passwords
    var parameters = request.wire
    parameters.kind = request.method.kind
    parameters.sendsText =
      request.headers.first(HeaderSyntax.contentType)
      .map { request.protocolName.isText($0, parameters.codec) } ?? false
    self.parameters = parameters
  }

  /// The wire protocol of a new call.
  ///
  /// - Parameter hasNoSideEffects: Whether that is known of the method that leaves the chain, which an interceptor may have
  ///   changed.
  func makeWire(hasNoSideEffects: Bool) -> any WireProtocol {
    var parameters = parameters
    if !hasNoSideEffects { parameters.usesGET = false }
    return WireProtocols.make(request.protocolName, parameters)
  }

  /// The start of an attempt, whose deadline includes the timeout that interceptors have set in a header.
  ///
  /// - Parameters:
  ///   - start: The start, as it leaves the chain.
  ///   - begin: The begin of the attempt.
  /// - Throws: ``RPCError`` if the timeout is invalid.
  func limited(_ start: RequestStart, from begin: MonotonicClock.Instant) throws(RPCError) -> RequestStart {
    guard start.headers.first(request.protocolName.timeoutHeader.name) != nil else { return start }
    try request.protocolName.checkTimeout(in: start.headers)
    var start = start
    let limit = start.deadline.map { $0 - begin }
    if let timeout = request.protocolName.takeTimeout(from: &start.headers, limit: limit), timeout != limit {
      start.deadline = begin + timeout
    }
    return start
  }

  /// The HTTP request that starts a call.
  ///
  /// - Parameters:
  ///   - start: The start, as it leaves the chain.
  ///   - wire: The wire protocol of the call.
  /// - Throws: ``RPCError`` if a header or the target is invalid, or credentials would be sent unprotected.
  func httpRequest(_ start: RequestStart, _ wire: any WireProtocol) throws(RPCError) -> HTTPRequest {
    // The timeout differs from call to call, and so does the message in a URL.
    let isShared = start.deadline == nil && !parameters.usesGET
    if isShared, let last, last.start == start { return last.request }
    // An interceptor may have changed the target.
    var checked = start
    if start.target != facts.target { checked.target = try TargetSyntax.checked(start.target) }
    let httpRequest = try wire.makeRequest(checked, timeout: start.deadline.map { $0 - .now })
    if start.credentials != nil { try request.route.check(start) }
    if isShared { last = (start, httpRequest) }
    return httpRequest
  }
}
