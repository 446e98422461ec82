import RPCurlCCurl
import RPCurlProtocols

/// An easy handle of libcurl, with what libcurl refers to until the handle is released.
final class EasyHandle {
  /// What the options of a handle are set for. Transfers with the same configuration can use the handle in turn.
  struct Configuration: Equatable {
    let url: String
    let method: String
    let options: SharedConnectionOptions
    let wantsTrailers: Bool
    /// Whether the body of the request is a stream.
    let isStream: Bool
    /// Whether the body of the request has bytes that libcurl's smallest buffer does not hold.
    let isLarge: Bool
  }

  let pointer: UnsafeMutableRawPointer
  /// The message of libcurl's last error.
  let errorBuffer: UnsafeMutablePointer<CChar>
  /// The transfer that uses the handle; libcurl's callbacks are for it.
  private(set) unowned(unsafe) var transfer: Transfer?
  /// What the options are set for; nil before all are set.
  private(set) var configuration: Configuration?
  /// Kept because libcurl refers to it.
  private let trace: ConnectionTrace?
  /// Lists that libcurl reads: of the connection, and of the header fields.
  private var lists: [UnsafeMutablePointer<curl_slist>?] = []
  private var fieldLists: [UnsafeMutablePointer<curl_slist>?] = []
  /// Header fields that the connection options add.
  private var extraFields: [String] = []
  /// The header fields and the size of the body that are set.
  private var headers = Headers()
  private var bodyBytes: Int?

  /// Makes a handle with the callbacks of transfers.
  ///
  /// - Parameters:
  ///   - sockets: Closes the sockets of its connections.
  ///   - trace: Observes its connections.
  /// - Throws: ``TransportError`` if libcurl is out of memory.
  init(_ sockets: SocketTable, _ trace: ConnectionTrace?) throws(TransportError) {
    guard let handle = ccurl_easy_init() else { throw TransportError(.library, "libcurl is out of memory") }
    pointer = handle
    self.trace = trace
    errorBuffer = .allocate(capacity: Int(CURL_ERROR_SIZE))
    errorBuffer.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    let options = TransferHandle(handle)
    try options.set(CURLOPT_NOSIGNAL, 1)
    try trace?.attach(to: options)
    try options.set(CURLOPT_ERRORBUFFER, pointer: errorBuffer)
    try Transfer.setCallbacks(of: options, context: Unmanaged.passUnretained(self).toOpaque())
    try sockets.attach(to: options)
  }

  deinit {
    ccurl_easy_cleanup(pointer)
    for list in lists + fieldLists { ccurl_slist_free_all(list) }
    errorBuffer.deallocate()
  }

  /// The transfer of a callback.
  static func transfer(_ context: UnsafeMutableRawPointer?) -> Transfer? {
    context.flatMap { Unmanaged<EasyHandle>.fromOpaque($0).takeUnretainedValue().transfer }
  }

  /// Gives the handle to a transfer.
  func begin(_ transfer: Transfer) { self.transfer = transfer }

  /// Takes the handle from its transfer, and keeps it for another one if there may be one.
  func end(keepingIn pool: EasyHandlePool?) {
    transfer = nil
    if trace == nil { pool?.add(self) }
  }

  /// The message of libcurl's last error since `forgetError`, without its first character: libcurl clears that to clear the
  /// message, as it does for each new connection.
  var restOfError: String { String(cString: errorBuffer + 1) }

  /// Whether libcurl has reported an error since `forgetError`.
  var hasError: Bool { errorBuffer[0] != 0 }

  /// Clears libcurl's message.
  func forgetError() { (errorBuffer[0], errorBuffer[1]) = (0, 0) }

  /// Records that an option was changed for one transfer, so that no other one uses the handle.
  func isForThisTransferOnly() { configuration = nil }

  /// Sets the options for a request. Those that an earlier one with the same configuration has set remain.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - bodyBytes: The length of its body; nil for a stream.
  ///   - configuration: The configuration of the request.
  func set(
    _ request: HTTPRequest, bodyBytes: Int?, _ configuration: Configuration
  ) throws(TransportError) {
    let options = TransferHandle(pointer)
    if self.configuration == nil {
      try options.set(configuration, extraFields: &extraFields, keeping: &lists)
    } else {
      forgetError()
    }
    if let bodyBytes, bodyBytes != self.bodyBytes, request.method != "GET" {
      try options.set(CURLOPT_POSTFIELDSIZE, bodyBytes)
    }
    self.bodyBytes = bodyBytes
    if self.configuration == nil || request.headers != headers {
      let former = fieldLists
      fieldLists = []
      try options.set(request.headers, configuration, extraFields, keeping: &fieldLists)
      for list in former { ccurl_slist_free_all(list) }
      headers = request.headers
    }
    self.configuration = configuration
  }
}

/// Idle handles of one configuration. To set the options of a handle costs as much as its request.
final class EasyHandlePool {
  /// The maximum number of idle handles.
  private static let limit = 256

  private let sockets: SocketTable
  private var idle: [EasyHandle] = []

  /// - Parameter sockets: The sockets of the loop.
  init(_ sockets: SocketTable) {
    self.sockets = sockets
  }

  /// An idle handle with the configuration, or a new one.
  func take(
    _ configuration: EasyHandle.Configuration, _ trace: ConnectionTrace?
  ) throws(TransportError) -> EasyHandle {
    if trace == nil, let last = idle.last, last.configuration == configuration { return idle.removeLast() }
    return try EasyHandle(sockets, trace)
  }

  /// Keeps a handle that another transfer can use.
  func add(_ handle: EasyHandle) {
    guard let configuration = handle.configuration else { return }
    if let last = idle.last, last.configuration != configuration { idle = [] }
    if idle.count < Self.limit { idle.append(handle) }
  }
}
