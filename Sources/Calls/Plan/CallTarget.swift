import CommandLine
import Output
import RPCProtocols

/// Determines the server and the method of a call.
package enum CallTarget {
  /// Resolves `URL`, `TARGET METHOD`, or `METHOD` if the configuration file contains a target.
  package static func resolve(_ command: CallArguments) throws(Failure) -> (Target, MethodName) {
    let first = command.target
    if command.method == nil {
      if let target = command.configuredTarget, isMethod(first.text) {
        return try parse(target, method: first.text, command)
      }
      try checkIsNotMethod(first.text)
    }
    try checkIsNotCommand(command)
    return try parse(first, method: command.method?.text, command)
  }

  private static func parse(
    _ target: Positional, method: String?, _ command: CallArguments
  ) throws(Failure) -> (Target, MethodName) {
    do throws(Failure) {
      guard let method else {
        return try Target.parse(target.text, method: nil, command.server.tls)
      }
      try checkEndsNotWithMethod(target.text, method, command)
      try checkOrder(target.text, method)
      return try Target.parse(target.text, method: method, command.server.tls)
    } catch {
      throw error.at(target.origin)
    }
  }

  /// Throws if the method precedes the server.
  private static func checkOrder(_ target: String, _ method: String) throws(Failure) {
    guard MethodName(target) != nil, MethodName(method) == nil,
      method.contains(":") || method.contains("/")
    else { return }
    throw Failure(
      .usage, target, "a method where the target belongs",
      hint: "write rpcurl \(Target.shown(method)) \(target)")
  }

  /// Whether an argument can be a method: `pkg.Service/Method`, `pkg.Service.Method` or `Method`.
  private static func isMethod(_ text: String) -> Bool {
    MethodName(text) != nil || MethodName("Service/\(text)") != nil
  }

  /// Throws if the only argument is a method, which could also be read as a server.
  private static func checkIsNotMethod(_ text: String) throws(Failure) {
    guard let name = MethodName(text), name.service.contains(".") else { return }
    let isWhole = isService(name.service)
    // No host ends with a name in capital letters.
    guard isWhole || !text.contains("/") && isService(text) else { return }
    let method = isWhole ? text : "\(text)/METHOD"
    throw Failure(
      .usage, text, "no server to call",
      hint: "write rpcurl HOST:PORT \(method), or a line \"target URL\" in the configuration file")
  }

  /// Whether a name is written as those of services are.
  private static func isService(_ name: String) -> Bool {
    name.split(separator: ".").last?.first?.isUppercase == true
  }

  private static func checkIsNotCommand(_ command: CallArguments) throws(Failure) {
    guard command.configuredTarget == nil, case let text = command.target.text,
      let nearest = CommandTable.nearest(to: text)
    else { return }
    // A host can have such a name.
    if let method = command.method?.text, method.contains("/"), MethodName(method) != nil { return }
    throw Failure(.usage, text, "no such command", hint: "did you mean \(nearest)?")
  }

  /// Throws if both the URL and an argument name a method.
  private static func checkEndsNotWithMethod(
    _ target: String, _ method: String, _ command: CallArguments
  ) throws(Failure) {
    guard
      let (_, name) = try? Target.parse(target, method: nil, command.server.tls),
      name.service.contains("."), name.method.first?.isUppercase == true
    else { return }
    throw Failure(
      .usage, method, "the URL names the method \(name) already",
      hint: "omit the argument, or the method at the end of the URL")
  }
}
