import RPCurlChain
import RPCurlLanguage
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf

/// The files of `--record` and `--replay`: a cassette and a schema for each suite.
struct SuiteRecordings {
  private let recordings: SuiteOptions.Recordings
  /// The name of the suite's files in the directory: its path with `+` for `/`.
  private let name: String

  /// Whether the recorded schema is used, and not a newer one that is compared with it.
  private let hasOwnSchema: Bool

  init(_ options: SuiteOptions, _ recordings: SuiteOptions.Recordings, of suite: String) {
    self.recordings = recordings
    hasOwnSchema = options.contract == nil
    name = SuitePath.normalized(suite, in: FileContents.workingDirectory)
      .replacing("+", with: "++").replacing("/", with: "+")
  }

  /// Adds the interceptor that records or responds.
  func begin(_ session: Session) throws {
    switch recordings {
    case .record(let directory):
      Directory.make(directory)
      try execute("use record,file=\(Self.value(cassette(in: directory)))", session)
    case .replay(let directory):
      // A call that was not made has no schema: then there is no file.
      let schema = "\(directory)/\(name).binpb"
      if hasOwnSchema, access(schema, F_OK) == 0 {
        try execute("options --no-reflect --descriptor-set \(SessionWords.quoted(schema))", session)
      }
      try execute("use replay,file=\(Self.value(cassette(in: directory)))", session)
    case .mock(let file): try execute("use mock,file=\(Self.value(file))", session)
    }
  }

  /// Writes the schema of the recorded calls. Without calls, the cassette has none.
  func end(_ session: Session) throws {
    guard case .record(let directory) = recordings else { return }
    let cassette = cassette(in: directory)
    var status = stat()
    if stat(cassette, &status) == 0, status.st_size == 0,
      let problem = FileContents.replace(cassette, with: Array("\(Cassette.firstLine)\n".utf8))
    {
      throw Failure(.input, cassette, problem)
    }
    guard session.schema.pool != nil else { return }
    try execute("export \(SessionWords.quoted("\(directory)/\(name).binpb"))", session)
  }

  private func cassette(in directory: String) -> String { "\(directory)/\(name).cassette" }

  private func execute(_ line: String, _ session: Session) throws {
    var reader = SessionStatementReader()
    if let statement = try reader.add(line) { try session.execute(statement) }
  }

  /// A value of an interceptor's setting that is read as this text.
  private static func value(_ text: String) -> String {
    SettingScanner.inQuotes(Template(literal: text).description)
  }
}
