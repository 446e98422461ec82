import RPCProtocols

/// Which methods an interceptor is for: `*`, `pkg.Service/*`, `*/Method`, or one method's full name.
public enum MethodPattern: Sendable, Hashable, CustomStringConvertible {
  /// Every method.
  case all
  /// Every method of the service.
  case service(String)
  /// Methods of this name, in any service.
  case method(String)
  /// One method.
  case exact(MethodName)

  /// Parses a pattern; returns nil if it is invalid.
  public init?(_ text: some StringProtocol) {
    if text == "*" || text == "*/*" {
      self = .all
    } else if text.hasSuffix("/*"), let name = MethodName("\(text.dropLast(2))/x") {
      self = .service(name.service)
    } else if text.hasPrefix("*/"), let name = MethodName("x/\(text.dropFirst(2))") {
      self = .method(name.method)
    } else if let name = MethodName(text) {
      self = .exact(name)
    } else {
      return nil
    }
  }

  /// Whether the pattern matches a method.
  public func matches(_ name: MethodName) -> Bool {
    switch self {
    case .all: true
    case .service(let service): name.service == service
    case .method(let method): name.method == method
    case .exact(let exact): name == exact
    }
  }

  /// The pattern as text.
  public var description: String {
    switch self {
    case .all: "*"
    case .service(let service): "\(service)/*"
    case .method(let method): "*/\(method)"
    case .exact(let name): name.description
    }
  }
}
