import RPCurlBase
import RPCurlChain
import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtocols

/// Makes interceptors that respond to calls from stub files.
final class MockFactory: InterceptorFactory {
  static let description = BuiltIns.Description(
    name: "mock", summary: "respond to calls from stub files, without a server",
    keys: [
      BuiltIns.Key(
        "file=FILE", "stubs: a sequence of JSON objects; the first match is used", mayRepeat: true),
      BuiltIns.Key("miss=error|pass", "what to do with a call that no stub matches", default: "error"),
      BuiltIns.Key("seed=N", "random seed of ${uuid()} and ${random(1,9)}, for repeatable runs"),
    ],
    isHarmless: true,
    make: { settings, services throws(ConfigurationError) in try MockFactory(settings, services) })

  private enum Miss: String, CaseIterable {
    case error, pass
  }

  private let stubs: [Stub]
  private let miss: Miss
  /// The functions of responses.
  private let functions: TemplateFunctions
  /// The number of responses of each stub so far.
  private let uses: Locked<[Int]>

  private init(_ settings: SettingsReader, _ services: any InterceptorServices) throws(ConfigurationError) {
    miss = try settings.choice("miss", Miss.self) ?? .error
    functions = TemplateFunctions(services, seed: try settings.seed())
    var stubs: [Stub] = []
    for file in settings.texts("file") {
      let content: [UInt8]
      do {
        content = try services.contents(ofFile: file, holdsMessages: true)
      } catch {
        throw settings.error("file", "\(file): \(error.reason)")
      }
      do {
        stubs += try StubFile.read(content, file: file)
      } catch {
        throw settings.error("file", error.reason)
      }
    }
    guard !stubs.isEmpty else { throw settings.error("file", "missing value", hint: "give a file of stubs") }
    self.stubs = stubs
    uses = Locked(Array(repeating: 0, count: stubs.count))
  }

  var declaration: InterceptorDeclaration {
    InterceptorDeclaration(stages: Mock.stages, messages: MessageAccesses(.readTyped), effects: .responds)
  }

  func make(for call: CallFacts, _ context: CallContext) throws -> (any StagedInterceptor)? {
    var fitting: [PreparedStub] = []
    for (index, stub) in stubs.enumerated() where stub.method.matches(call.method) {
      do {
        fitting.append(try PreparedStub(stub, index: index, for: call))
        try stub.checkTemplates(call.requestType, values(for: call))
      } catch {
        throw ConfigurationError(
          interceptor: context.name, key: "file", reason: "\(stub.place): \(error.text)")
      }
    }
    if fitting.isEmpty, miss == .pass { return nil }
    return Mock(self, fitting, call, context)
  }

  /// The values of templates before the first message of a call.
  func values(for call: CallFacts) -> RequestValues {
    RequestValues(
      method: call.method, others: FunctionValues(functions, pool: nil, schemaOf: call.requestType))
  }

  /// Returns the stub's next response; `nil` if it has none left.
  func nextResponse(of stub: PreparedStub) -> Stub.Response? {
    uses.withLock { uses in
      let count = uses[stub.index]
      if let times = stub.stub.times, count >= times { return nil }
      uses[stub.index] += 1
      return stub.stub.responses[min(count, stub.stub.responses.count - 1)]
    }
  }

  /// Whether calls without a matching stub are forwarded to the server.
  var letsMissesPass: Bool { miss == .pass }

  /// The methods of the stubs, in order.
  var methods: [String] { stubs.map(\.method.description) }
}
