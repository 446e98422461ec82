import RPCurlCommandSupport
import RPCurlProgram
import Testing

@testable import RPCurlEngine

extension CallPlan {
  /// The plan of a call of a method of `shop.Orders`, with options of the command line.
  static func ofOrders(_ method: String, _ options: [String] = []) throws -> CallPlan {
    let pool = try ShopSchema.pool()
    let arguments = Parser.parse(["call", "http://a", "shop.Orders/\(method)"] + options)
    let settings = try CallSettings(
      arguments, arguments.tls, isTerminal: false,
      ArgumentSources(environment: { _ in nil }, secrets: SecretPrompt()))
    let found = try #require(try pool.service(named: "shop.Orders")?.method(named: method))
    return try CallPlan(
      arguments, settings, (pool, found), reflection: nil, ChainSource(), sharesConnection: false)
  }
}
