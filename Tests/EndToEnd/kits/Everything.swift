// Uses the functions of the kit for attributes, methods, own messages, attempts, and what is outside of calls.
import Synchronization

let pendingCount = Atomic<Int>(0)

/// Counts the objects that closures capture.
final class Captured: Sendable {
  init() { pendingCount.add(1, ordering: .relaxed) }
  deinit { pendingCount.subtract(1, ordering: .relaxed) }
}

final class Everything: Plugin {
  static let name = "everything"
  static let configurationHelp = "url=URL  what is fetched outside of calls"
  static let messages = MessageAccesses(request: .none, response: .none)
  let possibleStages: Stages = [.requestStart, .responseStart, .attemptEnd, .metrics]
  private let host: Host
  private var url = ""

  init(host: Host) { self.host = host }

  func configure(_ key: String, _ value: String) { url = value }

  func ready() throws {
    try host.share("kit", "swift")
    let shared = try host.shared("kit") ?? "not set"
    let missing = try host.shared("none")
    host.log(.info, "shared \(shared), none \(missing == nil)")
    try host.post { [host] in host.log(.info, "posted") }
    try host.after(.zero) { [host] in host.log(.info, "timer") }
    let cancelled = try host.after(.zero) { [host] in host.log(.info, "cancelled timer") }
    try host.cancel(cancelled)
    let captured = Captured()
    try host.after(.seconds(3600)) { withExtendedLifetime(captured) {} }
    try host.fetch(HTTPFetch(url: url)) { [host] response in
      host.log(.info, "fetched \(response.status.code) \(response.httpStatus)")
    }
  }

  func open(_ call: Call) throws -> (any StagedInterceptor)? {
    let sent = call.headers.contains { $0.name == "x-sent" }
    let left = try call.timeLeft()
    host.log(.info, "\(call.contentType) \(sent) \(call.compression.isEmpty) \(left != nil)")
    return EverythingCall(call)
  }

  func conclude() {
    let own = Subrequest(
      method: "demo.v1.Demo/Hello", message: .json(#"{"name":"outside"}"#), responseForm: .json)
    do {
      try host.call(own) { [host] in host.log(.info, "call \($0.status.code) \($0.json)") }
    } catch {
      host.log(.error, "\(error)")
    }
  }

  func unload() {
    host.log(.info, "\(pendingCount.load(ordering: .relaxed)) closures are kept")
    do {
      try host.post {}
    } catch {
      host.log(.info, "ended \(error.isEnded)")
    }
  }
}

final class EverythingCall: StagedInterceptor {
  let stages: Stages = [.requestStart, .responseStart, .attemptEnd, .metrics]
  let requirements = InterceptorRequirements(replayLimitBytes: 1 << 20)
  private let call: Call
  private var hasRetried = false

  init(_ call: Call) { self.call = call }

  func requestStart(_ start: RequestStart) throws -> Verdict {
    try start.headers.set("x-tier", call.attribute("tier") ?? "none")
    try call.setAttribute("kit", "swift")
    try call.setAttribute("gone", nil)
    try start.setMethod(call.attribute("route") ?? start.method())
    let message = try call.makeMessage("demo.v1.Demo/Hello")
    try message.fields.set("name", .string("kit"))
    let own = Subrequest(method: "demo.v1.Demo/Hello", message: .message(message))
    try call.call(own) { response in
      do {
        guard let fields = response.fields else { throw Failure("the response has no fields") }
        let text: String = try fields.get("message")
        try start.headers.set("x-greeting", text)
        try start.token.proceed()
      } catch {
        try? start.token.fail(Status(.internal, "\(error)"))
      }
    }
    do {
      let number = try message.fields.get("name", as: Int.self)
      call.host.log(.error, "\(number)")
    } catch {
      call.host.log(.info, "\(error) \(error.isWrongType)")
    }
    return .later
  }

  func responseStart(_ start: ResponseStart) throws -> Verdict {
    guard !hasRetried else { return .proceed }
    hasRetried = true
    return .retry(after: .zero, headers: [Headers.Field(name: "x-again", value: "1")])
  }

  func attemptEnd(_ report: AttemptReport) {
    call.host.log(.info, "attempt \(report.numbers) \(report.status.code)")
  }

  func metrics(_ metrics: MetricsValue) throws -> Verdict {
    try call.host.add(1.5, toMetric: "kit_total")
    return .proceed
  }
}

/// The entry point that rpcurl looks up.
@_cdecl("rpcurl_plugin_entry") public func entry() -> UnsafeRawPointer { export(Everything.self) }
