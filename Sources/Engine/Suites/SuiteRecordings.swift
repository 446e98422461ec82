import RPCurlBase
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

  private let suite: String
  /// Whether the recorded schema is used, and not a newer one that is compared with it.
  private let hasOwnSchema: Bool

  init(_ options: SuiteOptions, _ recordings: SuiteOptions.Recordings, of suite: String) {
    self.recordings = recordings
    self.suite = suite
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
      let cassette = cassette(in: directory)
      guard access(cassette, R_OK) == 0 else {
        throw Failure(.input, cassette, FileContents.lastError(), hint: recordings.hint(for: suite))
      }
      // A call that was not made has no schema: then there is no file.
      let schema = "\(directory)/\(name).binpb"
      if hasOwnSchema, access(schema, F_OK) == 0 {
        try execute("options --no-reflect --descriptor-set \(SessionWords.quoted(schema))", session)
      }
      try execute("use replay,file=\(Self.value(cassette))", session)
    case .mock(let file): try execute("use mock,file=\(Self.value(file))", session)
    }
  }

  /// Writes the schema of the recorded calls. Without calls, the cassette has none.
  func end(_ session: Session) throws {
    guard case .record(let directory) = recordings else { return }
    let cassette = cassette(in: directory)
    do throws(SystemError) {
      // Another process may record to it now.
      let file = try AppendedFile(cassette, isAppending: true, waitLimit: session.waitLimit)
      try file.begin(ifEmpty: Array("\(Cassette.firstLine)\n".utf8))
    } catch {
      throw Failure(.input, cassette, error)
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

extension SuiteOptions.Recordings {
  /// How to make the recordings that are replayed again; nil if none are.
  func hint(for suite: String) -> String? {
    guard case .replay(let directory) = self else { return nil }
    let words = [directory, suite].map { ShellText($0).quoted }.joined(separator: " ")
    return "\"rpcurl test --record \(words)\" records the calls again"
  }
}

extension SuiteOptions {
  /// An error of a suite: of a name that the recorded schema lacks, with how to record it again.
  func explained(_ error: any Error, of suite: String) -> any Error {
    guard contract == nil, let hint = recordings?.hint(for: suite), let failure = error as? Failure,
      failure.status == .schema
    else { return error }
    return failure.changed { $0.append(hint: hint) }
  }
}
