import RPCurlCServer

/// The connection of a callback. C functions cannot refer to a static one without a type.
private func connection(_ context: UnsafeMutableRawPointer?) -> HTTP2Connection? {
  context.map { Unmanaged<HTTP2Connection>.fromOpaque($0).takeUnretainedValue() }
}

/// What a callback returns to end the connection.
private var failure: Int32 { NGHTTP2_ERR_CALLBACK_FAILURE.rawValue }

/// The functions that nghttp2 calls.
enum HTTP2Callbacks {
  static func set(_ callbacks: OpaquePointer?) {
    setReceiving(callbacks)
    setSending(callbacks)
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, id, code, context in
      connection(context)?.closed(id, code)
      return 0
    }
  }

  private static func setReceiving(_ callbacks: OpaquePointer?) {
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, context in
      guard let frame = frame?.pointee else { return failure }
      connection(context)?.beginFields(
        frame.hd.stream_id, isRequest: frame.headers.cat == NGHTTP2_HCAT_REQUEST)
      return 0
    }
    nghttp2_session_callbacks_set_on_header_callback(callbacks) {
      _, _, name, nameSize, value, valueSize, _, context in
      let isAccepted = connection(context)?.receiveField(
        UnsafeBufferPointer(start: name, count: nameSize), UnsafeBufferPointer(start: value, count: valueSize)
      )
      return isAccepted == true ? 0 : failure
    }
    // nghttp2 would omit the field.
    nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks) { _, _, _, _, _, _, _, _ in
      NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
    }
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, context in
      guard let frame = frame?.pointee else { return failure }
      return connection(context)?.received(frame) == true ? 0 : failure
    }
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, id, start, count, context in
      let bytes = UnsafeRawBufferPointer(start: start, count: count)
      connection(context)?.receive(bytes.bytes, for: id)
      return 0
    }
  }

  private static func setSending(_ callbacks: OpaquePointer?) {
    nghttp2_session_callbacks_set_send_data_callback(callbacks) { _, frame, header, count, _, context in
      guard let id = frame?.pointee.hd.stream_id else { return failure }
      let isSent = connection(context)?.send(
        id, header: UnsafeBufferPointer(start: header, count: 9), count: count)
      return isSent == true ? 0 : NGHTTP2_ERR_WOULDBLOCK.rawValue
    }
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { session, frame, context in
      guard let header = frame?.pointee.hd, header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0,
        header.type == NGHTTP2_DATA.rawValue || header.type == NGHTTP2_HEADERS.rawValue
      else { return 0 }
      let isRequestComplete = nghttp2_session_get_stream_remote_close(session, header.stream_id) == 1
      connection(context)?.sentEnd(header.stream_id, isRequestComplete: isRequestComplete)
      return 0
    }
    // Fields that are too large for nghttp2.
    nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks) { session, frame, _, _ in
      guard let header = frame?.pointee.hd, header.type == NGHTTP2_HEADERS.rawValue else { return 0 }
      nghttp2_submit_rst_stream(
        session, UInt8(NGHTTP2_FLAG_NONE.rawValue), header.stream_id, NGHTTP2_INTERNAL_ERROR.rawValue)
      return 0
    }
  }

  /// States how much of a body there is: `send` copies it.
  static let read: nghttp2_data_source_read_callback = { session, id, _, limit, flags, _, context in
    switch connection(context)?.piece(of: id, limit: limit) {
    case .bytes(let count, let isLast, let trailers):
      var mask = NGHTTP2_DATA_FLAG_NO_COPY.rawValue
      if isLast { mask |= NGHTTP2_DATA_FLAG_EOF.rawValue }
      if let trailers {
        mask |= NGHTTP2_DATA_FLAG_NO_END_STREAM.rawValue
        HTTP2Session.withFields(FieldRules.sent(trailers)) {
          _ = nghttp2_submit_trailer(session, id, $0, $1)
        }
      }
      flags?.pointee |= mask
      return count
    case .later, nil: return Int(NGHTTP2_ERR_DEFERRED.rawValue)
    }
  }
}
