import Protobuf
import RPCProtocols

/// A successful response of a unary call, as it is stored.
struct CachedResponse: Sendable {
  /// When the server has generated it, in nanoseconds since 1970.
  let date: Int64
  /// How old it may be, in seconds, as the server says; nil if the server does not say it.
  let maxAge: Int?
  let headers: Headers
  let trailers: Headers
  /// The headers of the request that `Vary` names.
  private let varied: Headers
  /// The serialized message.
  let message: [UInt8]

  /// Why a response is not stored.
  struct Refusal: Error {
    let reason: String
  }

  /// Makes the stored form of a response.
  ///
  /// - Parameters:
  ///   - age: The time since the server was asked, which the response may have needed to arrive (section 4.2.3).
  ///   - protocolName: The protocol. Only in Connect, the headers of unary responses are HTTP's.
  /// - Throws: `Refusal` if RFC 9111 or the server forbids to store it.
  init(
    _ message: [UInt8], _ headers: Headers, _ trailers: Headers, of request: RequestStart,
    _ protocolName: ProtocolName, age: Int64, now: Int64
  ) throws(Refusal) {
    self.message = message
    self.headers = headers
    self.trailers = trailers
    guard protocolName == .connect else {
      (date, maxAge, varied) = (now - age, nil, Headers())
      return
    }
    let control = CacheControl(headers)
    if control.forbidsStoring { throw Refusal(reason: "Cache-Control: no-store") }
    if control.requiresValidation { throw Refusal(reason: "Cache-Control: no-cache") }
    if control.maxAge == 0 { throw Refusal(reason: "Cache-Control: max-age=0") }
    guard control.maxAge != nil || headers.first("expires") == nil else {
      throw Refusal(reason: "it has Expires without max-age")
    }
    let names = headers.values("vary").flatMap { $0.split(separator: ",") }.map { HeaderSyntax.trimmed($0) }
    if names.contains("*") { throw Refusal(reason: "Vary: *") }
    var varied = Headers()
    for name in names where HeaderSyntax.isName(name) {
      for value in request.headers.values(name) { varied.add(name, value) }
      // A name without a value is a header that the request lacks.
      if request.headers.first(name) == nil { varied.add(name, Self.absent) }
    }
    self.varied = varied
    maxAge = control.maxAge
    let stated = headers.first("age").flatMap { CacheControl.seconds($0) } ?? 0
    date = now - age - Int64(stated) * 1_000_000_000
  }

  /// No header has this value: a header's value contains no leading blank.
  private static let absent = " absent"

  /// Whether it is the response to a request with these headers as well (section 4.1).
  func fits(_ headers: Headers) -> Bool {
    Set(varied.fields.map(\.name)).allSatisfy { name in
      let values = headers.values(name)
      return varied.values(name) == (values.isEmpty ? [Self.absent] : values)
    }
  }

  /// The age in nanoseconds; nil if the response is from the future, since the clock was set back.
  func age(at now: Int64) -> Int64? { now >= date ? now - date : nil }

  // MARK: The content of a file

  private static let version = 1

  /// One line of JSON, and the message.
  var content: [UInt8] {
    let raw = Redaction(showsSecrets: true)
    var line = JSONObject()
    line.add("version", Self.version)
    line.add("date", raw: "\(date)")
    if let maxAge { line.add("max_age", maxAge) }
    line.add("headers", headers, raw)
    line.add("trailers", trailers, raw)
    line.add("vary", varied, raw)
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
    else { throw FormatError(reason: "not a stored response") }
    self.date = Int64(date)
    maxAge = try object.integer("max_age").map { min($0, CacheControl.longest) }
    headers = try object.headers("headers")
    trailers = try object.headers("trailers")
    varied = try object.headers("vary")
    message = Array(content[(line.endIndex + 1)...])
  }
}
