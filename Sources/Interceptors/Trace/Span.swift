import RPCurlBase
import RPCurlChain
import RPCurlProtocols

/// A span of a trace (OpenTelemetry): a call, or one attempt at it.
final class Span {
  /// The role of a span.
  enum Kind: Int {
    /// Within this program: a call, with its attempts.
    case `internal` = 1
    /// A request to a server: an attempt.
    case client = 3
  }

  /// The beginning of a span.
  final class Beginning: Sendable {
    /// The identity of the span, and the flags of its trace.
    let identity: TraceParent
    let traceState: String
    /// The time on the loop's clock.
    let instant: MonotonicClock.Instant
    /// The same time, in nanoseconds since 1970.
    let time: Int64

    init(_ identity: TraceParent, traceState: String, _ instant: MonotonicClock.Instant, time: Int64) {
      self.identity = identity
      self.traceState = traceState
      self.instant = instant
      self.time = time
    }

    /// The time of another instant, in nanoseconds since 1970.
    func time(of instant: MonotonicClock.Instant) -> Int64 { time + (instant - self.instant).nanoseconds }
  }

  /// The maximum number of messages in a span. OpenTelemetry limits events to the same number.
  private static let maxEvents = 128

  let beginning: Beginning
  private let parentID: UInt64?
  private let kind: Kind
  private let facts: CallFacts
  /// The URL of the server.
  private let target: String
  /// The attributes of the call or the attempt, with secrets redacted.
  private let attributes: [(key: String, value: String)]
  private let redaction: Redaction
  /// The serialized events.
  private var events = OTLPMessage()
  private var eventCount = 0

  /// - Parameters:
  ///   - parentID: The span that caused this one; nil for the first of a trace.
  ///   - facts: The facts of the call or the attempt.
  ///   - target: The URL of the server.
  ///   - attributes: The attributes at its start.
  ///   - secrets: The credentials of the call, which the span does not contain.
  init(
    _ beginning: Beginning, parentID: UInt64?, _ kind: Kind, _ facts: CallFacts, target: String,
    _ attributes: CallAttributes, _ secrets: CallSecrets
  ) {
    self.beginning = beginning
    self.parentID = parentID
    self.kind = kind
    self.facts = facts
    self.target = target
    redaction = Redaction(secrets)
    self.attributes = redaction.attributes(attributes)
  }

  /// Adds a message; counts it if there are too many.
  ///
  /// - Parameter number: The number of the message in its direction, from 1.
  func addMessage(isSent: Bool, number: Int, sizeBytes: Int, at instant: MonotonicClock.Instant) {
    eventCount += 1
    guard eventCount <= Self.maxEvents else { return }
    var event = OTLPMessage()
    event.add(1, fixed64: UInt64(clamping: beginning.time(of: instant)))
    event.add(2, "rpc.message")
    event.add(3, attribute: "rpc.message.type", isSent ? "SENT" : "RECEIVED")
    event.add(3, attribute: "rpc.message.id", number)
    event.add(3, attribute: "rpc.message.uncompressed_size", sizeBytes)
    events.add(11, bytes: event.bytes)
  }

  /// The serialized `Span`. It contains no metadata and no messages.
  ///
  /// - Parameters:
  ///   - end: When the span ends.
  ///   - error: How the call failed; nil is the status `ok`.
  func serialized(end: MonotonicClock.Instant, _ error: RPCError?) -> [UInt8] {
    let identity = beginning.identity
    var span = OTLPMessage()
    span.add(1, bytes: identity.traceID.bytes)
    span.add(2, bytes: SpanID.bytes(identity.spanID))
    if !beginning.traceState.isEmpty { span.add(3, beginning.traceState) }
    if let parentID { span.add(4, bytes: SpanID.bytes(parentID)) }
    span.add(5, facts.method.description)
    span.add(6, varint: kind.rawValue)
    span.add(7, fixed64: UInt64(clamping: beginning.time))
    span.add(8, fixed64: UInt64(clamping: beginning.time(of: end)))
    span.add(9, attributesOf: facts.method, facts.protocolName)
    span.add(9, attributesOf: error?.code ?? .ok, facts.protocolName)
    if let origin = Origin(url: target) {
      span.add(9, attribute: "server.address", origin.host)
      span.add(9, attribute: "server.port", origin.port)
    }
    if kind == .client { span.add(9, attribute: "rpcurl.attempt", facts.attempt) }
    for (key, value) in attributes { span.add(9, attribute: "rpcurl.attribute.\(key)", value) }
    span.append(events)
    if eventCount > Self.maxEvents { span.add(12, varint: eventCount - Self.maxEvents) }
    if let error {
      var status = OTLPMessage()
      if !error.message.isEmpty { status.add(2, String(redaction.text(error.message).prefix(1024))) }
      status.add(3, varint: 2)
      span.add(15, bytes: status.bytes)
    }
    span.add(16, fixed32: UInt32(identity.flags))
    return span.bytes
  }
}
