import RPCurlChain
import RPCurlChainSupport
import RPCurlProtobuf
import RPCurlProtocols

@testable import RPCurlInterceptors

/// The network of factories, whose responses the test provides.
final class TestFactoryNetwork: @unchecked Sendable {
  private let transport = TestNetwork()
  private(set) var logged: [LogRecord] = []
  private(set) var isConcluded = false

  var fetches: [HTTPFetch] { transport.fetches }

  /// For the factory under test.
  var network: FactoryNetwork {
    FactoryNetwork(
      log: { self.logged.append($0) },
      fetch: { fetch, completion in self.transport.fetch(fetch, completion: completion) })
  }

  /// Concludes a factory.
  func conclude(_ registration: InterceptorRegistration) {
    registration.factory.conclude(network) { self.isConcluded = true }
  }

  func respond(status: Int = 200) { transport.answer("", status: status) }
  func fail(_ words: String) { transport.fail(words) }
}

/// A message in protobuf's binary format, read without a schema.
struct WireFields {
  /// A value of a field.
  enum Value: Equatable {
    case number(UInt64)
    case bytes([UInt8])
  }

  private(set) var fields: [(number: UInt64, value: Value)] = []

  init(_ bytes: [UInt8]) {
    var rest = bytes[...]
    func varint() -> UInt64 {
      var value: UInt64 = 0
      var shift: UInt64 = 0
      while let byte = rest.popFirst() {
        value |= UInt64(byte & 0x7f) << shift
        shift += 7
        if byte < 0x80 { break }
      }
      return value
    }
    func take(_ count: Int) -> [UInt8] {
      defer { rest = rest.dropFirst(count) }
      return Array(rest.prefix(count))
    }
    while !rest.isEmpty {
      let tag = varint()
      switch tag & 7 {
      case 0: fields.append((tag >> 3, .number(varint())))
      case 2: fields.append((tag >> 3, .bytes(take(Int(varint())))))
      default:
        let content = take(tag & 7 == 1 ? 8 : 4)
        fields.append((tag >> 3, .number(content.reversed().reduce(0) { $0 << 8 | UInt64($1) })))
      }
    }
  }

  /// The numbers of a field.
  func numbers(_ number: UInt64) -> [UInt64] {
    fields.compactMap { field in
      if field.number == number, case .number(let value) = field.value { value } else { nil }
    }
  }

  /// The bytes of a field.
  func bytes(_ number: UInt64) -> [[UInt8]] {
    fields.compactMap { field in
      if field.number == number, case .bytes(let value) = field.value { value } else { nil }
    }
  }

  /// The messages in a field.
  func messages(_ path: UInt64...) -> [WireFields] {
    path.reduce([self]) { found, number in found.flatMap { $0.bytes(number).map { WireFields($0) } } }
  }

  /// The texts in a field.
  func texts(_ number: UInt64) -> [String] { bytes(number).map { String(decoding: $0, as: UTF8.self) } }

  /// The attributes in a field.
  func attributes(_ number: UInt64) -> [String: String] {
    var attributes: [String: String] = [:]
    for pair in messages(number) {
      let value = pair.messages(2).first
      attributes[pair.texts(1).first ?? ""] = value?.texts(1).first ?? value?.numbers(3).first.map { "\($0)" }
    }
    return attributes
  }
}

/// The digits of bytes.
func hexadecimal(_ bytes: [UInt8]?) -> String {
  (bytes ?? []).map { $0 < 16 ? "0" + String($0, radix: 16) : String($0, radix: 16) }.joined()
}
