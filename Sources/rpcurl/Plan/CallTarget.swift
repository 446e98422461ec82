import CommandLine
import RPCProtocols

/// Finds out which server and which method the arguments of a call name.
enum CallTarget {
  /// Resolves `URL`, `TARGET METHOD`, or `METHOD` if the configuration file names a target.
  static func resolve(_ command: CallCommand) throws(Failure) -> (Target, MethodName) {
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
    _ target: Positional, method: String?, _ command: CallCommand
  ) throws(Failure) -> (Target, MethodName) {
    do throws(Failure) {
      guard let method else {
        return try Target.parse(target.text, method: nil, isPlaintext: command.server.plaintext)
      }
      try checkEndsNotWithMethod(target.text, method, command)
      try checkOrder(target.text, method)
      return try Target.parse(target.text, method: method, isPlaintext: command.server.plaintext)
    } catch {
      throw error.at(target.origin)
    }
  }

  /// A method first and a server second are in the wrong order.
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

  /// A method alone is not a server, although it could be read as one.
  private static func checkIsNotMethod(_ text: String) throws(Failure) {
    guard let name = MethodName(text), let last = name.service.split(separator: ".").last,
      name.service.contains("."), last.first?.isUppercase == true
    else { return }
    throw Failure(
      .usage, text, "no server to call",
      hint: "write rpcurl HOST:PORT \(text), or a line \"target URL\" in the configuration file")
  }

  private static func checkIsNotCommand(_ command: CallCommand) throws(Failure) {
    guard command.configuredTarget == nil, case let text = command.target.text,
      let nearest = CommandTable.nearest(to: text)
    else { return }
    // A host may have such a name.
    if let method = command.method?.text, method.contains("/"), MethodName(method) != nil { return }
    throw Failure(.usage, text, "no such command", hint: "did you mean \(nearest)?")
  }

  /// A URL that ends with a method needs no other.
  private static func checkEndsNotWithMethod(
    _ target: String, _ method: String, _ command: CallCommand
  ) throws(Failure) {
    guard
      let (_, name) = try? Target.parse(target, method: nil, isPlaintext: command.server.plaintext),
      name.service.contains("."), name.method.first?.isUppercase == true
    else { return }
    throw Failure(
      .usage, method, "the URL names the method \(name) already",
      hint: "omit the argument, or the method at the end of the URL")
  }
}
