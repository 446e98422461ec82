import RPCurlCServer
import RPCurlProtocols

@testable import RPCurlServer
@testable import RPCurlServerSupport

/// A client of HTTP/2 in memory: the session of nghttp2.
final class HTTP2Client {
  /// What arrived of a response.
  struct Response: Equatable {
    var headers: [String] = []
    var body: [UInt8] = []
    /// The code with which the stream was closed.
    var code: UInt32?
  }

  /// The body of a request.
  private final class Body {
    var bytes: [UInt8]
    var isEnded: Bool
    init(_ bytes: [UInt8], _ isEnded: Bool) { (self.bytes, self.isEnded) = (bytes, isEnded) }
  }

  private var session: OpaquePointer?
  private var bodies: [Int32: Body] = [:]
  private var pendingBody: Body?
  var responses: [Int32: Response] = [:]
  /// The codes of GOAWAY frames, and their last streams.
  var goAways: [(code: UInt32, last: Int32)] = []

  init(streamWindow: UInt32 = 1 << 20) {
    var callbacks: OpaquePointer?
    nghttp2_session_callbacks_new(&callbacks)
    defer { nghttp2_session_callbacks_del(callbacks) }
    setCallbacks(callbacks)
    nghttp2_session_client_new(&session, callbacks, Unmanaged.passUnretained(self).toOpaque())
    let settings = [
      nghttp2_settings_entry(
        settings_id: Int32(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE.rawValue), value: streamWindow)
    ]
    nghttp2_submit_settings(session, 0, settings, 1)
    nghttp2_session_set_local_window_size(session, 0, 0, 1 << 24)
  }

  deinit { nghttp2_session_del(session) }

  private func setCallbacks(_ callbacks: OpaquePointer?) {
    nghttp2_session_callbacks_set_on_header_callback(callbacks) {
      _, frame, name, nameSize, value, valueSize, _, context in
      guard let context, let id = frame?.pointee.hd.stream_id else { return 0 }
      let client = Unmanaged<HTTP2Client>.fromOpaque(context).takeUnretainedValue()
      let texts = [(name, nameSize), (value, valueSize)].map {
        String(decoding: UnsafeBufferPointer(start: $0.0, count: $0.1), as: UTF8.self)
      }
      client.responses[id, default: Response()].headers.append(texts.joined(separator: "="))
      return 0
    }
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, id, start, count, context in
      guard let context else { return 0 }
      let client = Unmanaged<HTTP2Client>.fromOpaque(context).takeUnretainedValue()
      client.responses[id, default: Response()].body += UnsafeBufferPointer(start: start, count: count)
      return 0
    }
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, id, code, context in
      guard let context else { return 0 }
      Unmanaged<HTTP2Client>.fromOpaque(context).takeUnretainedValue().responses[id, default: Response()]
        .code = code
      return 0
    }
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, context in
      guard let context, let frame = frame?.pointee, frame.hd.type == NGHTTP2_GOAWAY.rawValue else {
        return 0
      }
      let client = Unmanaged<HTTP2Client>.fromOpaque(context).takeUnretainedValue()
      client.goAways.append((frame.goaway.error_code, frame.goaway.last_stream_id))
      return 0
    }
  }

  /// Begins a request; nil as body for one without.
  @discardableResult
  func request(
    _ fields: [(String, String)] = [], method: String = "POST", path: String = "/", body: [UInt8]? = nil,
    isEnded: Bool = true
  ) -> Int32 {
    let all = [(":method", method), (":scheme", "http"), (":path", path), (":authority", "h")] + fields
    let owned = body.map { Body($0, isEnded) }
    var provider = nghttp2_data_provider()
    provider.source.ptr = owned.map { Unmanaged.passUnretained($0).toOpaque() }
    provider.read_callback = { _, _, buffer, limit, flags, source, _ in
      guard let pointer = source?.pointee.ptr else { return 0 }
      let body = Unmanaged<Body>.fromOpaque(pointer).takeUnretainedValue()
      let count = min(limit, body.bytes.count)
      if count == 0, !body.isEnded { return Int(NGHTTP2_ERR_DEFERRED.rawValue) }
      for index in 0..<count { buffer?[index] = body.bytes[index] }
      body.bytes.removeFirst(count)
      if body.isEnded, body.bytes.isEmpty { flags?.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
      return count
    }
    var id: Int32 = 0
    HTTP2Session.withFields(all.map { (Array($0.0.utf8), Array($0.1.utf8)) }) { start, count in
      id = withUnsafePointer(to: &provider) {
        nghttp2_submit_request(session, nil, start, count, owned == nil ? nil : $0, nil)
      }
    }
    bodies[id] = owned
    return id
  }

  /// Adds to the body of a request.
  func write(_ bytes: [UInt8], _ id: Int32, isEnded: Bool = false) {
    bodies[id]?.bytes += bytes
    bodies[id]?.isEnded = isEnded
    nghttp2_session_resume_data(session, id)
  }

  func reset(_ id: Int32) { nghttp2_submit_rst_stream(session, 0, id, NGHTTP2_CANCEL.rawValue) }

  /// What the client sends.
  func takeOutput() -> [UInt8] {
    var sent: [UInt8] = []
    while true {
      var bytes: UnsafePointer<UInt8>?
      let count = nghttp2_session_mem_send(session, &bytes)
      guard count > 0 else { return sent }
      sent += UnsafeBufferPointer(start: bytes, count: count)
    }
  }

  func receive(_ bytes: [UInt8]) {
    _ = bytes.withUnsafeBufferPointer { nghttp2_session_mem_recv(session, $0.baseAddress, $0.count) }
  }

  /// Exchanges bytes with a server until both have nothing to send.
  func run(with server: ServerConnection, piece: () -> Int = { .max }) {
    while true {
      let sent = takeOutput()
      let received = sent.isEmpty ? server.takeOutput() : server.exchange(sent, piece: piece)
      if sent.isEmpty, received.isEmpty { return }
      receive(received)
    }
  }
}
