import Testing

@testable import RPCurlProtobuf

struct UTF8ValidationTests {
  private static let sequences: [[UInt8]] = [
    [0x00], [0x7f], [0x80], [0xff], [0xdf], [0xc2, 0x80], [0xc0, 0x80],
    [0xe2, 0x82], [0xe2, 0x82, 0xac], [0xe0, 0x9f, 0xbf], [0xed, 0xa0, 0x80],
    [0xf0, 0x9f, 0x98], [0xf0, 0x9f, 0x98, 0x80], [0xf0, 0x8f, 0xbf, 0xbf], [0xf4, 0x90, 0x80, 0x80],
  ]

  /// Eight bytes are checked at a time, and the last ones together: each sequence stands at each place of a text.
  @Test(arguments: sequences)
  func sequenceIsJudgedAsSwiftDoes(sequence: [UInt8]) {
    for before in 0..<20 {
      for after in 0..<20 {
        let bytes =
          [UInt8](repeating: 0x61, count: before) + sequence + [UInt8](repeating: 0x7a, count: after)
        let isValid = String(validating: bytes, as: UTF8.self) != nil
        #expect(bytes.withUnsafeBytes { UTF8Validation.isValid($0) } == isValid)
        #expect(bytes.withUnsafeBytes { UTF8Validation.firstInvalid($0) } == (isValid ? nil : before))
      }
    }
  }

  @Test func emptyTextIsValid() {
    #expect(UTF8Validation.isValid(UnsafeRawBufferPointer(start: nil, count: 0)))
  }
}
