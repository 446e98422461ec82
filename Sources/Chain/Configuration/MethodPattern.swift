import RPCurlProtocols

/// Which methods an interceptor is for: `pkg.Service/Method`, with `*` for any service, `pkg.*` for the services of a
/// package and of those within it, and `*` for any method. A service is named by any suffix of its name, such as
/// `Service/Method`.
public struct MethodPattern: Sendable, Hashable, CustomStringConvertible {
  private enum Service: Sendable, Hashable {
    case any
    case within(package: String)
    /// The services that have this name, or one that ends with it after a dot.
    case named(String)
  }

  private let service: Service
  /// The name of the method; nil is any.
  private let method: String?

  private init(_ service: Service, _ method: String?) {
    self.service = service
    self.method = method
  }

  /// Every method.
  public static let all = MethodPattern(.any, nil)
  /// Every method of a service.
  ///
  /// - Parameter name: The name of the service, or what it ends with after a dot.
  public static func service(_ name: String) -> MethodPattern { MethodPattern(.named(name), nil) }
  /// The methods of this name, in any service.
  ///
  /// - Parameter name: The method's own name.
  public static func method(_ name: String) -> MethodPattern { MethodPattern(.any, name) }
  /// A method of a service.
  ///
  /// - Parameter name: The name of the method. That of its service may lack the package.
  public static func exact(_ name: MethodName) -> MethodPattern {
    MethodPattern(.named(name.service), name.method)
  }

  /// Parses a pattern; returns nil if it is invalid.
  ///
  /// - Parameter text: The pattern, as in the setting `methods`.
  public init?(_ text: some StringProtocol) {
    guard let slash = text.lastIndex(of: "/") else {
      guard text != "*" else {
        self = .all
        return
      }
      guard let name = MethodName(text) else { return nil }
      self = .exact(name)
      return
    }
    let (service, method) = (text[..<slash], text[text.index(after: slash)...])
    let isWithin = service.hasSuffix(".*")
    let named = service == "*" ? "x" : "\(isWithin ? service.dropLast(2) : service[...])"
    guard let name = MethodName("\(named)/\(method == "*" ? "x" : method)") else { return nil }
    self.service = service == "*" ? .any : isWithin ? .within(package: name.service) : .named(name.service)
    self.method = method == "*" ? nil : name.method
  }

  /// Whether the pattern matches a method.
  ///
  /// - Parameter name: The full name of a method.
  public func matches(_ name: MethodName) -> Bool {
    guard method == nil || method == name.method else { return false }
    return switch service {
    case .any: true
    case .within(let package): name.service.hasPrefix(package + ".")
    case .named(let service): Self.names(service, name.service)
    }
  }

  /// The method that the pattern names of a service; nil if it is for others, or names no service or no method.
  ///
  /// - Parameter name: The full name of a service.
  package func method(of name: String) -> String? {
    if case .named(let service) = service, Self.names(service, name) { method } else { nil }
  }

  private static func names(_ text: String, _ service: String) -> Bool {
    service == text || service.hasSuffix(".\(text)")
  }

  /// The pattern as text.
  public var description: String {
    let method = method ?? "*"
    return switch service {
    case .any: method == "*" ? "*" : "*/\(method)"
    case .within(let package): "\(package).*/\(method)"
    case .named(let service): "\(service)/\(method)"
    }
  }
}
