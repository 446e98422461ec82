import RPCurlCommandSupport
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlSchemaTools
import Testing

@testable import RPCurlEngine

struct SymbolLookupTests {
  /// The failure for a method, as `WHAT: WHY` and the hint.
  private func failure(_ name: MethodName) throws -> (String, String?) {
    let pool = try ShopSchema.pool()
    let failure = try #require(throws: Failure.self) { _ = try SchemaSource.find(name, in: pool) }
    let message = try #require(failure.message)
    return ("\(message.what): \(message.why)", message.hint)
  }

  @Test(arguments: [
    ("shop.Orders/Plce", "no method Plce in shop.Orders", "did you mean shop.Orders/Place?"),
    ("Orders/Plce", "no method Plce in shop.Orders", "did you mean shop.Orders/Place?"),
    ("Orders/place", "no method place in shop.Orders", "did you mean shop.Orders/Place?"),
    ("Orders/Something", "no method Something in shop.Orders", "its methods are Place, Watch, Find"),
    ("orders/Place", "no service orders in the schema", "did you mean shop.Orders/Place?"),
    ("shop.Oders/Place", "no service shop.Oders in the schema", "did you mean shop.Orders/Place?"),
    ("shop.Payments/Pay", "no service shop.Payments in the schema", "services: shop.Orders, shop.Stock"),
  ])
  func suggestsMethodsOfExistingService(name: String, why: String, hint: String) throws {
    let failure = try failure(#require(MethodName(name)))
    // The error has the full name of the service.
    let what = why.hasSuffix(" shop.Orders") && !name.hasPrefix("shop.") ? "shop.\(name)" : name
    #expect(failure.0 == "\(what): \(why)")
    #expect(failure.1 == hint)
  }

  @Test(arguments: [
    MethodName(service: "shop", method: "Orders"), MethodName(service: "", method: "Orders"),
  ])
  func listsMethodsOfBareService(name: MethodName) throws {
    let failure = try failure(name)
    #expect(failure.0 == "shop.Orders: this is a service; a method is missing")
    #expect(failure.1 == "write shop.Orders/METHOD; its methods are Place, Watch, Find")
  }

  @Test(arguments: [
    ("shop.Orders", "Plce", true), ("shop.Payments", "Pay", true), ("", "Nothing", true),
    ("shop", "Orders", false),
  ])
  func causeIsThatTheSchemaLacksTheName(service: String, method: String, isLacking: Bool) throws {
    let pool = try ShopSchema.pool()
    let name = MethodName(service: service, method: method)
    let failure = #expect(throws: Failure.self) { _ = try SchemaSource.find(name, in: pool) }
    #expect(failure?.cause == (isLacking ? .unknownName : nil))
  }

  @Test func suggestsMethodsOfAllServices() throws {
    let failure = try failure(MethodName(service: "", method: "Fnd"))
    #expect(failure.1 == "did you mean shop.Orders/Find, or shop.Stock/Find?")
  }

  @Test(arguments: [
    ("Ordr", "not found in the schema", "did you mean shop.Order?"),
    ("Orders", "this is a service", "name a message"),
    ("uer", "not found in the schema", "did you mean shop.Query?"),
    ("Nothing", "not found in the schema", "run \"rpcurl list --kind message\" to see what exists"),
  ])
  func suggestsMessages(name: String, why: String, hint: String) throws {
    let lookup = SymbolLookup(try ShopSchema.pool())
    let failure = try #require(throws: Failure.self) { _ = try lookup.find(name, among: [.message]) }
    #expect(failure.message?.why == why)
    #expect(failure.message?.hint == hint)
  }
}
