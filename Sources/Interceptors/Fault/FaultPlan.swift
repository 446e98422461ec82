import RPCurlProtocols

/// The possible faults of a call, and their percentages.
struct FaultPlan: Sendable, Equatable {
  /// How a call is ended instead of sent.
  struct Abort: Sendable, Equatable {
    let code: StatusCode
    /// The message of the error.
    let message: String

    /// The text of Envoy's filter.
    private static let words = "fault filter abort"

    /// An abort with a status.
    init(code: StatusCode) {
      self.code = code
      message = Self.words
    }

    /// An abort with an HTTP status, mapped as gRPC and Connect clients do; `nil` if it is invalid.
    init?(httpStatus: Int) {
      guard (200..<600).contains(httpStatus) else { return nil }
      code = HTTPStatusMapping.grpc(httpStatus)
      message = "\(Self.words) (HTTP \(httpStatus))"
    }
  }

  /// The possible damage to the messages of one direction, in percent.
  struct Damage: Sendable, Equatable {
    var drop = 0.0
    var truncate = 0.0
    var corrupt = 0.0

    var isNone: Bool { self == Damage() }
    /// Whether the bytes of messages may be damaged.
    var changesBytes: Bool { truncate > 0 || corrupt > 0 }
  }

  var delay: Duration?
  var delayPercent = 100.0
  var abort: Abort?
  var abortPercent = 100.0
  /// The limit for the response's messages, in bytes a second.
  var bytesPerSecond: Double?
  var ratePercent = 100.0
  var request = Damage()
  var response = Damage()
}

/// Envoy's headers by which a caller requests faults.
enum FaultHeaders {
  private static let prefix = "x-envoy-fault-"

  /// Applies the headers to the plan, and removes them, so that the fault is not injected again further on.
  /// Ignores invalid values, as Envoy does.
  static func apply(_ headers: inout Headers, to plan: FaultPlan) -> FaultPlan {
    var plan = plan
    if let milliseconds = number(headers, "delay-request") {
      plan.delay = .milliseconds(milliseconds)
      plan.delayPercent = percent(headers, "delay-request-percentage", limit: plan.delayPercent)
    }
    if let abort = abort(headers) {
      plan.abort = abort
      plan.abortPercent = percent(headers, "abort-request-percentage", limit: plan.abortPercent)
    }
    if let kibibytes = number(headers, "throughput-response"), kibibytes > 0 {
      plan.bytesPerSecond = Double(kibibytes) * 1024
      plan.ratePercent = percent(headers, "throughput-response-percentage", limit: plan.ratePercent)
    }
    for field in headers.fields where field.name.hasPrefix(prefix) { headers.remove(field.name) }
    return plan
  }

  /// An HTTP status takes precedence over a gRPC status.
  private static func abort(_ headers: Headers) -> FaultPlan.Abort? {
    if let status = number(headers, "abort-request"), let abort = FaultPlan.Abort(httpStatus: status) {
      return abort
    }
    guard let number = number(headers, "abort-grpc-request"), number > 0 else { return nil }
    return FaultPlan.Abort(code: StatusCode(rawValue: number) ?? .unknown)
  }

  private static func percent(_ headers: Headers, _ name: String, limit: Double) -> Double {
    min(number(headers, name).map(Double.init) ?? limit, limit)
  }

  private static func number(_ headers: Headers, _ name: String) -> Int? {
    guard let number = headers.first(prefix + name).flatMap(Int.init), (0...1_000_000_000).contains(number)
    else { return nil }
    return number
  }
}
