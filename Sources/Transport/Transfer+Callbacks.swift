import RPCurlCCurl

extension Transfer {
  /// Sets the callbacks of libcurl, which call the transfer that uses the handle.
  ///
  /// - Parameters:
  ///   - handle: The handle.
  ///   - context: Refers to its `EasyHandle`.
  static func setCallbacks(
    of handle: TransferHandle, context: UnsafeMutableRawPointer
  ) throws(TransportError) {
    try handle.set(CURLOPT_READDATA, pointer: context)
    try handle.set(CURLOPT_SEEKDATA, pointer: context)
    try handle.set(CURLOPT_WRITEDATA, pointer: context)
    try handle.set(CURLOPT_HEADERDATA, pointer: context)
    try handle.set(CURLOPT_PREREQDATA, pointer: context)
    try handle.set(beforeRequest: { context, _, _, _, localPort in
      EasyHandle.transfer(context)?.mayRequest(localPort: localPort) == true
        ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
    })
    try handle.set(CURLOPT_SOCKOPTDATA, pointer: context)
    try handle.set(opened: { context, socket, _ in
      EasyHandle.transfer(context)?.opened(socket)
      return CURL_SOCKOPT_OK
    })
    try handle.set(CURLOPT_READFUNCTION) { data, size, count, context in
      EasyHandle.transfer(context)?.fill(data, size * count) ?? Int(CURL_READFUNC_ABORT)
    }
    try handle.set(seeking: { context, offset, origin in
      guard origin == SEEK_SET else { return CURL_SEEKFUNC_CANTSEEK }
      return EasyHandle.transfer(context)?.rewind(to: Int(offset)) == true
        ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_CANTSEEK
    })
    try handle.set(CURLOPT_WRITEFUNCTION) { data, size, count, context in
      EasyHandle.transfer(context)?.receive(body: UnsafeRawBufferPointer(start: data, count: size * count))
        ?? 0
    }
    try handle.set(CURLOPT_HEADERFUNCTION) { data, size, count, context in
      EasyHandle.transfer(context)?.receive(line: UnsafeRawBufferPointer(start: data, count: size * count))
        ?? 0
    }
  }
}
