import RPCurlCServer

/// A server's session of nghttp2, which calls the functions of an ``HTTP2Connection``.
final class HTTP2Session {
  /// nil without memory: the connection then ends at once.
  private let session: OpaquePointer?

  init(_ limits: ServerLimits) {
    var callbacks: OpaquePointer?
    var options: OpaquePointer?
    var session: OpaquePointer?
    if nghttp2_session_callbacks_new(&callbacks) == 0, nghttp2_option_new(&options) == 0 {
      HTTP2Callbacks.set(callbacks)
      nghttp2_option_set_no_auto_window_update(options, 1)
      // FrameBudget has a lower limit, with a better code.
      nghttp2_option_set_stream_reset_rate_limit(options, 2000, 1000)
      nghttp2_option_set_max_send_header_block_length(options, 1 << 20)
      nghttp2_session_server_new2(&session, callbacks, nil, options)
    }
    nghttp2_session_callbacks_del(callbacks)
    nghttp2_option_del(options)
    self.session = session
    let settings = [
      nghttp2_settings_entry(
        settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: UInt32(limits.streams)),
      nghttp2_settings_entry(
        settings_id: Int32(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE.rawValue), value: UInt32(limits.streamWindow)),
      nghttp2_settings_entry(
        settings_id: Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue), value: UInt32(limits.headerBytes)),
    ]
    nghttp2_submit_settings(session, Self.noFlags, settings, settings.count)
    nghttp2_session_set_local_window_size(session, Self.noFlags, 0, limits.connectionWindow)
  }

  deinit { nghttp2_session_del(session) }

  private static var noFlags: UInt8 { UInt8(NGHTTP2_FLAG_NONE.rawValue) }

  /// Sets what the callbacks are for. It must outlive the use of the session.
  func attach(_ connection: HTTP2Connection) {
    nghttp2_session_set_user_data(session, Unmanaged.passUnretained(connection).toOpaque())
  }

  /// Whether bytes of the client are wanted, or there is anything to send.
  var wantsMore: Bool { nghttp2_session_want_read(session) != 0 || nghttp2_session_want_write(session) != 0 }

  /// The number of frames that wait to be sent.
  var queuedFrames: Int { nghttp2_session_get_outbound_queue_size(session) }

  /// Receives bytes of the client. Returns the code with which the connection ends; nil if it continues.
  func receive(_ bytes: RawSpan) -> nghttp2_error_code? {
    let result = bytes.withUnsafeBytes {
      nghttp2_session_mem_recv(session, $0.assumingMemoryBound(to: UInt8.self).baseAddress, $0.count)
    }
    switch result {
    case 0...: return nil
    case Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue), Int(NGHTTP2_ERR_FLOODED.rawValue):
      return NGHTTP2_ENHANCE_YOUR_CALM
    default: return NGHTTP2_PROTOCOL_ERROR
    }
  }

  /// Adds what can be sent to an output. Returns false if the connection must end.
  func send(_ append: (UnsafeBufferPointer<UInt8>) -> Bool) -> Bool {
    while true {
      var bytes: UnsafePointer<UInt8>?
      let count = nghttp2_session_mem_send(session, &bytes)
      guard count > 0 else { return count == 0 }
      guard append(UnsafeBufferPointer(start: bytes, count: count)) else { return true }
    }
  }

  func respond(_ id: Int32, _ fields: [(name: [UInt8], value: [UInt8])], hasBody: Bool) {
    var body = nghttp2_data_provider()
    body.read_callback = HTTP2Callbacks.read
    Self.withFields(fields) { start, count in
      let result = withUnsafePointer(to: &body) {
        nghttp2_submit_response(session, id, start, count, hasBody ? $0 : nil)
      }
      if result != 0 { reset(id, NGHTTP2_INTERNAL_ERROR.rawValue) }
    }
  }

  func sendContinue(_ id: Int32) {
    Self.withFields([(Array(":status".utf8), Array("100".utf8))]) {
      _ = nghttp2_submit_headers(session, Self.noFlags, id, nil, $0, $1, nil)
    }
  }

  /// Continues with a body of which there was nothing to send.
  func resume(_ id: Int32) { nghttp2_session_resume_data(session, id) }

  /// Permits the client to send as many bytes more.
  ///
  /// - Parameter id: The stream; nil for one that is over.
  func consume(_ count: Int, _ id: Int32?) {
    guard count > 0 else { return }
    if let id {
      nghttp2_session_consume(session, id, count)
    } else {
      nghttp2_session_consume_connection(session, count)
    }
  }

  func reset(_ id: Int32, _ code: UInt32) { nghttp2_submit_rst_stream(session, Self.noFlags, id, code) }

  func ping() { nghttp2_submit_ping(session, Self.noFlags, nil) }

  /// Announces that the connection ends; with `isFinal` no further requests are accepted.
  ///
  /// The announcement is followed by a PING: requests that the client has sent before it arrive before the reply.
  func shutDown(isFinal: Bool) {
    guard isFinal else {
      nghttp2_submit_shutdown_notice(session)
      return ping()
    }
    let last = nghttp2_session_get_last_proc_stream_id(session)
    nghttp2_submit_goaway(session, Self.noFlags, last, NGHTTP2_NO_ERROR.rawValue, nil, 0)
  }

  func terminate(_ code: nghttp2_error_code) { nghttp2_session_terminate_session(session, code.rawValue) }

  /// Calls `body` with the fields as nghttp2 has them.
  static func withFields(
    _ fields: [(name: [UInt8], value: [UInt8])], _ body: (UnsafePointer<nghttp2_nv>?, Int) -> Void
  ) {
    var bytes: [UInt8] = []
    for field in fields { bytes += field.name + field.value }
    bytes.withUnsafeMutableBufferPointer { all in
      // Not nil, also if all are empty.
      guard var next = all.baseAddress else { return body(nil, 0) }
      let pairs = fields.map { field in
        let value = next + field.name.count
        defer { next = value + field.value.count }
        return nghttp2_nv(
          name: next, value: value, namelen: field.name.count, valuelen: field.value.count, flags: noFlags)
      }
      body(pairs, pairs.count)
    }
  }
}
