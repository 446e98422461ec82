import Calls
import Interceptors
import LoadModel
import Output
import Protobuf
import RPCProtocols

/// Writes a load as a script for k6.
final class LoadExport {
  // A class: the code that copies a struct with all options of a call would be 40 KB.
  private let plan: CallPlan
  private let arguments: CallArguments
  private let shape: LoadShape
  private let thresholds: [LoadThreshold]

  /// - Throws: `Failure` if k6 cannot make the load.
  init(
    _ plan: CallPlan, _ arguments: CallArguments, _ shape: LoadShape, _ thresholds: [LoadThreshold]
  ) throws(Failure) {
    func unavailable(_ why: String) -> Failure { Failure(.usage, "--export k6", why) }
    guard plan.protocolName == .grpc else {
      throw unavailable("the module k6/net/grpc supports gRPC only, not \(plan.protocolName.rawValue)")
    }
    guard plan.target.unixSocket == nil else { throw unavailable("k6 cannot connect to a Unix socket") }
    guard !arguments.data.isExpanded else { throw unavailable("cannot be combined with --expand-data") }
    guard !K6Script.isTooShort(shape) else {
      throw Failure(
        .usage, "--export k6", "the load has a part of less than 1 s, which k6 refuses",
        hint: "increase --duration, --requests or --warm-up")
    }
    self.plan = plan
    self.arguments = arguments
    self.shape = shape
    self.thresholds = thresholds
  }

  /// The script.
  ///
  /// - Throws: `Failure` if the data is invalid.
  func text() throws(Failure) -> String {
    var secrets = CommandSecrets(showsSecrets: plan.showsSecrets, separates: true)
    let metadata = plan.settings.headers.fields.map { field in
      (name: field.name, value: Self.value(field.name, field.value, &secrets))
    }
    var script = K6Script(
      address: address, isPlaintext: !plan.target.isTLS, method: "\(plan.name)", kind: plan.method.kind,
      schema: schema, messages: try messages(), metadata: metadata, timeout: plan.timeout, shape: shape,
      thresholds: thresholds)
    script.notes = secrets.placeholders.map {
      "Set \($0.name) in the environment: \(TerminalText.escape($0.meaning))."
    }
    if !plan.chain.registrations.isEmpty {
      script.notes.append("The interceptors of rpcurl are not part of the script.")
    }
    if arguments.server.cacert != nil || arguments.server.cert != nil || arguments.server.insecure {
      script.notes.append(
        "Add the certificates as tls: { cacerts, cert, key } to the second argument of client.connect.")
    }
    return script.text
  }

  /// The server as HOST:PORT.
  private var address: String {
    let authority = plan.target.baseURL.drop { $0 != "/" }.drop { $0 == "/" }.prefix { $0 != "/" }
    // An IPv6 address has colons in its brackets.
    let hasPort =
      authority.drop { $0 != "]" }.contains(":") || authority.first != "[" && authority.contains(":")
    return hasPort ? String(authority) : "\(authority):\(plan.target.isTLS ? 443 : 80)"
  }

  private var schema: K6Script.Schema {
    if let set = arguments.schema.descriptorSets.first?.string { return .descriptorSet(set) }
    let files = arguments.schema.protos.compactMap(\.string)
    return files.isEmpty ? .reflection : .protos(importPaths: arguments.schema.importPaths, files: files)
  }

  private func messages() throws(Failure) -> [String] {
    var list: [String] = []
    for source in plan.sources {
      for message in try source.messages(waitLimit: plan.timeout) {
        let parsed = try message.message(of: plan.method.input)
        do throws(DecodeError) {
          list.append(String(decoding: try parsed.json(), as: UTF8.self))
        } catch {
          throw Failure(.input, "-d", error.description)
        }
      }
    }
    return list
  }

  private static func value(_ name: String, _ value: String, _ secrets: inout CommandSecrets)
    -> K6Script.Value
  {
    let bytes = name.hasSuffix("-bin") ? Base64.decode(value) : nil
    guard Redaction.isSecret(name), !secrets.showsSecrets else {
      return bytes.map { .bytes($0) } ?? .text(value)
    }
    let form = bytes == nil ? "" : " in base64"
    let variable = secrets.placeholder(name, "the value of the header \(name)\(form)", for: value).name
    return bytes == nil ? .variable(variable) : .base64(variable: variable)
  }
}
