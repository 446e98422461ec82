import RPCurlBase
import RPCurlChain
import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtocols

/// One change to a list of headers.
enum HeaderChange: Sendable {
  /// The source of a value.
  enum Source: Sendable {
    /// A literal value.
    case literal(String)
    /// A template, whose values are inserted for each call.
    case template(Template, FunctionValues)
    /// An environment variable, read for each call.
    case environment(String)
    /// A file, read for each call.
    case file(String)
    /// The output of a command, which runs for each call.
    case command([String])
  }

  /// Replace every value by one.
  case set(String, Source)
  /// Add a value.
  case add(String, Source)
  /// Remove every value.
  case remove(String)
  /// Give the values to another name.
  case rename(String, to: String)

  /// The command that the change needs.
  var command: [String]? {
    switch self {
    case .set(_, .command(let command)), .add(_, .command(let command)): command
    default: nil
    }
  }

  /// Applies the change.
  ///
  /// - Parameters:
  ///   - headers: The headers to change.
  ///   - services: The services that provide values.
  ///   - output: The output of the change's command.
  func apply(
    to headers: inout Headers, _ services: any InterceptorServices, output: Result<[UInt8], SystemError>?
  ) throws(SystemError) {
    switch self {
    case .set(let name, let source): headers.set(name, try Self.value(name, source, services, output))
    case .add(let name, let source): headers.add(name, try Self.value(name, source, services, output))
    case .remove(let name): headers.remove(name)
    case .rename(let old, let new):
      let old = old.lowercased()
      headers = Headers(headers.fields.map { ($0.name == old ? new : $0.name, $0.value) })
    }
  }

  private static func value(
    _ name: String, _ source: Source, _ services: any InterceptorServices,
    _ output: Result<[UInt8], SystemError>?
  ) throws(SystemError) -> String {
    do throws(SystemError) {
      switch source {
      case .literal(let text): return text
      case .template(let template, let values):
        let expanded: String
        do throws(LanguageError) { expanded = try template.text(values) } catch {
          throw SystemError(error.reason)
        }
        return try checked(expanded, name)
      case .environment(let variable):
        guard let text = services.environment(variable) else {
          throw SystemError("the environment variable \(variable) is not set")
        }
        return try checked(text, name)
      case .file(let path):
        do throws(SystemError) {
          return try value(name, bytes: try services.contents(ofFile: path))
        } catch {
          throw SystemError("\(path): \(error.reason)")
        }
      case .command:
        return try value(name, bytes: (output ?? .failure(SystemError("the command did not run"))).get())
      }
    } catch {
      throw SystemError("the value of \(name): \(error.reason)")
    }
  }

  /// Converts the bytes of a file or a command to a value: encodes them for a binary header, otherwise
  /// removes the last line end.
  private static func value(_ name: String, bytes: [UInt8]) throws(SystemError) -> String {
    if Headers.isBinary(name.lowercased()) { return Base64.encode(bytes, padding: false) }
    guard let text = String(validating: bytes, as: UTF8.self)?.withoutLineEnd else {
      throw SystemError("is not UTF-8")
    }
    return try checked(text, name)
  }

  private static func checked(_ value: String, _ name: String) throws(SystemError) -> String {
    guard isValue(value, of: name) else { throw SystemError(unfit(name)) }
    return value
  }

  /// Whether `text` is a valid value of the header `name`: base64 for a binary one.
  static func isValue(_ text: String, of name: String) -> Bool {
    HeaderSyntax.isValue(text)
      && (!Headers.isBinary(name.lowercased()) || Base64.decode(HeaderSyntax.trimmed(text)) != nil)
  }

  /// Why `isValue` is false, without the value, which may be a secret.
  static func unfit(_ name: String) -> String {
    Headers.isBinary(name.lowercased()) ? "is not base64" : "contains control characters"
  }
}
