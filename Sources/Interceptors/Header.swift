import Interception
import RPCProtocols

/// Makes interceptors that set, add and remove headers of the request.
struct HeaderFactory: InterceptorFactory {
  static let description = BuiltIns.Description(
    name: "header", summary: "set, add and remove request headers",
    keys: [
      BuiltIns.Key("set=NAME:VALUE", "replace every value of a header by one", mayRepeat: true),
      BuiltIns.Key("add=NAME:VALUE", "add a value to those that a header has", mayRepeat: true),
      BuiltIns.Key("remove=NAME", "remove every value of a header", mayRepeat: true),
    ],
    make: { settings, _ throws(ConfigurationError) in try HeaderFactory(settings) })

  /// A change to make, in the order written.
  private enum Change {
    case set(String, String)
    case add(String, String)
    case remove(String)
  }

  private let changes: [Change]

  private init(_ settings: SettingsReader) throws(ConfigurationError) {
    var changes: [Change] = []
    for setting in settings.all {
      let fail = { settings.error(setting.key, $0) }
      switch setting.key {
      case "set", "add":
        guard let colon = setting.value.firstIndex(of: ":") else {
          throw fail("the value is not of the form NAME:VALUE")
        }
        let name = String(setting.value[..<colon])
        let value = String(setting.value[setting.value.index(after: colon)...].drop { $0 == " " })
        guard HeaderSyntax.isName(name) else {
          throw fail("what stands before the colon is not a header's name")
        }
        guard !HeaderSyntax.framing.contains(name.lowercased()) else {
          throw fail("\(name) is written by the transport, and cannot be set")
        }
        guard HeaderSyntax.isValue(value) else { throw fail("the value of \(name) has control characters") }
        changes.append(setting.key == "set" ? .set(name, value) : .add(name, value))
      default:
        guard HeaderSyntax.isName(setting.value) else {
          throw fail("the value is not a header's name")
        }
        changes.append(.remove(setting.value))
      }
    }
    self.changes = changes
  }

  func make(for call: CallFacts, _ context: CallContext) -> (any Interceptor)? {
    changes.isEmpty ? nil : Header(self)
  }

  fileprivate func apply(to headers: inout Headers) {
    for change in changes {
      switch change {
      case .set(let name, let value): headers.set(name, value)
      case .add(let name, let value): headers.add(name, value)
      case .remove(let name): headers.remove(name)
      }
    }
  }
}

/// Changes the headers of one call's request.
private final class Header: Interceptor {
  let stages: Stages = .requestStart
  private let factory: HeaderFactory

  init(_ factory: HeaderFactory) { self.factory = factory }

  func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) {
    var start = start
    factory.apply(to: &start.headers)
    token.proceed(start)
  }
}
