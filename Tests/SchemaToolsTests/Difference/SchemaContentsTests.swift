import Testing

@testable import RPCurlSchemaTools

/// Which files of two schemas are read.
struct SchemaContentsTests {
  typealias D = Descriptors

  @Test func comparesDefaultsOfEnumsOfOtherFiles() throws {
    func schema(_ values: [UInt8]) -> [UInt8] {
      D.set(
        D.file(D.enumeration("E", values), name: "c.proto", syntax: "proto2"),
        // A public import.
        D.file(D.text(3, "c.proto"), D.number(10, 0), name: "b.proto", syntax: "proto2"),
        D.file(
          D.text(3, "b.proto"), D.message("M", D.field("a", 1, .enumeration, D.type("p.E"))), syntax: "proto2"
        ))
    }
    let (one, two) = (D.value("ONE", 1), D.value("TWO", 2))
    #expect(try D.rules(schema(one + two), schema(two + one)) == [.fieldSameDefault])
  }
}
