import RPCurlProtocols

/// What was sent of a request, kept so that it can be sent again.
struct RequestRecord {
  let limitBytes: Int
  var start: RequestStart?
  /// The messages, serialized, as they left the upper chain; empty when they are not kept any more.
  private(set) var messages: [MessageValue] = []
  /// Whether the request was half-closed.
  var isClosed = false
  private var sizeBytes = 0
  private var exceedsLimit = false

  init(limitBytes: Int) {
    self.limitBytes = limitBytes
  }

  /// Whether all of the request is recorded, so that it can be sent again.
  var isComplete: Bool { start != nil && !exceedsLimit }

  /// Whether the record has reached its limit.
  var isFull: Bool { sizeBytes >= limitBytes }

  /// Appends a message; returns false if messages are not recorded any more.
  mutating func append(_ message: MessageValue) -> Bool {
    guard !exceedsLimit else { return false }
    messages.append(message.serializedOnly)
    sizeBytes += message.sizeBytes
    return true
  }

  /// Discards the messages if there are more than the limit allows.
  mutating func enforceLimit() {
    guard !exceedsLimit, sizeBytes > limitBytes else { return }
    exceedsLimit = true
    messages = []
  }

  /// Changes the start for the attempts that follow.
  mutating func apply(_ change: RequestChange) {
    switch change {
    case .headers(let headers): replaceHeaders(headers)
    case .start(let new): start = new
    }
  }

  /// Sets headers of the request, in place of those that have their names.
  mutating func replaceHeaders(_ headers: Headers) {
    for field in headers.fields { start?.headers.remove(field.name) }
    for field in headers.fields { start?.headers.add(field.name, field.value) }
  }

  mutating func discardMessages() { messages = [] }

  /// Discards everything: the request is not sent again.
  mutating func discard() {
    start = nil
    messages = []
  }
}

/// How the request of the next attempt differs from that of the attempt before.
enum RequestChange: Sendable {
  /// These headers replace those of the same names.
  case headers(Headers)
  /// This start replaces the one before.
  case start(RequestStart)

  /// Whether it changes nothing.
  var isEmpty: Bool {
    if case .headers(let headers) = self { headers.isEmpty } else { false }
  }
}

/// What the attempts at one call took, added up.
struct AttemptUsage {
  /// How many attempts were started.
  var startedCount = 0
  /// The metrics of the first attempt that connected.
  private var connected: CallMetrics?
  private var sentBytes = 0
  private var receivedBytes = 0
  /// How many attempts were given up and measured, and how many attempts they report: an attempt whose interceptors
  /// retry reports several.
  private var measured = (count: 0, reported: 0)

  /// Adds the metrics of an attempt that was given up.
  mutating func add(_ metrics: CallMetrics) {
    if connected == nil, metrics.connect != nil { connected = metrics }
    measured = (measured.count + 1, Self.sum(measured.reported, metrics.attempts))
    sentBytes = Self.sum(sentBytes, metrics.sentBytes)
    receivedBytes = Self.sum(receivedBytes, metrics.receivedBytes)
  }

  /// The metrics of the call.
  ///
  /// - Parameter last: Those of the last attempt; nil if it was not measured.
  func total(with last: CallMetrics?) -> CallMetrics {
    var metrics = last ?? CallMetrics()
    if let connected {
      metrics.resolve = connected.resolve
      metrics.connect = connected.connect
      metrics.tls = connected.tls
    }
    metrics.sentBytes = Self.sum(metrics.sentBytes, sentBytes)
    metrics.receivedBytes = Self.sum(metrics.receivedBytes, receivedBytes)
    // An attempt that was not measured counts as one.
    let unmeasured = startedCount - measured.count - (last == nil ? 0 : 1)
    let reported = Self.sum(measured.reported, last?.attempts ?? 0)
    metrics.attempts = max(Self.sum(reported, unmeasured), 1)
    return metrics
  }

  private static func sum(_ one: Int, _ other: Int) -> Int { one.saturatingSum(other) }
}

extension Int {
  /// The sum, at most the highest number: interceptors may set any number in metrics.
  package func saturatingSum(_ other: Int) -> Int {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}

extension CallMetrics {
  /// The same metrics, with the times counted from a moment that was `offset` earlier.
  func counted(from offset: Duration) -> CallMetrics {
    var metrics = self
    metrics.resolve = resolve.map { $0 + offset }
    metrics.connect = connect.map { $0 + offset }
    metrics.tls = tls.map { $0 + offset }
    metrics.firstByte = firstByte.map { $0 + offset }
    return metrics
  }
}
