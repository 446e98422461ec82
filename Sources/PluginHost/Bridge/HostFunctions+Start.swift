import RPCurlBase
import RPCurlChain
import RPCurlCPlugins
import RPCurlProtocols

// The target, the timeout and the method of a request.
extension HostFunctions {
  func setTarget(_ token: rpcurl_token, _ target: rpcurl_text) throws {
    let target = try Self.checkedTarget(target)
    try withStart(token) { $0.target = target }
  }

  func setTimeout(_ token: rpcurl_token, _ nanoseconds: Int64) throws {
    let deadline = nanoseconds < 0 ? nil : MonotonicClock.now + .nanoseconds(nanoseconds)
    try withStart(token) { $0.deadline = deadline }
  }

  func setMethod(_ token: rpcurl_token, _ method: rpcurl_text) throws {
    let method = try Self.methodName(try method.string())
    try withStart(token) { $0.method = method }
  }

  static func methodName(_ text: String) throws(ABIFailure) -> MethodName {
    guard let name = MethodName(text) else {
      throw .invalid("\"\(text)\" is not of the form pkg.Service/Method")
    }
    return name
  }

  /// Parses a target, and removes a trailing slash.
  static func checkedTarget(_ text: rpcurl_text) throws(ABIFailure) -> String {
    let target = try text.string()
    do throws(RPCError) {
      return try TargetSyntax.checked(target)
    } catch {
      throw .invalid(error.message)
    }
  }

  private func withStart(_ token: rpcurl_token, _ body: (inout RequestStart) -> Void) throws {
    try value(token) { value, _ in
      guard case .requestStart(var start) = value else { throw ABIFailure.wrongStage() }
      body(&start)
      value = .requestStart(start)
    }
  }
}

extension rpcurl_start {
  init?(_ value: CallEvent<MessageValue>, _ arena: Arena) {
    guard case .requestStart(let start) = value else { return nil }
    let left = start.deadline.map { max(.zero, $0 - .now) }
    self.init(
      struct_size: MemoryLayout<rpcurl_start>.size, target: arena.text(start.target),
      timeout_ns: left?.nanoseconds ?? -1, method: arena.text(start.method.description))
  }
}
