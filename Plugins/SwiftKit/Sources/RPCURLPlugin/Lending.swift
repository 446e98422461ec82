import CRPCURLPlugin

// Conversions between Swift's values and the plain structures. The host copies its arguments before a
// function returns.

extension String {
  init(_ text: rpcurl_text) {
    self.init(decoding: UnsafeRawBufferPointer(start: text.data, count: text.size), as: UTF8.self)
  }

  init(_ text: UnsafePointer<CChar>?) { self = text.map { String(cString: $0) } ?? "" }

  func lend<Result>(_ body: (rpcurl_text) -> Result) -> Result {
    var copy = self
    return copy.withUTF8 { $0.lend(body) }
  }
}

extension [UInt8] {
  init(_ text: rpcurl_text) { self.init(UnsafeRawBufferPointer(start: text.data, count: text.size)) }

  func lend<Result>(_ body: (rpcurl_text) -> Result) -> Result { withUnsafeBufferPointer { $0.lend(body) } }
}

/// Copies an array of the host, whose elements are as far apart as the first states (`RPCURL_AT`).
func elements<Element>(_ start: UnsafePointer<Element>?, _ count: Int) -> [Element] {
  guard let start, count > 0 else { return [] }
  let first = UnsafeRawPointer(start)
  let stride = first.load(as: Int.self)
  // The kit requires a host with at least the members of its header.
  return (0..<count).map { (first + $0 * stride).load(as: Element.self) }
}

extension [Headers.Field] {
  init(_ start: UnsafePointer<rpcurl_field>?, _ count: Int) {
    self = UnsafeBufferPointer(start: start, count: count).map {
      Headers.Field(name: String($0.name), value: String($0.value))
    }
  }
}

extension UnsafeBufferPointer<UInt8> {
  fileprivate func lend<Result>(_ body: (rpcurl_text) -> Result) -> Result {
    withMemoryRebound(to: CChar.self) { body(rpcurl_text(data: $0.baseAddress, size: $0.count)) }
  }
}

/// Copies of several texts, valid together.
final class Lender {
  private var blocks: [UnsafeMutableRawPointer] = []
  private var messages: [OwnMessage] = []

  func text(_ bytes: some Collection<UInt8>) -> rpcurl_text {
    let block = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count + 1)
    _ = block.initialize(from: bytes)
    let raw = UnsafeMutableRawPointer(block.baseAddress.unsafelyUnwrapped)
    blocks.append(raw)
    return rpcurl_text(data: UnsafePointer(raw.assumingMemoryBound(to: CChar.self)), size: bytes.count)
  }

  func text(_ string: String) -> rpcurl_text { text(string.utf8) }

  func array<Element>(_ elements: [Element]) -> UnsafePointer<Element>? {
    let buffer = UnsafeMutableBufferPointer<Element>.allocate(capacity: max(elements.count, 1))
    _ = buffer.initialize(from: elements)
    let start = buffer.baseAddress.unsafelyUnwrapped
    blocks.append(UnsafeMutableRawPointer(start))
    return UnsafePointer(start)
  }

  func fields(_ fields: [Headers.Field]) -> UnsafePointer<rpcurl_field>? {
    array(fields.map { rpcurl_field(name: text($0.name), value: text($0.value)) })
  }

  func detail(_ detail: StatusDetail) -> rpcurl_detail {
    rpcurl_detail(
      struct_size: MemoryLayout<rpcurl_detail>.size, type_name: text(detail.typeName),
      value: text(detail.value))
  }

  func details(_ details: [StatusDetail]) -> UnsafePointer<rpcurl_detail>? { array(details.map(detail)) }

  func message(_ message: Payload) -> rpcurl_local_message {
    let (form, content) =
      switch message {
      case .bytes(let bytes): (RPCURL_FORM_SERIALIZED, text(bytes))
      case .binary(let bytes): (RPCURL_FORM_BINARY, text(bytes))
      case .json(let json): (RPCURL_FORM_JSON, text(json))
      case .message: (RPCURL_FORM_MESSAGE, rpcurl_text())
      }
    var own = rpcurl_token()
    if case .message(let made) = message {
      // The token is valid until the host has copied the message.
      messages.append(made)
      own = made.fields.token.plain
    }
    return rpcurl_local_message(
      struct_size: MemoryLayout<rpcurl_local_message>.size, form: UInt32(form), reserved: 0, content: content,
      message: own)
  }

  func response(_ response: LocalResponse) -> rpcurl_response {
    rpcurl_response(
      struct_size: MemoryLayout<rpcurl_response>.size, headers: fields(response.headers),
      header_count: response.headers.count, messages: array(response.messages.map(message)),
      message_count: response.messages.count, code: response.status.code.plain, reserved: 0,
      message: text(response.status.message), details: details(response.status.details),
      detail_count: response.status.details.count, trailers: fields(response.trailers),
      trailer_count: response.trailers.count)
  }

  func failure(_ status: Status, _ trailers: [Headers.Field]) -> rpcurl_failure {
    rpcurl_failure(
      struct_size: MemoryLayout<rpcurl_failure>.size, code: status.code.plain, reserved: 0,
      message: text(status.message), details: details(status.details), detail_count: status.details.count,
      trailers: fields(trailers), trailer_count: trailers.count)
  }

  deinit {
    for block in blocks { block.deallocate() }
  }
}
