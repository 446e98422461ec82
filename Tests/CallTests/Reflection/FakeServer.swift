@testable import RPCurlCall

/// Writes serialized protobuf by hand, because input must not come from the code under test.
enum Wire {
  static func field(_ number: Int, _ bytes: [UInt8]) -> [UInt8] {
    varint(number << 3 | 2) + varint(bytes.count) + bytes
  }

  static func field(_ number: Int, _ text: String) -> [UInt8] {
    field(number, Array(text.utf8))
  }

  static func field(_ number: Int, varint value: Int) -> [UInt8] {
    varint(number << 3) + varint(value)
  }

  private static func varint(_ number: Int) -> [UInt8] {
    number < 0x80 ? [UInt8(number)] : [UInt8(number & 0x7F) | 0x80] + varint(number >> 7)
  }

  /// A FileDescriptorProto.
  static func file(_ name: String, imports: [String] = []) -> [UInt8] {
    field(1, name) + imports.flatMap { field(3, $0) }
  }

  /// A ServerReflectionResponse with files.
  static func answer(_ files: [UInt8]..., to question: ServerReflectionRequest? = nil) -> [UInt8] {
    echo(question) + field(4, files.flatMap { field(1, $0) })
  }

  static func answer(services: [String], to question: ServerReflectionRequest? = nil) -> [UInt8] {
    echo(question) + field(6, services.flatMap { field(1, field(1, $0)) })
  }

  static func answer(error code: Int, _ message: String, to question: ServerReflectionRequest? = nil)
    -> [UInt8]
  {
    echo(question) + field(7, field(1, varint: code) + field(2, message))
  }

  private static func echo(_ question: ServerReflectionRequest?) -> [UInt8] {
    question.map { field(2, request($0)) } ?? []
  }

  /// A ServerReflectionRequest.
  static func request(_ question: ServerReflectionRequest) -> [UInt8] {
    switch question {
    case .file(let name): field(3, name)
    case .fileContaining(let symbol): field(4, symbol)
    case .fileContainingExtension(let type, let number):
      field(5, field(1, type) + field(2, varint: Int(number)))
    case .services: field(7, "*")
    }
  }
}

/// A server of files that import each other, which counts the rounds.
struct FakeServer {
  /// The imports of each file.
  var files: [String: [String]]
  /// The file of each symbol.
  var symbols: [String: String]
  /// The file of each extension: `TYPE/NUMBER`.
  var extensions: [String: String] = [:]
  /// Whether a file is sent with all its imports.
  var sendsImports = false
  var echoesQuestion = true

  func answer(_ question: ServerReflectionRequest) -> [UInt8] {
    let echo = echoesQuestion ? question : nil
    switch question {
    case .services:
      return Wire.answer(services: symbols.keys.sorted(), to: echo)
    case .file(let name):
      return answer(file: name, to: echo)
    case .fileContaining(let symbol):
      return answer(file: symbols[symbol] ?? "", to: echo)
    case .fileContainingExtension(let type, let number):
      return answer(file: extensions["\(type)/\(number)"] ?? "", to: echo)
    }
  }

  private func answer(file name: String, to echo: ServerReflectionRequest?) -> [UInt8] {
    guard files[name] != nil else { return Wire.answer(error: 5, "not found", to: echo) }
    let names = sendsImports ? closure(of: name) : [name]
    let body = names.flatMap { Wire.field(1, Wire.file($0, imports: files[$0] ?? [])) }
    return (echo.map { Wire.field(2, Wire.request($0)) } ?? []) + Wire.field(4, body)
  }

  private func closure(of name: String) -> [String] {
    var found = [name]
    var next = 0
    while next < found.count {
      found += (files[found[next]] ?? []).filter { files[$0] != nil && !found.contains($0) }
      next += 1
    }
    return found
  }

  /// Runs a query to its end, from its start or from the questions `first`; with `inOrder` false, responds to
  /// each round in reverse order.
  func run(
    _ query: inout ReflectionQuery, _ first: [ServerReflectionRequest]? = nil, inOrder: Bool = true
  ) throws -> (schema: ReflectedSchema, rounds: Int) {
    var questions = first ?? query.start()
    var rounds = 0
    while true {
      rounds += 1
      var next: [ServerReflectionRequest] = []
      for question in inOrder ? questions : questions.reversed() {
        switch try query.receive(answer(question)) {
        case .wait: break
        case .send(let more), .open(let more): next += more
        case .done(let schema): return (schema, rounds)
        }
      }
      questions = next
    }
  }
}
