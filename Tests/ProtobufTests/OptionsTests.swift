import Testing

@testable import Protobuf

@Suite struct OptionsTests {
  private func json(_ options: DescriptorOptions?) throws -> String? {
    try options?.message().map { String(decoding: try $0.json(), as: UTF8.self) }
  }

  @Test func customOptionsAreRead() throws {
    let pool = try makePool()
    let noted = try #require(try pool.messageType(named: "testopt.Noted"))
    #expect(
      try json(noted.options())
        == #"{"deprecated":true,"[testopt.message_detail]":{"text":"m","numbers":[1,2]}}"#)
    #expect(
      try json(noted.field(named: "marked")?.options) == #"{"deprecated":true,"[testopt.field_level]":7}"#)
    let kind = try #require(try pool.enumType(named: "testopt.Kind"))
    #expect(try json(kind.options) == #"{"[testopt.enum_flag]":true}"#)
    #expect(try json(kind.values[1].options) == #"{"[testopt.value_label]":"some"}"#)
    let service = try #require(try pool.service(named: "testopt.Notes"))
    #expect(try json(service.options) == #"{"[testopt.service_note]":"s"}"#)
    let get = try #require(service.method(named: "Get"))
    #expect(try json(get.options) == #"{"[testopt.method_detail]":{"text":"g"}}"#)
    let path = try FieldPath("(testopt.method_detail).text")
    #expect(try get.options.message()?.value(at: path) == .string("g"))
    #expect(try json(pool.fileOptions(of: "options.proto")) == #"{"[testopt.file_note]":"a file"}"#)
  }

  @Test func whatHasNoOptionsHasNone() throws {
    let pool = try makePool()
    let noted = try #require(try pool.messageType(named: "testopt.Noted"))
    let plain = try #require(try noted.field(named: "plain"))
    #expect(plain.options.serialized.isEmpty)
    #expect(try plain.options.message() == nil)
    #expect(try pool.service(named: "testopt.Notes")?.method(named: "Plain")?.options.message() == nil)
    #expect(try pool.fileOptions(of: "no.proto") == nil)
  }

  @Test func optionsOfAPoolWithoutDescriptorProtoStayBytes() throws {
    // A file with one message M, whose option 50003 is 5.
    let pool = DescriptorPool()
    try pool.add(SchemaBytes(hex("0a11 0a0166 120170 2209 0a014d 3a04 98b51805")), source: "s")
    let options = try #require(try pool.messageType(named: "p.M")?.options())
    #expect(hexText(options.serialized) == "98b51805")
    #expect(try options.message() == nil)
  }
}
