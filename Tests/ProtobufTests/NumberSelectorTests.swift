import Testing

@testable import RPCurlProtobuf

struct NumberSelectorTests {
  /// 1: "ab", 1: "c", 2 { 3 { 1: 5 }, 3: "x" }, 4: 7, 5 (group) { 1: "g" }.
  private let message: [UInt8] =
    [0x0a, 2, 0x61, 0x62, 0x0a, 1, 0x63, 0x12, 7, 0x1a, 2, 8, 5, 0x1a, 1, 0x78]
    + [0x20, 7, 0x2b, 0x0a, 1, 0x67, 0x2c]

  private func bytes(_ selector: String) throws -> String {
    var out: [UInt8] = []
    _ = try #require(NumberSelector(FieldPath(selector))).append(message.span.bytes, options: nil, to: &out)
    return String(decoding: out, as: UTF8.self)
  }

  @Test(arguments: [
    ("1", "abc"), (".1", "abc"), ("1[]", "abc"), ("1[0]", "ab"), ("1[-1]", "c"), ("1[2]", ""), ("1[-3]", ""),
    ("2.3[1]", "x"), ("2[].3[0]", "\u{8}\u{5}"), ("2.3.1", ""), ("5.1", "g"), ("1.1", ""), ("9", ""),
  ])
  func selectsBytes(selector: String, expected: String) throws {
    #expect(try bytes(selector) == expected)
  }

  @Test func countsValues() throws {
    var out: [UInt8] = []
    let numbers = try #require(NumberSelector(FieldPath("4")))
    #expect(try numbers.append(message.span.bytes, options: nil, to: &out) == (1, 1))
    #expect(try numbers.append(message.span.bytes, options: JSONEncodingOptions(), to: &out) == (1, 0))
    #expect(String(decoding: out, as: UTF8.self) == #"{"uint64":"7","sint64":"-4"}"# + "\n")
    let none = try #require(NumberSelector(FieldPath("3")))
    #expect(try none.append(message.span.bytes, options: nil, to: &out) == (0, 0))
  }

  @Test(arguments: [
    ".", "a", "0", "536870912", "1[true]", "[0]", "[]", "1[0][0]", "1[][]", #"1["a"]"#, "[pkg.e]",
    "1[x/pkg.T]",
  ])
  func rejectsPathsWithoutNumbers(text: String) throws {
    #expect(NumberSelector(try FieldPath(text)) == nil)
  }
}
