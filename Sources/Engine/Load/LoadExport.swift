import RPCurlBase
import RPCurlLanguage
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlReports

/// Writes a load as a script for k6.
final class LoadExport {
  // A class: the code that copies a struct with all options of a call would be 40 KB.
  private let plan: CallPlan
  private let arguments: Invocation
  private let options: LoadOptions
  private let sources: WrittenSources?

  /// - Throws: `Failure` if k6 cannot make the load.
  init(
    _ plan: CallPlan, _ arguments: Invocation, _ options: LoadOptions, _ error: StandardError
  ) throws(Failure) {
    let shape = options.shape
    func unavailable(_ why: String) -> Failure { Failure(.usage, "--export k6", why) }
    guard plan.settings.protocolName == .grpc else {
      throw unavailable(
        "the module k6/net/grpc supports gRPC only, not \(plan.settings.protocolName.rawValue)")
    }
    guard plan.settings.target.unixSocket == nil else {
      throw unavailable("k6 cannot connect to a Unix socket")
    }
    guard !arguments.expandsData else {
      throw unavailable("k6 cannot replace the values of --expand in data")
    }
    let headers = plan.settings.headers
    if let field = headers.fields.first(where: { headers.values($0.name).count > 1 }) {
      throw unavailable("k6 sends one value of a header, and \(field.name) has several")
    }
    guard shape.level != nil || shape.requests == nil else {
      throw unavailable("stages of k6 have no limit of calls: omit --requests")
    }
    guard !K6Script.isTooShort(shape) else {
      throw Failure(
        .usage, "--export k6", "the load has a part of less than 1 s, which k6 refuses",
        hint: "increase --duration, --requests or --warm-up")
    }
    self.plan = plan
    self.arguments = arguments
    self.options = options
    sources = try WrittenSources(arguments, declaring: plan.name.service, in: plan.pool, error)
  }

  /// The script.
  ///
  /// - Throws: `Failure` if the data is invalid.
  func text() throws(Failure) -> String {
    var secrets = plan.settings.written
    var headers = plan.settings.headers
    let (authority, userAgent) = (headers.first("host"), headers.first("user-agent"))
    for name in ["host", "user-agent"] { headers.remove(name) }
    let metadata = headers.fields.map { field in
      (name: field.name, value: value(field.name, field.value, &secrets))
    }
    var script = K6Script(
      address: address, isPlaintext: !plan.settings.target.isTLS, method: "\(plan.name)",
      kind: plan.method.kind,
      schema: schema, messages: try messages(), metadata: metadata, timeout: plan.settings.timeout,
      shape: options.shape, thresholds: options.thresholds)
    script.tags = options.tags
    (script.authority, script.userAgent) = (authority, userAgent)
    script.isInsecure = arguments.has(.insecure)
    if arguments.last(.maxMessageSize) != nil {
      script.maxMessageBytes = plan.settings.wire.maxMessageBytes
    }
    script.notes = secrets.placeholders.map {
      "Set \($0.name) in the environment: \(TerminalText.escape($0.meaning))."
    }
    if !plan.chain.registrations.isEmpty {
      script.notes.append("The interceptors of rpcurl are not part of the script.")
    }
    if let preparation = sources?.preparation { script.notes.append(TerminalText.escape(preparation)) }
    let missing = self.missing
    if !missing.isEmpty { script.notes.append("Not in k6: \(missing.joined(separator: ", ")).") }
    if arguments.last(of: [.cacert, .cert]) != nil {
      script.notes.append(
        "Add the certificates as tls: { cacerts, cert, key } to the second argument of client.connect.")
    }
    return script.text
  }

  /// The server as HOST:PORT.
  private var address: String {
    let authority = plan.settings.target.baseURL.drop { $0 != "/" }.drop { $0 == "/" }.prefix { $0 != "/" }
    // An IPv6 address has colons in its brackets.
    let hasPort =
      authority.drop { $0 != "]" }.contains(":") || authority.first != "[" && authority.contains(":")
    return hasPort ? String(authority) : "\(authority):\(plan.settings.target.isTLS ? 443 : 80)"
  }

  private var schema: [K6Script.Schema] {
    // Of two methods with one name, k6 calls the one that is loaded last, and rpcurl the first.
    var schema: [K6Script.Schema] = []
    if let sources {
      schema =
        sources.preparation == nil
        ? [.protos(importPaths: sources.directories, files: sources.files)]
        : sources.files.map { .descriptorSet($0) }
    }
    schema += arguments.descriptorSets.compactMap(\.string).reversed().map { .descriptorSet($0) }
    return arguments.flag(.reflect) ?? schema.isEmpty ? schema + [.reflection] : schema
  }

  /// The names of the options that the script does not express. Their values may be secrets.
  private var missing: [String] {
    var names: [String] = []
    for argument in arguments.arguments where argument.value != .flag(false) {
      let option = OptionTable[argument.id]
      let isExpressed = option.expressed.contains(.k6) || option.isStandard(argument)
      if !isExpressed, !names.contains(option.name) { names.append(option.name) }
    }
    return names
  }

  private func messages() throws(Failure) -> [String] {
    var list: [String] = []
    for source in plan.sources {
      for message in try source.messages(waitLimit: plan.settings.timeout) {
        let parsed = try message.message(for: plan)
        do throws(DecodeError) {
          list.append(String(decoding: try parsed.json(), as: UTF8.self))
        } catch {
          throw Failure(.input, "-d", error.description)
        }
      }
    }
    return list
  }

  private func value(_ name: String, _ value: String, _ secrets: inout WrittenSecrets)
    -> K6Script.Value
  {
    let bytes = name.hasSuffix("-bin") ? Base64.decode(value) : nil
    let isSecret = secrets.names.contains(name) || plan.settings.redaction.text(value) != value
    guard isSecret, !secrets.showsSecrets else {
      return bytes.map { .bytes($0) } ?? .text(value)
    }
    let form = bytes == nil ? "" : " in base64"
    let variable = secrets.placeholder(name, "the value of the header \(name)\(form)", for: value).name
    return bytes == nil ? .variable(variable) : .base64(variable: variable)
  }
}
