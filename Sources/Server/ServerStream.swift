import RPCurlProtocols

/// The response of a request, and the control of how it is received.
package final class ServerStream {
  /// The response, as far as it is not sent yet.
  struct Response {
    var head: (status: Int, headers: Headers)?
    var body = ByteQueue()
    var isEnded = false
    var trailers: Headers?

    /// Whether there is anything to send.
    var hasMore: Bool { head != nil || body.count > 0 || isEnded }
  }

  /// The stream of HTTP/2; 0 in HTTP/1.1.
  let id: Int32
  /// Whether the method is HEAD.
  let isHead: Bool
  /// Whether the response may have a body: bytes are dropped otherwise.
  private(set) var hasBody: Bool
  /// The connection; nil when the request is over.
  private var connection: HTTPConnection?
  private(set) var handler: StreamHandler?
  var response = Response()
  /// Whether the connection is notified of what is to be sent.
  var isChanged = false
  /// Whether the status was set.
  package private(set) var hasResponded = false
  /// Whether the handler does not receive bytes.
  package private(set) var isPaused = false
  /// The bytes that arrived during the pause, which the client may not replace by others yet.
  private var unconsumed = 0
  /// Whether the handler waits for `resume`.
  private var isFull = false

  init(_ connection: HTTPConnection, id: Int32, isHead: Bool) {
    (self.connection, self.id, self.isHead, hasBody) = (connection, id, isHead, !isHead)
    connection.requestCount += 1
  }

  /// Whether the request is over: nothing is received or sent any more.
  package var isOver: Bool { connection == nil }

  /// Sets the status and the header fields. They are sent with the first bytes of the body, at the end of the round.
  ///
  /// Does nothing if the request is over, or has a status already. Fields that concern the connection and those with invalid
  /// names are omitted; the connection determines the length of the body.
  package func respond(status: Int, headers: Headers) {
    guard let connection, !hasResponded else { return }
    hasResponded = true
    if status == 204 || status == 304 { hasBody = false }
    response.head = (status, headers)
    connection.changed(self)
  }

  /// Adds bytes to the body.
  ///
  /// - Returns: false if the buffer is over its mark: wait for `StreamHandler.resume`. Further bytes are accepted.
  @discardableResult
  package func write(_ bytes: [UInt8]) -> Bool {
    guard let connection, hasResponded, !response.isEnded else { return true }
    if hasBody { response.body.append(bytes) }
    connection.changed(self)
    isFull = response.body.count >= connection.limits.highMark
    return !isFull
  }

  /// Adds bytes to the body, which are copied.
  @discardableResult
  package func write(_ bytes: RawSpan) -> Bool {
    write(bytes.withUnsafeBytes { Array($0) })
  }

  /// Ends the response.
  package func end(trailers: Headers? = nil) {
    guard let connection, hasResponded, !response.isEnded else { return }
    response.isEnded = true
    response.trailers = trailers?.isEmpty == true ? nil : trailers
    connection.changed(self)
  }

  /// Sets a complete response.
  package func respond(status: Int, headers: Headers, body: [UInt8]) {
    respond(status: status, headers: headers)
    write(body)
    end()
  }

  /// Ends the request without the rest of its response. The handler receives nothing more.
  ///
  /// - Parameter code: The code of HTTP/2 (RFC 9113, section 7): 8 is CANCEL. HTTP/1.1 closes the connection.
  package func reset(_ code: UInt32 = 8) {
    guard let connection else { return }
    close()
    connection.reset(self, code)
  }

  /// Stops receiving the body: the client can send no more than its window, or the buffers of the system. The handler may
  /// still receive what has arrived.
  package func pauseReading() {
    isPaused = true
  }

  /// Receives the body again.
  package func resumeReading() {
    guard isPaused else { return }
    isPaused = false
    connection?.resumeReading(self)
  }

  // MARK: For the connection

  func addUnconsumed(_ count: Int) { unconsumed += count }

  /// Returns the bytes of `addUnconsumed`, once.
  func takeUnconsumed() -> Int {
    defer { unconsumed = 0 }
    return unconsumed
  }

  /// Begins to call a handler.
  func begin(_ handler: StreamHandler?) {
    if connection != nil { self.handler = handler }
  }

  /// Calls `resume` if the handler waits, and the buffer is below its mark.
  func resumeIfDrained() {
    guard isFull, let connection, response.body.count < connection.limits.lowMark else { return }
    isFull = false
    handler?.resume()
  }

  /// The request is over.
  func close() {
    connection = nil
    handler = nil
    response = Response()
  }

  /// The request is over before its response was sent.
  func cancel(_ reason: ResetReason) {
    let handler = handler
    close()
    handler?.receiveReset(reason)
  }
}
