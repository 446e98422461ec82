import RPCurlBase
import RPCurlChain
import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtocols

/// A successful response of a unary call, as it is stored.
struct CachedResponse: Sendable {
  /// When the server has generated it, in nanoseconds since 1970.
  let date: Int64
  /// How old it may be, in seconds, as the server says; nil if the server does not say it.
  let maxAge: Int?
  let headers: Headers
  let trailers: Headers
  /// The hash of the headers of the request that `Vary` names; nil if it names none.
  private let variant: String?
  /// The serialized message.
  let message: [UInt8]

  /// Why RFC 9111 or the server forbids to store a response; nil if they permit it. Only in Connect, the headers of unary
  /// responses are HTTP's.
  static func refusal(_ headers: Headers, _ protocolName: ProtocolName) -> String? {
    guard protocolName == .connect else { return nil }
    let control = CacheControl(headers)
    if control.forbidsStoring { return "Cache-Control: no-store" }
    if control.requiresValidation { return "Cache-Control: no-cache" }
    if control.maxAge == 0 { return "Cache-Control: max-age=0" }
    if control.maxAge == nil, headers.first("expires") != nil { return "it has Expires without max-age" }
    return varyingNames(headers).contains("*") ? "Vary: *" : nil
  }

  /// Makes the stored form of a response that nothing forbids to store.
  ///
  /// - Parameters:
  ///   - age: The time since the server was asked, which the response may have needed to arrive (section 4.2.3).
  ///   - protocolName: The protocol.
  init(
    _ message: [UInt8], _ headers: Headers, _ trailers: Headers, of request: RequestStart,
    _ protocolName: ProtocolName, age: Int64, now: Int64
  ) {
    self.message = message
    self.headers = headers
    self.trailers = trailers
    guard protocolName == .connect else {
      (date, maxAge, variant) = (now - age, nil, nil)
      return
    }
    let control = CacheControl(headers)
    maxAge = control.maxAge
    // The age by `Age` and that by `Date`, whose seconds are whole, in seconds (section 4.2.3).
    let stated = headers.first("age").flatMap { CacheControl.seconds($0) } ?? 0
    let sent = headers.first("date").flatMap { HTTPDate.seconds($0) }
    let apparent = sent.map { min(max(0, now / 1_000_000_000 - $0), Int64(CacheControl.longest)) } ?? 0
    date = now - max(age + Int64(stated) * 1_000_000_000, apparent * 1_000_000_000)
    variant = Self.variant(headers, date, of: request.headers)
  }

  /// Whether it is the response to a request with these headers as well (section 4.1).
  func fits(_ request: Headers) -> Bool {
    variant == nil || variant == Self.variant(headers, date, of: request)
  }

  /// The hash of the headers of a request that `Vary` names; nil if it names none. The headers may be credentials.
  ///
  /// - Parameter date: The date of the response: equal headers do not have the same hash in two files.
  private static func variant(_ headers: Headers, _ date: Int64, of request: Headers) -> String? {
    let names = varyingNames(headers)
    guard !names.isEmpty else { return nil }
    let texts = names.flatMap { name in
      let values = request.values(name)
      return ["\(values.count)"] + values
    }
    // Each text ends with a byte that UTF-8 does not contain.
    return SHA256.digest(of: (["\(date)"] + texts).flatMap { Array($0.utf8) + [0xFF] })
  }

  /// The names that the headers `Vary` of a response list.
  private static func varyingNames(_ headers: Headers) -> [String] {
    headers.values("vary").flatMap { $0.split(separator: ",") }.map { HeaderSyntax.trimmed($0) }
  }

  /// The age in nanoseconds; nil if the response is from the future, since the clock was set back.
  func age(at now: Int64) -> Int64? { now >= date ? now - date : nil }

  // MARK: The content of a file

  private static let version = 2

  /// One line of JSON, and the message.
  var content: [UInt8] {
    var line = JSONObject()
    line.add("version", Self.version)
    line.add("date", raw: "\(date)")
    if let maxAge { line.add("max_age", maxAge) }
    line.add("headers", headers)
    line.add("trailers", trailers)
    if let variant { line.add("variant", variant) }
    return line.line + message
  }

  /// Reads the content of a file.
  ///
  /// - Throws: An error if it has another format.
  init(content: [UInt8]) throws {
    let line = content.prefix { $0 != UInt8(ascii: "\n") }
    let object = try ObjectReader(JSONValue(parsing: Array(line)), keys: nil)
    guard try object.integer("version") == Self.version, line.endIndex < content.endIndex,
      let date = try object.integer("date", atLeast: 1)
    else { throw LanguageError("not a stored response") }
    self.date = Int64(date)
    maxAge = try object.integer("max_age").map { min($0, CacheControl.longest) }
    headers = try object.headers("headers")
    trailers = try object.headers("trailers")
    variant = try object.string("variant")
    message = Array(content[(line.endIndex + 1)...])
  }
}
