import CPluginABI
import Interception
import RPCProtocols

// Messages and calls that a plugin makes, time, and other threads.
extension HostFunctions {
  enum Direction {
    case request, response
  }

  static func retry(
    _ host: Host?, _ token: rpcurl_token, _ nanoseconds: Int64, _ fields: UnsafePointer<rpcurl_field>?,
    _ count: Int
  ) -> Int32 {
    call(host) { instance throws(ABIFailure) in
      guard nanoseconds >= 0 else { throw invalid("the pause is negative") }
      _ = try headers(fields, count)
      // The chain keeps nothing of the request, so the value goes on.
      let result = settle(
        host, token, "retry",
        check: { stage throws(ABIFailure) in
          guard Stages.response.contains(stage) else { throw wrongStage(stage) }
        },
        { _, held in held.proceed() })
      if result < 0 { throw ABIFailure(result, instance.lastError.lossyString) }
    }
  }

  static func inject(
    _ host: Host?, _ token: rpcurl_token, _ message: UnsafePointer<rpcurl_local_message>?
  ) -> Int32 {
    unsupported(host, "inject")
  }

  static func inject(
    _ host: Host?, _ call: rpcurl_call, _ direction: Direction,
    _ message: UnsafePointer<rpcurl_local_message>?
  ) -> Int32 {
    unsupported(host, "inject")
  }

  static func after(
    _ host: Host?, _ call: rpcurl_call, _ nanoseconds: Int64, _ function: rpcurl_function?,
    _ argument: UnsafeMutableRawPointer?, _ timer: UnsafeMutablePointer<rpcurl_timer>?
  ) -> Int32 {
    unsupported(host, "after")
  }

  static func cancelTimer(_ host: Host?, _ call: rpcurl_call, _ timer: rpcurl_timer) -> Int32 {
    unsupported(host, "cancel_timer")
  }

  static func post(
    _ host: Host?, _ call: rpcurl_call, _ function: rpcurl_function?, _ argument: UnsafeMutableRawPointer?
  ) -> Int32 {
    unsupported(host, "post")
  }

  static func makeCall(
    _ host: Host?, _ call: rpcurl_call, _ own: UnsafePointer<rpcurl_own_call>?, _ done: rpcurl_done?,
    _ argument: UnsafeMutableRawPointer?
  ) -> Int32 {
    unsupported(host, "call")
  }

  private static func unsupported(_ host: Host?, _ what: String) -> Int32 {
    call(host) { _ throws(ABIFailure) in
      throw ABIFailure(RPCURL_EUNSUPPORTED, "\(what) is not possible in this host")
    }
  }
}
