import RPCurlCommandSupport
import RPCurlLanguage
import RPCurlProtocols

@testable import RPCurlProtobuf
@testable import RPCurlEngine

/// A session with two services, a few commands and optionally a stream.
final class KnownSession: SessionKnowledge {
  let pool: DescriptorPool?
  var services = ["shop.Stock", "shop.Orders"]
  var currentRequestType: MessageType?
  let attributeKeys = ["tenant", "tier"]
  let interceptorNames = ["retry", "sign"]
  let openStreams = [(number: 2, note: "shop.Orders/Watch open, 0 received"), (number: 12, note: "")]
  var commands = [
    SessionVerb(
      name: "attribute", usage: "attribute KEY=VALUE", summary: "", arguments: [.attribute, .text]),
    SessionVerb(
      name: "call", usage: "call METHOD [JSON]", summary: "Call a method", arguments: [.method, .json]),
    SessionVerb(
      name: "close", usage: "close", summary: "Half-close the stream", arguments: []),
    SessionVerb(
      name: "describe", usage: "describe [SYMBOL]", summary: "Show the schema", arguments: [.symbol]),
    SessionVerb(name: "expect", usage: "expect CHECK", summary: "Check it", arguments: [.condition]),
    SessionVerb(name: "header", usage: "header NAME: VALUE", summary: "", arguments: [.header, .text]),
    SessionVerb(name: "open", usage: "open METHOD [JSON]", summary: "", arguments: [.method, .json]),
    SessionVerb(name: "plugin", usage: "plugin load PATH", summary: "", arguments: [.file, .text]),
    SessionVerb(name: "source", usage: "source FILE", summary: "Run a file", arguments: [.file]),
    SessionVerb(name: "switch", usage: "switch N", summary: "Send to it", arguments: [.stream]),
    SessionVerb(name: "use", usage: "use NAME[,KEY=VALUE…]", summary: "Add one", arguments: [.specification]),
    SessionVerb(name: "remove", usage: "remove N|NAME", summary: "", arguments: [.interceptor]),
    SessionVerb(
      name: "verbose", usage: "verbose on|off", summary: "Show more", arguments: [.choice(["on", "off"])]),
  ]

  var begun = ""

  init() throws {
    pool = try ShopSchema.pool()
  }

  func requestType(of method: String) -> MessageType? {
    let name = method.split(separator: "/").last.map(String.init) ?? method
    for service in services {
      if let found = try? pool?.service(named: service)?.method(named: name) { return found.input }
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
