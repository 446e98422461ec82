import RPCurlBase
import RPCurlChain
import RPCurlCommandSupport
import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtocols
import Testing

@testable import RPCurlEngine

/// A clock, an environment and files for functions.
struct KnownSources: ValueSourceServices {
  var nanosecondsSince1970: Int64 { 0 }
  func environment(_ name: String) -> String? { nil }
  func contents(ofFile path: String, holdsMessages: Bool) throws(SystemError) -> [UInt8] {
    guard path == "name.txt" else { throw SystemError("no such file") }
    return Array("Ada\n".utf8)
  }
}

extension SessionVariables {
  /// Values without variables.
  static func known(
    limitBytes: Int = defaultLimitBytes, _ environment: @escaping (String) -> String? = { _ in nil }
  ) -> SessionVariables {
    SessionVariables(
      TemplateFunctions(KnownSources(), seed: 1), limitBytes: limitBytes, environment: environment)
  }
}

/// A call that has ended, or is open without a status.
final class KnownCall: LastCall {
  let title = "Place"
  let responseType: MessageType
  let endStatus: StatusCode?
  let details: [StatusDetail]
  let headers: Headers? = Headers([("x-id", "7"), ("x-tag", "a"), ("x-tag", "b")])
  let trailers: Headers?
  private let responses: [String]

  init(_ responses: [String], _ status: StatusCode? = .ok, details: [StatusDetail] = []) throws {
    responseType = try #require(try ShopSchema.pool().messageType(named: "shop.Order"))
    self.responses = responses
    endStatus = status
    self.details = details
    trailers = status.map { _ in Headers([("x-end", "z")]) }
  }

  var seen: Int { responses.count }

  func response(_ number: Int) -> SessionMessage? {
    // One in the middle is not kept.
    number == 3 ? nil : .bytes(Array(responses[number].utf8), .json, responseType)
  }
}
