import RPCurlCommandSupport
import RPCurlPlatform
import RPCurlProgram
import Testing

@testable import RPCurlEngine

struct SchemaQueryTests {
  private func query(_ arguments: String...) throws -> SchemaQuery {
    try SchemaQuery(
      ShopSchema.pool(), listed: ["shop.Orders", "shop.Lost", "grpc.health.v1.Health"], arguments: arguments)
  }

  @Test func namesServicesThatTheServerDoesNotDescribe() throws {
    #expect(try query().complete().undescribed == ["shop.Lost"])
  }

  @Test(arguments: [
    (".shop.Order", "shop.Order"), ("shop.Order", "shop.Order"), ("./shop.proto", "./shop.proto"),
  ])
  func dropsLeadingDotOfName(argument: String, symbol: String) throws {
    let query = try query(argument)
    #expect(query.symbol == symbol)
    guard symbol == "shop.Order" else { return }
    #expect(try query.find(symbol, among: [.message]).1.name == symbol)
  }

  @Test func listsServicesWithoutDescription() throws {
    let symbols = try query().symbols([.service], StandardError(OutputStream(2)))
    let listed = Dictionary(uniqueKeysWithValues: symbols.map { ($0.name, $0.file) })
    #expect(Set(listed.keys) == Set(try query().serviceNames()))
    #expect(listed["shop.Lost"] == "" && listed["grpc.health.v1.Health"] == "")
    #expect(listed["shop.Orders"]?.isEmpty == false)
  }

  @Test(arguments: ["shop.Lost", "shop.Lost/Find", "shop.Lost.Find"])
  func reportsServiceThatTheServerDoesNotDescribe(symbol: String) throws {
    let query = try query(symbol)
    let failure = try #require(throws: Failure.self) {
      _ = try query.find(symbol, among: [.service, .method])
    }
    #expect(failure.status == .schema)
    #expect(failure.message?.why == "the server lists this service but does not describe it")
  }
}
