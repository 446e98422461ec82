import Interception
import Language
import Protobuf
import RPCProtocols

/// Makes interceptors that check calls against conditions, and report those that fail.
struct AssertFactory: CollectingFactory {
  static let description = BuiltIns.Description(
    name: "assert", summary: "check status, metadata, messages and latency against conditions",
    keys: [
      BuiltIns.Key("code=CODE", "expected status code, by name or number; the call then succeeds"),
      BuiltIns.Key("message=REGEX", "expected status message"),
      BuiltIns.Key(
        "header=NAME[:VALUE|=~REGEX]", "expected response header (!NAME: absent)", mayRepeat: true
      ),
      BuiltIns.Key(
        "trailer=NAME[:VALUE|=~REGEX]", "expected response trailer (!NAME: absent)",
        mayRepeat: true),
      BuiltIns.Key(
        "field=PATH OP VALUE", "condition on a field of every response message", mayRepeat: true),
      BuiltIns.Key("first-field=PATH OP VALUE", "… on the first message only", mayRepeat: true),
      BuiltIns.Key("last-field=PATH OP VALUE", "… on the last message only", mayRepeat: true),
      BuiltIns.Key("any-field=PATH OP VALUE", "… on at least one message", mayRepeat: true),
      BuiltIns.Key("nth-field=N:PATH OP VALUE", "… on message number N, counted from 0", mayRepeat: true),
      BuiltIns.Key("messages=[OP] N", "number of response messages, such as 3 or >= 1"),
      BuiltIns.Key("latency=[<]DURATION", "maximum duration of the whole call"),
      BuiltIns.Key("name=TEXT", "name of the check in reports"),
      BuiltIns.Key("junit=FILE", "write a JUnit XML report of all calls of this run"),
    ],
    make: { settings, services throws(ConfigurationError) in try AssertFactory(settings, services) })

  private let expectations: Expectations
  private let report: ReportFile<AssertReport.Case>?
  private let services: any InterceptorServices
  private let name: String

  private init(
    _ settings: SettingsReader, _ services: any InterceptorServices
  ) throws(ConfigurationError) {
    self.services = services
    name = settings.interceptor
    expectations = try Expectations(settings)
    guard let path = settings.text("junit") else {
      report = nil
      return
    }
    do throws(ServiceFailure) {
      let report = try AssertReport.file(path, services)
      try report.write()
      self.report = report
    } catch {
      throw settings.error("junit", "\(path): \(error.reason)")
    }
  }

  var declaration: InterceptorDeclaration {
    InterceptorDeclaration(
      stages: expectations.stages, messages: MessageAccesses(.readTyped), effects: .checksResults
    ).keepingResponses()
  }

  func conclude(_ network: FactoryNetwork, _ completion: @escaping @Sendable () -> Void) {
    report?.conclude(name, network)
    completion()
  }

  func make(for call: CallFacts, _ context: CallContext) throws -> (any StagedInterceptor)? {
    if let type = call.responseType {
      for expected in expectations.fields {
        do throws(LanguageError) {
          try expected.condition.check(against: type)
        } catch {
          // The condition can never hold for this call.
          let error = ConfigurationError(
            interceptor: context.name, key: expected.key, reason: error.reason)
          try? report?.add(AssertReport.notMade(error.description, at: services.nanosecondsSince1970))
          throw error
        }
      }
    }
    return Assertions(expectations, of: call, context, report, startedAt: services.nanosecondsSince1970)
  }
}
