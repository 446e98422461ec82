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
  /// What calls have left for later ones.
  private struct State {
    /// The number of responses of each stub so far.
    var uses: [Int]
    var variables = StubVariables()

    /// The next response of a stub; nil if it has none left.
    mutating func next(_ stub: PreparedStub) -> Stub.Response? {
      let count = uses[stub.index]
      if let times = stub.stub.times, count >= times { return nil }
      uses[stub.index] += 1
      return stub.stub.responses[min(count, stub.stub.responses.count - 1)]
    }
  }

  private let state: Locked<State>

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
    let names = Set(stubs.flatMap(\.variables))
    for stub in stubs {
      do throws(LanguageError) { try stub.checkVariables(names) } catch {
        throw settings.error("file", "\(stub.place): \(error.reason)", hint: error.hint)
      }
    }
    self.stubs = stubs
    state = Locked(State(uses: Array(repeating: 0, count: stubs.count)))
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

  /// Runs a step of a call, which has the variables for itself: a selection and what it sets are one step.
  ///
  /// - Parameter body: The step. Its parameters are the variables, and a function that returns the next response of a stub, or
  ///   nil if it has none left.
  func step(_ body: (inout StubVariables, _ next: (PreparedStub) -> Stub.Response?) -> Void) {
    state.withLock { state in
      // Moved, so that they are changed in place.
      var variables = StubVariables()
      swap(&variables, &state.variables)
      body(&variables) { state.next($0) }
      swap(&variables, &state.variables)
    }
  }

  /// Whether calls without a matching stub are forwarded to the server.
  var letsMissesPass: Bool { miss == .pass }

  /// The methods of the stubs, in order.
  var methods: [String] { stubs.map(\.method.description) }
}
