import RPCurlBase
import RPCurlChain
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlTransport

/// The description of a call for `--explain`. Sends nothing, not even a request for the schema.
package final class Explanation {
  private let settings: CallSettings
  private let schema: String
  /// The method; nil if only the server has the schema.
  private let method: MethodDescriptor?
  /// The method's name, as far as it is known.
  private let name: MethodName
  private let httpVersion: String
  private let chain: ChainSource
  private let interceptors: ChainExplanation
  private let warnings: [String]
  /// The request data as typed; files are not read.
  private let data: [String]
  /// `--set` and `--set-file` as typed, and whether it is the former.
  private let edits: [(isFile: Bool, text: String)]
  private let chunkBytes: Int?
  private let isJSON: Bool
  private let configuration: ConfigurationReport
  /// The interceptors of the configuration that `--no-use` omits.
  private let omitted: [String]

  /// Describes the resolved arguments.
  package init(_ command: Invocation, _ resolved: ResolvedCall) throws {
    isJSON = command.format == .json || command.format == .events
    configuration = command.configuration
    omitted = ChainArguments(command).omitted.map(\.omission)
    settings = resolved.settings
    data = command.data
    edits = command.edits.map { ($0.id == .setFile, $0.text ?? "") }
    chunkBytes = command.bytes(.chunk)
    chain = resolved.chain
    method = resolved.plan?.method
    name = resolved.plan?.name ?? settings.name
    let isFixed = method != nil || settings.protocolName == .grpc || command.httpVersion != nil
    let connection = resolved.plan?.connection ?? settings.baseConnection
    httpVersion = connection.httpVersion.name + (isFixed ? "" : ", or 2 for a bidi method")
    schema =
      switch resolved.origin {
      case .files: Self.describe(command)
      case .cache: "reflection, from the cache"
      case .server, nil: "reflection, when the call is made"
      }
    interceptors = ChainExplanation(chain, method: name, kind: method?.kind, settings)
    warnings = [command.configuration.warning].compactMap { $0 } + interceptors.warnings
  }

  private static func describe(_ schema: Invocation) -> String {
    let sets =
      schema.descriptorSets.isEmpty
      ? [] : ["descriptor set " + schema.descriptorSets.compactMap(\.text).joined(separator: ", ")]
    let protos =
      schema.protos.isEmpty ? [] : [".proto file " + schema.protos.compactMap(\.text).joined(separator: ", ")]
    return (sets + protos).joined(separator: "; ")
  }

  /// Prints the description.
  package func show(on output: StandardOutput) {
    defer { chain.unload() }
    output.print(isJSON ? json : lines)
  }

  // MARK: Text

  private var lines: String {
    let kind = method.map { $0.kind.rawValue } ?? "known to the server only"
    var rows = [
      ("call", "\(call) (\(kind))"),
      ("target", settings.target.name),
      ("url", url),
      ("http method", httpMethod),
      ("protocol", settings.protocolName.rawValue),
      ("codec", settings.wire.codec.rawValue),
      ("http", httpVersion),
      ("schema", schema),
      ("compression", settings.wire.compression?.rawValue ?? "identity"),
      ("deadline", settings.timeout.map { "\($0.inSeconds) after the start" } ?? "none"),
    ]
    for field in settings.headers.fields {
      rows.append(("header", "\(field.name): \(redaction.value(field.value, of: field.name))"))
    }
    for (key, value) in settings.attributes.all {
      rows.append(("attribute", "\(key)=\(redaction.value(value, of: key))"))
    }
    for text in data { rows.append(("data", text)) }
    for edit in edits { rows.append((edit.isFile ? "set file" : "set", edit.text)) }
    if let chunkBytes { rows.append(("chunk", "\(chunkBytes) bytes")) }
    rows += interceptors.rows
    for entry in omitted { rows.append(("omitted", entry)) }
    for file in configuration.files { rows.append(("config", file.description)) }
    for warning in warnings { rows.append(("warning", warning)) }
    let width = 13
    return rows.map { name, value in
      name + String(repeating: " ", count: width - name.count) + TerminalText.escape(value) + "\n"
    }.joined()
  }

  // MARK: JSON

  private var json: String {
    var object = JSONObject()
    object.add("method", call)
    object.add("kind", raw: method.map { JSONValue.quoted($0.kind.rawValue) } ?? "null")
    object.add("target", settings.target.name)
    object.add("url", url)
    object.add("http_method", httpMethod)
    object.add("protocol", settings.protocolName.rawValue)
    object.add("codec", settings.wire.codec.rawValue)
    object.add("http_version", httpVersion)
    object.add("schema", schema)
    object.add("compression", settings.wire.compression?.rawValue ?? "identity")
    if let timeout = settings.timeout { object.add("timeout_ms", milliseconds: timeout) }
    object.add("headers", redaction.headers(settings.headers))
    object.add(attributes: redaction.attributes(settings.attributes))
    object.add("data", raw: "[\(data.map(JSONValue.quoted).joined(separator: ","))]")
    for isFile in [false, true] {
      let texts = edits.filter { $0.isFile == isFile }.map { JSONValue.quoted($0.text) }
      if !texts.isEmpty { object.add(isFile ? "set_file" : "set", raw: "[\(texts.joined(separator: ","))]") }
    }
    if let chunkBytes { object.add("chunk", chunkBytes) }
    object.add("interceptors", raw: interceptors.json)
    if !omitted.isEmpty {
      object.add("omitted", raw: "[\(omitted.map(JSONValue.quoted).joined(separator: ","))]")
    }
    if !configuration.files.isEmpty {
      object.add("configuration", raw: "[\(configuration.files.map(json).joined(separator: ","))]")
    }
    object.add("warnings", raw: "[\(warnings.map(JSONValue.quoted).joined(separator: ","))]")
    return object.object + "\n"
  }

  private func json(_ file: ConfigurationReport.File) -> String {
    var object = JSONObject()
    object.add("path", file.path)
    if let isTrusted = file.isTrusted { object.add("trusted", raw: isTrusted ? "true" : "false") }
    return object.object
  }

  /// The URL of the call. If the method was given without its service, only the schema of the server contains it.
  private var url: String { settings.target.baseURL + (name.service.isEmpty ? "" : "/\(name)") }
  /// The method, as far as its name is known.
  private var call: String { name.service.isEmpty ? name.method : "\(name)" }
  /// The HTTP method. A message that is too long for a URL is sent with POST instead.
  private var httpMethod: String { settings.wire.usesGET ? "GET" : "POST" }
  private var redaction: Redaction { settings.redaction }
}

extension ConnectionOptions.HTTPVersion {
  /// The HTTP version as text.
  fileprivate var name: String {
    switch self {
    case .http1: "1.1"
    case .http2, .http2PriorKnowledge: "2"
    case .http3: "3"
    case .negotiated: "2 or 1.1, as negotiated"
    }
  }
}
