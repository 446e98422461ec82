import Protobuf
import RPCProtocols

/// Asks a server for its schema: questions out, answers in, no I/O.
///
/// Each round asks for everything that is known to be missing at once, so a schema takes as many round trips as its
/// imports are deep, and one when the server sends what a file imports with it.
///
/// ```swift
/// var query = ReflectionQuery(.symbols(["demo.v1.Demo"]))
/// send(query.start())
/// switch try query.receive(answer) {
/// case .wait: break
/// case .send(let questions): send(questions)
/// case .open(let questions): openStream(query.version); send(questions)
/// case .done(let schema): use(schema)
/// }
/// ```
public struct ReflectionQuery {
  /// What is wanted.
  public enum Goal: Equatable, Sendable {
    /// What defines these symbols, of which each must be there.
    case symbols([String])
    /// What defines those of these symbols that the server knows.
    case whateverOf([String])
    /// The names of all services.
    case serviceNames
    /// What defines all services.
    case allServices
  }

  /// Bounds for what a server may send.
  public struct Limits: Equatable, Sendable {
    /// How many files, and how many questions.
    public var files = 10_000
    /// How many bytes of answers.
    public var bytes = 64 << 20

    /// Limits that no real schema meets.
    public init() {}
  }

  /// What to do next.
  public enum Step: Equatable, Sendable {
    /// Answers are to come.
    case wait
    /// Ask these on the stream; if it takes no more, its end gives `open`.
    case send([ReflectionQuestion])
    /// Ask these on a new stream, of the query's version.
    case open([ReflectionQuestion])
    /// All is known.
    case done(ReflectedSchema)
  }

  /// The files that need not be asked for: each program has them.
  static let builtIn: Set<String> = Set(
    ["any", "duration", "empty", "field_mask", "struct", "timestamp", "wrappers"]
      .map { "google/protobuf/\($0).proto" })

  /// What is known of the version of the streams.
  fileprivate enum Standing {
    /// The caller chose it.
    case chosen
    /// It is v1, which the server may not have.
    case tried
    /// It is v1alpha, since the server responded with this error to v1.
    case fallback(RPCError)
    /// The server has answered in it.
    case understood
  }

  /// The version of the streams.
  public var version: ReflectionVersion { schema.version }
  /// The questions without an answer, in the order asked.
  public private(set) var unanswered: [ReflectionQuestion] = []

  private let goal: Goal
  private let limits: Limits
  private var schema: ReflectedSchema
  private var asked: Set<ReflectionQuestion> = []
  private var fileNames: Set<String> = []
  private var imports: [String] = []
  private var receivedBytes = 0
  private var standing: Standing
  private var answersOnStream = 0
  /// Whether the server does not know a file that another imports.
  private var isFileMissing = false
  /// The symbol that the server does not know, while its services are asked for.
  private var unknownSymbol: String?

  /// Makes a query, of one version of reflection, or of v1 with v1alpha as what to fall back to.
  public init(_ goal: Goal, version: ReflectionVersion? = nil, limits: Limits = Limits()) {
    self.goal = goal
    self.limits = limits
    standing = version == nil ? .tried : .chosen
    schema = ReflectedSchema(version: version ?? .v1)
  }

  /// The first questions, for a new stream. Called once, before all else.
  public mutating func start() -> [ReflectionQuestion] {
    switch goal {
    case .symbols(let symbols), .whateverOf(let symbols): ask(symbols.map { .fileContaining(symbol: $0) })
    case .serviceNames, .allServices: ask([.services])
    }
  }

  // MARK: Answers

  /// Takes an answer.
  public mutating func receive(_ answer: [UInt8]) throws(ReflectionError) -> Step {
    receivedBytes += answer.count
    guard receivedBytes <= limits.bytes else { throw .tooMuch("more than \(limits.bytes >> 20) MiB") }
    guard let answer = ReflectionAnswer(serialized: answer) else {
      throw .wrongAnswer("it sent something else than a ServerReflectionResponse")
    }
    // Answers come in the order of the questions. Where a server says which one it answers, that counts.
    guard !unanswered.isEmpty else { throw .wrongAnswer("it answered more than it was asked") }
    let question = unanswered.remove(at: answer.question.flatMap(unanswered.firstIndex(of:)) ?? 0)
    standing = .understood
    answersOnStream += 1
    switch (answer.content, question) {
    case (.files(let files), .fileContaining(let symbol)):
      guard !files.isEmpty else { return try missing(symbol) }
      try add(files)
    case (.files(let files), .file):
      try add(files)
    case (.services(let names), .services):
      if let unknownSymbol { throw .unknownSymbol(unknownSymbol, services: names) }
      schema.services = names
      let questions = goal == .allServices ? ask(names.map { .fileContaining(symbol: $0) }) : []
      guard asked.count <= limits.files else { throw .tooMuch("more than \(limits.files) services") }
      if !questions.isEmpty { return .send(questions) }
    case (.error(let code, let message), _):
      return try refused(question, code: code, message: message)
    case (.files, _), (.services, _), (.nothing, _):
      throw .wrongAnswer("its answer does not fit the question for \(question)")
    }
    return try next()
  }

  /// Takes note that the stream has ended, though questions are open; `error` is its status, unless `ok`.
  ///
  /// After v1, v1alpha is asked if the error is a response of the server, or of a proxy, that may mean an unknown
  /// service. If v1alpha fails too, the error of v1 is thrown.
  public mutating func streamEnded(_ error: RPCError?) throws(ReflectionError) -> Step {
    guard let first = unanswered.first else { return .wait }
    let hasProgressed = answersOnStream > 0
    answersOnStream = 0
    guard let error else {
      // A server may take one question a stream; one that answers none of them never will.
      guard hasProgressed else { throw .wrongAnswer("it ended its answers without giving one") }
      return .open(unanswered)
    }
    if error.code == .notFound, error.origin == .server, !(first == .services && standing.allowsFallback) {
      // Some servers end the stream where the specification wants an answer that is an error.
      unanswered.removeFirst()
      _ = try refused(first, code: StatusCode.notFound.rawValue, message: error.message)
      if unanswered.isEmpty, case .done(let schema) = try next() { return .done(schema) }
      return .open(unanswered)
    }
    if standing.allowsFallback, error.mayMeanUnknownService { return .open(fallBack(error)) }
    throw failure(error)
  }

  /// Begins again with v1alpha.
  private mutating func fallBack(_ error: RPCError) -> [ReflectionQuestion] {
    standing = .fallback(error)
    schema.version = .v1alpha
    unknownSymbol = nil
    asked = []
    unanswered = []
    return start()
  }

  /// What a stream's error means when no other stream follows.
  private func failure(_ error: RPCError) -> ReflectionError {
    if let unknownSymbol { return .unknownSymbol(unknownSymbol, services: []) }
    switch standing {
    case .understood: return .failed(error)
    // The error of v1 says more, unless v1 is not there or the call of v1alpha had no response.
    case .fallback(let v1) where v1.code != .unimplemented && error.mayMeanUnknownService: return .failed(v1)
    case .chosen, .tried, .fallback: return error.code == .unimplemented ? .notOffered(error) : .failed(error)
    }
  }

  private mutating func refused(
    _ question: ReflectionQuestion, code: Int, message: String
  ) throws(ReflectionError) -> Step {
    switch question {
    case .fileContaining(let symbol) where code == StatusCode.notFound.rawValue:
      return try missing(symbol)
    case .file:
      isFileMissing = true
      return try next()
    case .services:
      if let unknownSymbol { throw .unknownSymbol(unknownSymbol, services: []) }
      throw .refused(question, code: code, message: message)
    case .fileContaining:
      throw .refused(question, code: code, message: message)
    }
  }

  private mutating func missing(_ symbol: String) throws(ReflectionError) -> Step {
    // What a missing file has may be nowhere; whether it is needed shows when the schema is used.
    guard symbols.contains(symbol) else { return try next() }
    switch goal {
    // A server that lists a service without having its file is asked for the others all the same.
    case .allServices, .whateverOf: return try next()
    case .symbols, .serviceNames: break
    }
    guard unknownSymbol == nil else { return .wait }
    unknownSymbol = symbol
    return .send(ask([.services]))
  }

  private mutating func add(_ files: [[UInt8]]) throws(ReflectionError) {
    for file in files {
      guard let outline = FileOutline(serialized: file) else {
        throw .wrongAnswer("it sent a file that is no descriptor")
      }
      guard fileNames.insert(outline.name).inserted else { continue }
      guard schema.fileCount < limits.files else { throw .tooMuch("more than \(limits.files) files") }
      schema.add(file: file)
      imports += outline.imports
    }
  }

  // MARK: Questions

  /// Asks for what is missing when all that was asked is answered.
  private mutating func next() throws(ReflectionError) -> Step {
    guard unanswered.isEmpty else { return .wait }
    let missing = imports.filter { !fileNames.contains($0) && !Self.builtIn.contains($0) }
    imports = []
    var questions = ask(missing.map { .file(named: $0) })
    if questions.isEmpty, isFileMissing {
      // The server may know what is in the file, if not the file by the name that imports give it.
      questions = ask(schema.unknownTypes(from: symbols).map { .fileContaining(symbol: $0) })
    }
    guard asked.count <= limits.files else { throw .tooMuch("more than \(limits.files) imports") }
    return questions.isEmpty ? .done(schema) : .send(questions)
  }

  /// The symbols that the schema is for.
  private var symbols: [String] {
    switch goal {
    case .symbols(let symbols), .whateverOf(let symbols): symbols
    case .serviceNames: []
    case .allServices: schema.services
    }
  }

  /// Notes the questions that were not asked before, and gives them.
  private mutating func ask(_ questions: [ReflectionQuestion]) -> [ReflectionQuestion] {
    let new = questions.filter { asked.insert($0).inserted }
    unanswered += new
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
  /// Only servers of gRPC respond with `unimplemented`. Proxies respond to a path without a route with `unavailable`,
  /// `not_found`, HTTP 401, 403 or 500, or a page. A failure without a response, and a lack of time or of room, do not
  /// depend on the path.
  fileprivate var mayMeanUnknownService: Bool {
    switch (origin, code) {
    case (_, .canceled), (_, .deadlineExceeded), (_, .resourceExhausted): false
    case (.server, _), (.violation, _): true
    default: false
    }
  }
}
