import RPCurlProgram
import RPCurlProtocols

/// Determines the server and the method of a call.
package enum CallTarget {
  /// Resolves `URL`, `TARGET METHOD`, or `METHOD` if the configuration file contains a target.
  ///
  /// - Parameters:
  ///   - command: The arguments.
  ///   - tls: Whether a target that is not a URL uses TLS.
  package static func resolve(
    _ command: Invocation, _ tls: Target.TLSChoice
  ) throws(Failure) -> (Target, MethodName) {
    // The parser has checked that there is one.
    let first = command.positionals.first ?? Positional("", .session)
    let method = command.positionals.dropFirst().first?.text
    if method == nil {
      if let target = command.configuredTarget, ConfiguredTarget.isMethod(first.text) {
        return try parse(target, method: first.text, tls, command)
      }
      try checkIsNotMethod(first.text)
    }
    try checkIsNotCommand(first.text, method, command)
    return try parse(first, method: method, tls, command)
  }

  /// The argument or the configured target that names the server.
  static func server(of command: Invocation) -> Positional? {
    ConfiguredTarget.isUsed(by: command) ? command.configuredTarget : command.positionals.first
  }

  private static func parse(
    _ target: Positional, method: String?, _ tls: Target.TLSChoice, _ command: Invocation
  ) throws(Failure) -> (Target, MethodName) {
    do throws(Failure) {
      guard let method else {
        return try Target.parse(target.text, method: nil, tls)
      }
      try checkEndsNotWithMethod(target.text, method)
      try checkOrder(target.text, method, command)
      return try Target.parse(target.text, method: method, tls)
    } catch {
      let server = try? Target.parse(server: target.text, tls)
      throw error.listing(server.map(command.listing) ?? "").at(target.origin)
    }
  }

  /// Throws if the method precedes the server.
  private static func checkOrder(
    _ target: String, _ method: String, _ command: Invocation
  ) throws(Failure) {
    guard MethodName(target) != nil, MethodName(method) == nil,
      method.contains(":") || method.contains("/")
    else { return }
    throw Failure(
      .usage, target, "a method where the target belongs",
      hint:
        "write rpcurl \(command.isNamed ? "\(CommandTable[command.command].name) " : "")\(Target.shown(method)) \(target)"
    )
  }

  /// Throws if the only argument is a method, which could also be read as a server.
  private static func checkIsNotMethod(_ text: String) throws(Failure) {
    guard isClearlyMethod(text) else { return }
    let lacksMethod = MethodName(text).map { !isService($0.service) } ?? false
    throw Failure(
      .usage, text, "no server to call",
      hint: "write rpcurl HOST:PORT \(text)\(lacksMethod ? "/METHOD" : ""), set RPCURL_TARGET, or add a line "
        + "\"target URL\" to .rpcurl")
  }

  /// Whether a text is `Method`, `pkg.Service/Method`, `pkg.Service.Method` or `pkg.Service`, with the upper case that
  /// methods or services usually have and hosts do not.
  private static func isClearlyMethod(_ text: String) -> Bool {
    if !text.contains(where: { ".:/".contains($0) }) {
      return ConfiguredTarget.isMethod(text) && text.first?.isUppercase == true
    }
    guard let name = MethodName(text), name.service.contains(".") else { return false }
    return isService(name.service) || !text.contains("/") && isService(text)
  }

  /// Whether a name is written as those of services are.
  private static func isService(_ name: String) -> Bool {
    name.split(separator: ".").last?.first?.isUppercase == true
  }

  private static func checkIsNotCommand(
    _ text: String, _ method: String?, _ command: Invocation
  ) throws(Failure) {
    // A host can have such a name, as services of compose do.
    if let method, method.contains("/"), MethodName(method) != nil { return }
    let nearest = command.configuredTarget == nil ? CommandTable.nearest(to: text) : nil
    guard nearest != nil || !command.isNamed && isBareWord(text) && method.map(isName) != true else { return }
    let advice =
      Suggestions.programs.contains(text)
      ? Suggestions.omit(text) + ";"
      : nearest.map { "did you mean \($0)?" } ?? "\"rpcurl help\" lists the commands;"
    throw Failure(.usage, text, "no such command", hint: "\(advice) a server is written HOST:PORT")
  }

  /// Whether a text may be a command as well as a host.
  private static func isBareWord(_ text: String) -> Bool {
    text != "localhost" && text.unicodeScalars.first?.properties.isAlphabetic == true
      && text.unicodeScalars.allSatisfy {
        "-_0123456789".unicodeScalars.contains($0) || $0.properties.isAlphabetic
      }
  }

  /// Whether a text is a method, and neither a server nor a word that a command could have.
  private static func isName(_ text: String) -> Bool {
    !text.contains(":") && ConfiguredTarget.isMethod(text)
      && (text.contains(".") || text.contains("/") || text.first?.isUppercase == true)
  }

  /// Throws if both the URL and an argument name a method.
  private static func checkEndsNotWithMethod(
    _ target: String, _ method: String
  ) throws(Failure) {
    guard target.utf8.contains(UInt8(ascii: "/")),
      let (_, name) = try? Target.parse(target, method: nil, .byTarget),
      name.service.contains("."), name.method.first?.isUppercase == true
    else { return }
    throw Failure(
      .usage, method, "the URL names the method \(name) already",
      hint: "omit the argument, or the method at the end of the URL")
  }
}
