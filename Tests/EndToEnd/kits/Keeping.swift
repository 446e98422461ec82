// Each call has a timer that never runs, which keeps the call, the interceptor and an object that is counted.
import Synchronization

let made = Atomic<Int>(0)
let alive = Atomic<Int>(0)

final class Counted {
  init() {
    made.add(1, ordering: .relaxed)
    alive.add(1, ordering: .relaxed)
  }
  deinit { alive.subtract(1, ordering: .relaxed) }
}

final class Keeping: Plugin {
  static let name = "keeping"
  static let version = "1"
  static let summary = "keeps its calls"
  private let host: Host

  init(host: Host) { self.host = host }
  func open(_ call: Call) -> (any StagedInterceptor)? { KeepingCall(call) }
  func unload() {
    host.log(.info, "\(made.load(ordering: .relaxed)) made, \(alive.load(ordering: .relaxed)) alive")
  }
}

final class KeepingCall: StagedInterceptor {
  let stages: Stages = [.requestStart, .responseEnd]
  private let call: Call
  private let counted = Counted()

  init(_ call: Call) { self.call = call }

  func requestStart(_ start: RequestStart) throws -> Verdict {
    try call.after(.seconds(3600)) { [self, call] in withExtendedLifetime((counted, call)) {} }
    if call.method.hasSuffix("/Count") { try logSchema() }
    return .proceed
  }

  private func logSchema() throws {
    let service = try call.service(named: "demo.v1.Demo")
    let method = service?.methods.first { $0.name == "Count" }
    let type = try call.messageType(named: method?.input ?? "")
    let values = try call.enumType(named: "google.protobuf.NullValue")?.values
    call.host.log(
      .debug, "\(method?.kind ?? .unary) \(type?.fields.map { $0.name } ?? []) \(values?.count ?? 0)")
    call.host.log(.debug, "none: \(try call.messageType(named: "demo.v1.None") == nil)")
    call.host.log(.debug, "schema: \(try call.schema().count) bytes")
  }

  func responseEnd(_ end: ResponseEnd) throws -> Verdict {
    // Not possible without a limit for the request: the value is forwarded.
    if call.method.hasSuffix("/Fail") { return .retry(after: .zero) }
    if call.method.hasSuffix("/Count") { return .proceed }
    var status = Status(.failedPrecondition, "not now")
    for number in 1...100 {
      let text = Array("detail \(number) of a status".utf8)
      status.details.append(
        StatusDetail(typeName: "google.protobuf.StringValue", value: [10, UInt8(text.count)] + text))
    }
    try end.setStatus(status)
    return .proceed
  }
}

/// The entry point that rpcurl looks up.
@_cdecl("rpcurl_plugin_entry") public func entry() -> UnsafeRawPointer { export(Keeping.self) }
