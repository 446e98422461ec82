import RPCurlProtobuf

/// Reads the start of the body of a response that is not one of the protocol, for the error of the call.
final class ForeignBody {
  /// How much of a body is read: a title of a page or a status in JSON may be longer than what is shown.
  private static let maxBytes = 16 << 10

  /// The head of the response.
  let head: ResponseStart
  private let error: RPCError
  private var response: ForeignResponse
  private var decoder: ContentDecoder?
  /// Whether the rest of the body is not read.
  private(set) var isEnough = false

  /// - Parameter error: The error of the call.
  convenience init(_ error: RPCError, _ head: ResponseStart) {
    self.init(error, head, decoded: [])
    do {
      decoder = try ContentDecoder(head.headers)
    } catch {
      isEnough = true
    }
  }

  /// - Parameter body: The whole body, decompressed.
  init(_ error: RPCError, _ head: ResponseStart, decoded body: [UInt8]) {
    self.error = error
    self.head = head
    response = ForeignResponse(status: head.httpStatus, headers: head.headers)
    append(body.span.bytes)
  }

  /// Adds a piece of the body.
  func add(_ piece: RawSpan) {
    guard !isEnough else { return }
    guard decoder != nil else { return append(piece) }
    var offset = 0
    do {
      while offset < piece.byteCount, !isEnough {
        try decoder?.decode(piece, from: &offset)
        let part = decoder?.decoded ?? []
        append(part.span.bytes)
      }
    } catch {
      isEnough = true
    }
  }

  private func append(_ piece: RawSpan) {
    let count = min(piece.byteCount, Self.maxBytes - response.body.count)
    piece.extracting(first: count).withUnsafeBytes { response.body.append(contentsOf: $0) }
    isEnough = response.body.count == Self.maxBytes
  }

  /// The error of the call, with what was read.
  var end: RPCError {
    var error = error
    error.response = response
    return error
  }
}
