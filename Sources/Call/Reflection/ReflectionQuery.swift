import RPCurlProtobuf
import RPCurlProtocols

/// Queries a server's schema: produces requests and consumes responses, without I/O.
///
/// Each round asks for everything that is known to be missing, so the number of round trips is the depth of
/// the imports, or one if the server sends imported files too.
///
/// ```swift
/// var query = ReflectionQuery(.symbols(["demo.v1.Demo"]))
/// send(query.start())
/// switch try query.receive(response) {
/// case .wait: break
/// case .send(let requests): send(requests)
/// case .open(let requests): openStream(query.version); send(requests)
/// case .done(let schema): use(schema)
/// }
/// ```
package struct ReflectionQuery {
  /// What to query.
  package enum Goal: Equatable, Sendable {
    /// The files that define these symbols; each symbol must exist.
    case symbols([String])
    /// The files for these requests, as far as the server has them.
    case existing([ServerReflectionRequest])
    /// The names of all services.
    case serviceNames
    /// The files that define all services.
    case allServices
  }

  /// Limits for a server's responses.
  package struct Limits: Equatable, Sendable {
    /// The maximum number of files, and of requests.
    package var files = 10_000
    /// The maximum number of response bytes.
    package var bytes = 64 << 20

    /// Limits that no real schema reaches.
    package init() {}
  }

  /// The next step of a query.
  package enum Step: Equatable, Sendable {
    /// Wait for responses.
    case wait
    /// Send these requests on the stream; if it is closed, its end returns `open`.
    case send([ServerReflectionRequest])
    /// Send these requests on a new stream, with the query's version.
    case open([ServerReflectionRequest])
    /// The query is complete.
    case done(ReflectedSchema)
  }

  /// Files that are built in and not requested.
  static let builtIn: Set<String> = Set(
    ["any", "duration", "empty", "field_mask", "struct", "timestamp", "wrappers"]
      .map { "google/protobuf/\($0).proto" })

  /// How the version of the streams was chosen.
  fileprivate enum Standing {
    /// The caller chose it.
    case chosen
    /// v1 was tried, which the server may lack.
    case tried
    /// v1alpha is tried, since the server responded to v1 with this error; nil for `ok` without a response.
    case fallback(RPCError?)
    /// The server has responded in it.
    case understood
  }

  /// The version of the streams.
  package var version: ReflectionVersion { schema.version }
  /// The requests without a response, in the order sent.
  package private(set) var pending: [ServerReflectionRequest] = []

  private let goal: Goal
  private let limits: Limits
  private var schema: ReflectedSchema
  private var requested: Set<ServerReflectionRequest> = []
  private var fileNames: Set<String> = []
  private var imports: [String] = []
  private var receivedBytes = 0
  private var standing: Standing
  private var responsesOnStream = 0
  /// Whether the server lacks a file that another imports.
  private var isFileMissing = false
  /// The symbol that the server lacks, while its services are requested.
  private var unknownSymbol: String?

  /// Makes a query.
  ///
  /// - Parameters:
  ///   - goal: What to query.
  ///   - version: The version of reflection; `nil` for v1 with v1alpha as the fallback.
  ///   - limits: Limits for the server's responses.
  package init(_ goal: Goal, version: ReflectionVersion? = nil, limits: Limits = Limits()) {
    self.goal = goal
    self.limits = limits
    standing = version == nil ? .tried : .chosen
    schema = ReflectedSchema(version: version ?? .v1)
  }

  /// Returns the first requests, for a new stream. Must be called once, first.
  package mutating func start() -> [ServerReflectionRequest] {
    switch goal {
    case .symbols(let symbols): enqueue(symbols.map { .fileContaining(symbol: $0) })
    case .existing(let requests): enqueue(requests)
    case .serviceNames, .allServices: enqueue([.services])
    }
  }

  // MARK: Responses

  /// Receives a response.
  ///
  /// - Returns: The next step.
  /// - Throws: ``ReflectionError`` if the schema cannot be obtained.
  package mutating func receive(_ response: [UInt8]) throws(ReflectionError) -> Step {
    receivedBytes += response.count
    guard receivedBytes <= limits.bytes else { throw .tooMuch("more than \(limits.bytes >> 20) MiB") }
    guard let response = ServerReflectionResponse(serialized: response) else {
      throw .invalidResponse("it is not a ServerReflectionResponse")
    }
    // Responses have the order of the requests, unless a server repeats the request.
    guard !pending.isEmpty else { throw .invalidResponse("it does not belong to a question") }
    let request = pending.remove(at: response.request.flatMap(pending.firstIndex(of:)) ?? 0)
    standing = .understood
    responsesOnStream += 1
    switch (response.content, request) {
    case (.files(let files), .fileContaining(let symbol)):
      guard !files.isEmpty else { return try missing(symbol) }
      try add(files)
    case (.files(let files), .file):
      isFileMissing = isFileMissing || files.isEmpty
      try add(files)
    case (.files(let files), .fileContainingExtension): try add(files)
    case (.services(let names), .services):
      if let unknownSymbol { throw .unknownSymbol(unknownSymbol, services: names) }
      schema.services = names
      let requests = goal == .allServices ? enqueue(names.map { .fileContaining(symbol: $0) }) : []
      guard requested.count <= limits.files else { throw .tooMuch("more than \(limits.files) services") }
      if !requests.isEmpty { return .send(requests) }
    case (.error(let code, let message), _):
      return try refused(request, code: code, message: message)
    case (.files, _), (.services, _), (.nothing, _):
      throw .invalidResponse("it does not match the question for \(request)")
    }
    return try next()
  }

  /// Handles the end of the stream while requests are open.
  ///
  /// After v1, v1alpha is tried if the status is a response of the server, or of a proxy, that may mean an
  /// unknown service. If v1alpha fails too, the error of v1 is thrown.
  ///
  /// - Parameter error: The status of the stream; `nil` for `ok`.
  package mutating func streamEnded(_ error: RPCError?) throws(ReflectionError) -> Step {
    guard let first = pending.first else { return .wait }
    let hasProgressed = responsesOnStream > 0
    responsesOnStream = 0
    guard let error else {
      // A server may accept one request per stream; one that responded to none never will.
      if hasProgressed { return .open(pending) }
      guard standing.allowsFallback else { throw Self.noResponse }
      return .open(fallBack(nil))
    }
    if error.code == .notFound, error.origin == .server, !(first == .services && standing.allowsFallback) {
      // Some servers end the stream instead of sending the error response that the specification requires.
      pending.removeFirst()
      _ = try refused(first, code: StatusCode.notFound.rawValue, message: error.message)
      if pending.isEmpty, case .done(let schema) = try next() { return .done(schema) }
      return .open(pending)
    }
    if standing.allowsFallback, error.mayMeanUnknownService { return .open(fallBack(error)) }
    throw failure(error)
  }

  /// Starts again with v1alpha.
  private mutating func fallBack(_ error: RPCError?) -> [ServerReflectionRequest] {
    standing = .fallback(error)
    schema.version = .v1alpha
    unknownSymbol = nil
    requested = []
    pending = []
    return start()
  }

  private static let noResponse = ReflectionError.invalidResponse(
    "the server ended the stream without a response")

  /// The error for a stream's error when no other stream follows.
  private func failure(_ error: RPCError) -> ReflectionError {
    if let unknownSymbol { return .unknownSymbol(unknownSymbol, services: []) }
    switch standing {
    case .understood: return .failed(error)
    case .fallback(nil) where error.mayMeanUnknownService: return Self.noResponse
    // The error of v1 is more specific, unless v1 is not implemented or the call of v1alpha had no response.
    case .fallback(let v1?) where v1.code != .unimplemented && error.mayMeanUnknownService: return .failed(v1)
    case .chosen, .tried, .fallback: return error.code == .unimplemented ? .notOffered(error) : .failed(error)
    }
  }

  private mutating func refused(
    _ request: ServerReflectionRequest, code: Int, message: String
  ) throws(ReflectionError) -> Step {
    switch request {
    case .fileContaining(let symbol) where code == StatusCode.notFound.rawValue:
      return try missing(symbol)
    case .file:
      isFileMissing = true
      return try next()
    // Also of a server that finds no extensions by number: the other requests have responses.
    case .fileContainingExtension: return try next()
    case .services:
      if let unknownSymbol { throw .unknownSymbol(unknownSymbol, services: []) }
      throw .refused(request, code: code, message: message)
    case .fileContaining:
      throw .refused(request, code: code, message: message)
    }
  }

  private mutating func missing(_ symbol: String) throws(ReflectionError) -> Step {
    // The content of a missing file may be nowhere; using the schema shows whether it is needed.
    guard symbols.contains(symbol) else { return try next() }
    switch goal {
    // Continues with the other services if a server lists one without having its file.
    case .allServices, .existing: return try next()
    case .symbols, .serviceNames: break
    }
    guard unknownSymbol == nil else { return .wait }
    unknownSymbol = symbol
    return .send(enqueue([.services]))
  }

  private mutating func add(_ files: [[UInt8]]) throws(ReflectionError) {
    for file in files {
      guard let outline = FileOutline(serialized: file) else {
        throw .invalidResponse("it contains an invalid file descriptor")
      }
      guard fileNames.insert(outline.name).inserted else { continue }
      guard schema.fileCount < limits.files else { throw .tooMuch("more than \(limits.files) files") }
      schema.add(file: file)
      imports += outline.imports
    }
  }

  // MARK: Requests

  /// Requests what is missing, when all requests have a response.
  private mutating func next() throws(ReflectionError) -> Step {
    guard pending.isEmpty else { return .wait }
    let missing = imports.filter { !fileNames.contains($0) && !Self.builtIn.contains($0) }
    imports = []
    var requests = enqueue(missing.map { .file(named: $0) })
    if requests.isEmpty, isFileMissing {
      // The server may find the file by a symbol, but not by the name in imports.
      requests = enqueue(schema.unknownTypes(from: symbols).map { .fileContaining(symbol: $0) })
    }
    guard requested.count <= limits.files else { throw .tooMuch("more than \(limits.files) imports") }
    return requests.isEmpty ? .done(schema) : .send(requests)
  }

  /// The symbols of the goal.
  private var symbols: [String] {
    switch goal {
    case .symbols(let symbols): symbols
    case .existing(let requests): requests.compactMap(\.symbol)
    case .serviceNames: []
    case .allServices: schema.services
    }
  }

  /// Records and returns the requests that were not made before.
  private mutating func enqueue(_ requests: [ServerReflectionRequest]) -> [ServerReflectionRequest] {
    let new = requests.filter { requested.insert($0).inserted }
    pending += new
    return new
  }
}

extension ReflectionQuery.Standing {
  /// Whether v1alpha may follow.
  fileprivate var allowsFallback: Bool {
    if case .tried = self { true } else { false }
  }
}

extension RPCError {
  /// Whether it is a response that may mean an unknown service.
  ///
  /// gRPC servers respond with `unimplemented`. Proxies respond to an unknown path with `unavailable`,
  /// `not_found`, HTTP 401, 403 or 500, or a page. A failure without a response, a timeout and a resource
  /// limit do not depend on the path.
  fileprivate var mayMeanUnknownService: Bool {
    switch (origin, code) {
    case (_, .canceled), (_, .deadlineExceeded), (_, .resourceExhausted): false
    case (.server, _), (.violation, _): true
    default: false
    }
  }
}
