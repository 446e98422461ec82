import RPCurlBase
import RPCurlProtobuf
import RPCurlProtobufSupport
import RPCurlProtocols
import Testing

@testable import RPCurlProxy

@Suite struct ReflectionTests {
  private let schema: ProxySchema

  init() throws { schema = ProxySchema(try makePool(), isReflected: false) }

  private func respond(to request: String) throws -> JSONValue {
    let service = LocalService(
      MethodName(service: "grpc.reflection.v1.ServerReflection", method: "ServerReflectionInfo"), schema,
      isLocal: false)
    return try #require(service).respond(to: Array(request.utf8))
  }

  /// The descriptors of a response.
  private func files(_ response: JSONValue) throws -> [[UInt8]] {
    guard case .array(let files)? = response["fileDescriptorResponse"]?["fileDescriptorProto"] else {
      throw RPCError(.internal, response.text, origin: .client)
    }
    return try files.map { file in
      guard case .string(let text) = file else { throw RPCError(.internal, response.text, origin: .client) }
      return try #require(Base64.decode(text))
    }
  }

  /// The services that the files of a response declare, as another pool reads them.
  private func pool(of response: JSONValue) throws -> DescriptorPool {
    let pool = DescriptorPool()
    for bytes in try files(response) {
      var set: [UInt8] = [0x0A]
      set.append(delimited: bytes)
      try pool.add(SchemaBytes(set), source: "reflection")
    }
    return pool
  }

  @Test func listsTheServicesOfItsSources() throws {
    let response = try respond(to: #"{"listServices":"*"}"#)
    guard case .array(let services)? = response["listServicesResponse"]?["service"] else {
      Issue.record("\(response.text)")
      return
    }
    #expect(services.map { $0["name"] } == schema.ownServiceNames.map { .string($0) })
    #expect(!schema.ownServiceNames.isEmpty)
    #expect(response["originalRequest"]?["listServices"] == .string("*"))
  }

  @Test func sendsAFileWithItsImports() throws {
    let name = try #require(schema.ownServiceNames.first)
    let pool = try pool(of: respond(to: #"{"fileContainingSymbol":"\#(name)"}"#))
    let method = try #require(try pool.service(named: name)?.methods.first)
    #expect(try pool.method(service: name, method: method.name) != nil)
    let file = try #require(try schema.pool.fileName(declaring: name))
    #expect(try self.pool(of: respond(to: #"{"fileByFilename":"\#(file)"}"#)).serviceNames.contains(name))
  }

  @Test(arguments: [
    ("fileByFilename", "options.proto", "options.proto"),
    ("fileContainingSymbol", "testopt.Kind", "options.proto"),
    ("fileContainingSymbol", "testopt.SOME", "options.proto"),
    ("fileContainingSymbol", "test23.ZERO", "editions.proto"),
    ("fileContainingSymbol", "testopt.Kind.SOME", "options.proto"),
  ])
  func sendsTheRequestedFileFirst(_ key: String, _ name: String, _ file: String) throws {
    let first = try #require(try files(respond(to: #"{"\#(key)":"\#(name)"}"#)).first)
    #expect(String(decoding: first.dropFirst(2).prefix(file.utf8.count), as: UTF8.self) == file)
  }

  @Test func listsTheNumbersOfExtensions() throws {
    func numbers(_ type: String) throws -> JSONValue? {
      let response = try respond(to: #"{"allExtensionNumbersOfType":"\#(type)"}"#)
      #expect(response["allExtensionNumbersResponse"]?["baseTypeName"] == .string(type))
      return response["allExtensionNumbersResponse"]?["extensionNumber"]
    }
    #expect(try numbers("google.protobuf.FieldOptions")?.text.contains("50001") == true)
    #expect(try numbers("testopt.Detail") == .array([]))
  }

  @Test(arguments: [
    #"{"allExtensionNumbersOfType":"nothing.Here"}"#, #"{"fileContainingSymbol":"testopt.Nothing"}"#,
    #"{"fileContainingSymbol":"SOME"}"#, #"{"fileContainingSymbol":"."}"#,
    #"{"fileContainingSymbol":"nothing.Here"}"#, #"{"fileByFilename":"nothing.proto"}"#,
    #"{"fileContainingExtension":{"containingType":"nothing.Here","extensionNumber":7}}"#,
  ])
  func missingNamesAreErrors(_ request: String) throws {
    let response = try respond(to: request)
    #expect(response["errorResponse"]?["errorCode"] == .number("5"))
    #expect(response["originalRequest"] == (try JSONValue(parsing: Array(request.utf8))))
  }

  @Test func requestWithoutANameIsAnError() throws {
    #expect(try respond(to: #"{"host":"x"}"#)["errorResponse"]?["errorCode"] == .number("3"))
  }

  @Test func serverWithReflectionRespondsItself() {
    let reflected = ProxySchema(schema.pool, isReflected: true)
    let reflection = MethodName(
      service: "grpc.reflection.v1.ServerReflection", method: "ServerReflectionInfo")
    let health = MethodName(service: "grpc.health.v1.Health", method: "Check")
    #expect(LocalService(reflection, reflected, isLocal: false) == nil)
    #expect(LocalService(health, reflected, isLocal: false) == nil)
    #expect(LocalService(health, reflected, isLocal: true) != nil)
  }
}
