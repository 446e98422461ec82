import CPluginABI
import Interception
import RPCProtocols

// The target, the timeout and the method of a request.
extension HostFunctions {
  static func getStart(
    _ host: Host?, _ token: rpcurl_token, _ start: UnsafeMutablePointer<rpcurl_start>?
  ) -> Int32 {
    fill(host, token, start) { value, arena in
      guard case .requestStart(let found) = value else { return nil }
      let left = found.deadline.map { max(.zero, $0 - .now) }
      return rpcurl_start(
        struct_size: MemoryLayout<rpcurl_start>.size, target: arena.text(found.target),
        timeout_ns: left?.nanoseconds ?? -1, method: arena.text(found.method.description))
    }
  }

  static func setTarget(_ host: Host?, _ token: rpcurl_token, _ target: rpcurl_text) -> Int32 {
    call(host) { instance throws(ABIFailure) in
      let target = try checkedTarget(target)
      try withStart(instance, token) { $0.target = target }
    }
  }

  static func setTimeout(_ host: Host?, _ token: rpcurl_token, _ nanoseconds: Int64) -> Int32 {
    call(host) { instance throws(ABIFailure) in
      let deadline = nanoseconds < 0 ? nil : MonotonicClock.now + .nanoseconds(nanoseconds)
      try withStart(instance, token) { $0.deadline = deadline }
    }
  }

  static func setMethod(_ host: Host?, _ token: rpcurl_token, _ method: rpcurl_text) -> Int32 {
    call(host) { instance throws(ABIFailure) in
      let method = try methodName(try method.string())
      try withStart(instance, token) { $0.method = method }
    }
  }

  static func methodName(_ text: String) throws(ABIFailure) -> MethodName {
    guard let name = MethodName(text) else {
      throw invalid("\"\(text)\" is not of the form pkg.Service/Method")
    }
    return name
  }

  /// Parses a target, and removes a trailing slash.
  static func checkedTarget(_ text: rpcurl_text) throws(ABIFailure) -> String {
    let target = try text.string()
    do throws(RPCError) {
      return try TargetSyntax.checked(target)
    } catch {
      throw invalid(error.message)
    }
  }

  private static func withStart(
    _ instance: PluginInstance, _ token: rpcurl_token, _ body: (inout RequestStart) -> Void
  ) throws(ABIFailure) {
    try value(instance, token) { value, _ throws(ABIFailure) in
      guard case .requestStart(var start) = value else { throw wrongStage() }
      body(&start)
      value = .requestStart(start)
    }
  }
}
