import Testing

@testable import RPCurlProtobuf

@Suite struct ConverterTests {
  /// Converts an input in pieces of a size, and returns the output and the error.
  private func run(
    _ options: ConversionOptions, _ input: [UInt8], type typeName: String = "test3.Node", pieces: Int
  ) throws -> (output: [UInt8], error: ConversionError?) {
    var converter = Converter(try type(typeName), options: options)
    var output = OutputBuffer()
    do {
      for start in stride(from: 0, to: input.count, by: pieces) {
        let piece = Array(input[start..<min(start + pieces, input.count)])
        try converter.convert(piece.span.bytes, into: &output)
      }
      try converter.finish(into: &output)
      return (output.copyBytes(), nil)
    } catch {
      return (output.copyBytes(), error)
    }
  }

  /// The same for several sizes of pieces, which must not change the result.
  private func convert(
    _ options: ConversionOptions, _ input: [UInt8], type: String = "test3.Node"
  ) throws -> (output: [UInt8], error: ConversionError?) {
    let whole = try run(options, input, type: type, pieces: max(input.count, 1))
    for pieces in [1, 2, 3, 7, 16] {
      let other = try run(options, input, type: type, pieces: pieces)
      #expect(other.output == whole.output && other.error == whole.error, "pieces of \(pieces)")
    }
    return whole
  }

  private let binary = hex("02 2005  00  0c 0a0161 1207 0a055c225b7b7d")
  private let json = """
    {"weight":5}
    {}
    {"name":"a","child":{"name":"\\\\\\"[{}"}}

    """
  private let text = """
    weight: 5

    name: "a" child { name: "\\\\\\"[{}" }

    """

  private func bytes(_ format: MessageFormat) -> [UInt8] {
    switch format {
    case .json: Array(json.utf8)
    case .text: Array(text.utf8)
    case .binary: binary
    }
  }

  @Test(arguments: MessageFormat.allCases, MessageFormat.allCases)
  func convertsStreams(_ from: MessageFormat, _ to: MessageFormat) throws {
    let (output, error) = try convert(
      ConversionOptions(from: from, to: to, isDelimited: true), bytes(from))
    #expect(error == nil)
    #expect(String(decoding: output, as: UTF8.self) == String(decoding: bytes(to), as: UTF8.self))
  }

  @Test(arguments: MessageFormat.allCases, MessageFormat.allCases)
  func convertsSingleMessages(_ from: MessageFormat, _ to: MessageFormat) throws {
    let forms: [MessageFormat: [UInt8]] = [
      .binary: hex("0a0161 2005"), .json: Array("{\"name\":\"a\",\"weight\":5}\n".utf8),
      .text: Array("name: \"a\"\nweight: 5\n".utf8),
    ]
    let (output, error) = try convert(
      ConversionOptions(from: from, to: to), try #require(forms[from]))
    #expect(error == nil)
    #expect(output == forms[to])
  }

  @Test func readsConcatenatedJSON() throws {
    let options = ConversionOptions(from: .json, to: .json)
    let (output, error) = try convert(options, Array(" {}{\"weight\":1}\r\n{} ".utf8))
    #expect(error == nil)
    #expect(String(decoding: output, as: UTF8.self) == "{}\n{\"weight\":1}\n{}\n")
    let words = ConversionOptions(from: .json, to: .binary, isDelimited: true)
    let numbers = try convert(words, Array("1 -2\n\"3\" 4".utf8), type: "google.protobuf.Int64Value")
    #expect(numbers.output == hex("020801 0b08feffffffffffffffff01 020803 020804"))
  }

  @Test func skipsByteOrderMarkOfJSON() throws {
    let options = ConversionOptions(from: .json, to: .json)
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let (output, error) = try convert(options, mark + Array(" {} {\"weight\":1}".utf8))
    #expect(error == nil)
    #expect(String(decoding: output, as: UTF8.self) == "{}\n{\"weight\":1}\n")
    let invalid = try convert(options, mark + Array("{\"weight\":x}".utf8))
    let position = try #require(invalid.error?.position)
    #expect(position.line == 1 && position.column == 11 && position.byteOffset == 13)
    #expect(try convert(options, mark).error?.reason == .noMessage)
    #expect(try convert(options, [0xEF, 0xBB]).error != nil)
    for start: [UInt8] in [[0xFF, 0xFE], [0xFE, 0xFF]] {
      #expect(try convert(options, start + [0x7B, 0, 0x7D, 0]).error?.description == "the data is UTF-16")
    }
  }

  @Test func emptyInputIsMessageExceptInJSON() throws {
    #expect(try convert(ConversionOptions(from: .json, to: .binary), []).error?.reason == .noMessage)
    #expect(
      try convert(ConversionOptions(from: .json, to: .binary), Array(" \n".utf8)).error?.reason == .noMessage)
    let text = try convert(ConversionOptions(from: .text, to: .json), Array("# nothing\n".utf8))
    #expect(String(decoding: text.output, as: UTF8.self) == "{}\n")
    #expect(try convert(ConversionOptions(from: .binary, to: .text), []).error == nil)
    for format in MessageFormat.allCases {
      let stream = try convert(ConversionOptions(from: format, to: .json, isDelimited: true), [])
      #expect(stream.error == nil && stream.output.isEmpty)
    }
  }

  @Test func severalMessagesRequireSuitableFormat() throws {
    for format in [MessageFormat.binary, .text] {
      let (output, error) = try convert(ConversionOptions(from: .json, to: format), Array("{} {}".utf8))
      #expect(error?.reason == .severalMessages)
      #expect(output.isEmpty)
    }
  }

  @Test func errorsNameMessageAndPlace() throws {
    func failure(
      _ from: MessageFormat, _ input: [UInt8], isDelimited: Bool = true
    ) throws -> (String, String?) {
      let options = ConversionOptions(from: from, to: .json, isDelimited: isDelimited)
      let (output, error) = try convert(options, input)
      return (String(decoding: output, as: UTF8.self), error?.description)
    }
    #expect(
      try failure(.json, Array("{}\n{\"weight\":\n \"x\"}".utf8))
        == ("{}\n", "weight: expected a number (int32) (line 3, column 2)"))
    #expect(
      try failure(.json, Array("{}\n {\"weight\":".utf8)) == (
        "{}\n", "weight: unexpected end of the JSON (line 2, column 12)"
      ))
    #expect(try failure(.json, Array("{} ,".utf8)).1 == "expected an object (test3.Node) (line 1, column 4)")
    #expect(try failure(.json, Array("{}}".utf8)).1 == "expected an object (test3.Node) (line 1, column 3)")
    #expect(
      try failure(.text, Array("weight: 1\nname: 5".utf8)).1 == "name: expected a string (line 2, column 7)")
    #expect(
      try failure(.binary, hex("00 03 0a01ff")) == (
        "{}\n", "message 2: a string that is not UTF-8 at name (byte 3)"
      ))
    #expect(try failure(.binary, hex("00 05 0a")).1 == "message 2: the data ends within the message (byte 1)")
    #expect(try failure(.binary, hex("00 80")).1 == "message 2: the data ends within the message (byte 1)")
    #expect(
      try failure(.binary, hex("ffffffffffffffffffffff")).1
        == "expected the length of a message (byte 0)")
    #expect(try failure(.binary, hex("ffffffff7f")).1?.contains("longer than 2147483647 bytes") == true)
    #expect(
      try failure(.binary, hex("0a05"), isDelimited: false).1 == "the message is truncated at name (byte 1)")
  }

  @Test func limitsMessagesOfStream() throws {
    for format in MessageFormat.allCases {
      var options = ConversionOptions(from: format, to: .json, isDelimited: true)
      options.limitBytes = 20
      let input: [UInt8] =
        switch format {
        case .json: Array("{}{\"name\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa".utf8)
        case .text: Array("\nname: \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa".utf8)
        case .binary: hex("00 7f 0a00")
        }
      let (output, error) = try run(options, input, pieces: 8)
      #expect(error?.description.contains("longer than 20 bytes") == true, "\(format)")
      #expect(output == Array("{}\n".utf8))
    }
  }

  @Test func reportsMissingRequiredFields() throws {
    let inputs: [MessageFormat: [UInt8]] = [
      .json: Array("{\"id\":1}".utf8), .text: Array("id: 1".utf8), .binary: hex("0801"),
    ]
    for (from, input) in inputs {
      for to in MessageFormat.allCases {
        var options = ConversionOptions(from: from, to: to)
        let refused = try convert(options, input, type: "test2.Strict")
        #expect(refused.error?.description == "the required field name is not set")
        #expect(refused.output.isEmpty)
        options.allowPartial = true
        let read = try convert(options, input, type: "test2.Strict")
        #expect(read.error == nil && !read.output.isEmpty)
      }
    }
  }
}
