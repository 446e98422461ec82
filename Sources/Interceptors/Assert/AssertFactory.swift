import Interception
import Protobuf
import RPCProtocols

/// Makes interceptors that hold calls against conditions, and report all that do not hold.
struct AssertFactory: InterceptorFactory {
  static let description = BuiltIns.Description(
    name: "assert", summary: "hold status, metadata, messages and latency against conditions",
    keys: [
      BuiltIns.Key("code=CODE", "the status code, by name or number; it then counts as success"),
      BuiltIns.Key("message=REGEX", "what the status message matches"),
      BuiltIns.Key(
        "header=NAME[:VALUE|=~REGEX]", "a response header that is there (!NAME: that is not)", mayRepeat: true
      ),
      BuiltIns.Key(
        "trailer=NAME[:VALUE|=~REGEX]", "a response trailer that is there (!NAME: that is not)",
        mayRepeat: true),
      BuiltIns.Key(
        "field=PATH OP VALUE", "what holds for a field of every response message", mayRepeat: true),
      BuiltIns.Key("first-field=PATH OP VALUE", "… of the first message", mayRepeat: true),
      BuiltIns.Key("last-field=PATH OP VALUE", "… of the last message", mayRepeat: true),
      BuiltIns.Key("any-field=PATH OP VALUE", "… of at least one message", mayRepeat: true),
      BuiltIns.Key("nth-field=N:PATH OP VALUE", "… of the message number N, from 0 on", mayRepeat: true),
      BuiltIns.Key("messages=[OP] N", "how many response messages come, such as 3 or >= 1"),
      BuiltIns.Key("latency=[<]DURATION", "how long the whole call takes at most"),
      BuiltIns.Key("name=TEXT", "what the check is called in reports"),
      BuiltIns.Key("junit=FILE", "write a JUnit XML report of all calls of this run"),
    ],
    make: { settings, services throws(ConfigurationError) in try AssertFactory(settings, services) })

  private let expectations: Expectations
  private let report: JUnitReport?
  private let services: any InterceptorServices

  private init(
    _ settings: SettingsReader, _ services: any InterceptorServices
  ) throws(ConfigurationError) {
    self.services = services
    expectations = try Expectations(settings)
    report = settings.text("junit").map { JUnitReport($0, services) }
    guard let report else { return }
    do throws(ServiceFailure) {
      try report.write()
    } catch {
      throw settings.error("junit", "\(report.path): \(error.reason)")
    }
  }

  func make(for call: CallFacts, _ context: CallContext) throws -> (any Interceptor)? {
    if let type = call.responseType {
      for expected in expectations.fields {
        do throws(ConditionError) {
          try expected.condition.check(against: type)
        } catch {
          // Nothing that this call could bring would make it hold.
          throw RPCError(.invalidArgument, error.reason, origin: .interceptor(context.name))
        }
      }
    }
    return Assertions(expectations, of: call, context, report, startedAt: services.nanosecondsSince1970)
  }
}
