import RPCurlCommandSupport
import RPCurlLanguage
import RPCurlProtocols

@testable import RPCurlProtobuf
@testable import RPCurlEngine

/// A session with two services and optionally a stream.
final class KnownSession: SessionKnowledge {
  let pool: DescriptorPool?
  var services = ["shop.Stock", "shop.Orders"]
  var currentRequestType: MessageType?
  let attributeKeys = ["tenant", "tier"]
  let interceptorNames = ["retry", "sign"]
  var openStreams: [(number: Int, note: String, response: MessageType?)] {
    [(2, "shop.Orders/Watch open, 0 received", responseType(of: "Watch")), (12, "", nil)]
  }

  init() throws {
    pool = try ShopSchema.pool()
  }

  func requestType(of method: String) -> MessageType? { known(method)?.input }

  func responseType(of method: String) -> MessageType? { known(method)?.output }

  private func known(_ method: String) -> MethodDescriptor? {
    let name = method.split(separator: "/").last.map(String.init) ?? method
    for service in services {
      if let found = try? pool?.service(named: service)?.method(named: name) { return found }
    }
    return nil
  }

  var scope: LanguageScope {
    var scope = LanguageScope(statuses: .codes, environment: ["HOME"])
    let order = try? pool?.messageType(named: "shop.Order")
    scope.types = order.map { [$0] } ?? []
    scope.variables = ["list", "order_id"]
    scope.last = LanguageScope.Call(
      type: order, words: CallValue.Word.ofLast, headers: ["x-id", "x-request-id"],
      details: ["google.rpc.ErrorInfo"])
    scope.request = LanguageScope.Call(type: order)
    scope.hasShortForm = true
    return scope
  }

  func learn(_ completion: @escaping () -> Void) { completion() }

  /// Opens a stream of orders.
  func open() throws -> KnownSession {
    currentRequestType = try pool?.messageType(named: "shop.Order")
    return self
  }
}
