import CommandLine
import Output
import Protobuf
import RPCProtocols

/// Where the schema comes from.
struct SchemaOptions {
  let descriptorSets: [Argument]
  let protos: [Argument]
  let importPaths: [String]

  init(_ invocation: Invocation) {
    descriptorSets = invocation.all(.descriptorSet)
    protos = invocation.all(.proto)
    importPaths = invocation.texts(.importPath)
  }

  /// Whether a source other than the server is named.
  var hasSources: Bool { !descriptorSets.isEmpty || !protos.isEmpty }
}

/// How the server is asked for the schema.
struct ReflectionOptions {
  let reflect: Bool?
  let reflectVersion: String?
  let headers: [Argument]
  let refusesCache: Bool

  init(_ invocation: Invocation) {
    reflect = invocation.flag(.reflect)
    reflectVersion = invocation.text(.reflectVersion)
    headers = invocation.all(.reflectHeader)
    refusesCache = invocation.has(.noCache)
  }
}

/// How to reach the server.
struct ServerOptions {
  let plaintext: Bool
  let insecure: Bool
  let cacert: Argument?
  let capath: Argument?
  let cert: Argument?
  let key: Argument?
  let pass: Argument?
  let servername: String?
  let authority: String?
  let tls12: Bool
  let tls13: Bool
  /// One of the options `--http1.1` to `--http3`.
  let httpVersion: OptionID?
  /// `-4` or `-6`.
  let ipVersion: OptionID?
  let unixSocket: String?
  let abstractUnixSocket: String?
  let certType: String?
  let proxy: String?
  let proxyUser: String?
  let resolve: [String]
  let connectTo: [Argument]
  let connectTimeout: Duration?
  let keepaliveTime: Duration?

  init(_ invocation: Invocation) {
    plaintext = invocation.has(.plaintext)
    insecure = invocation.has(.insecure)
    cacert = invocation.last(.cacert)
    capath = invocation.last(.capath)
    cert = invocation.last(.cert)
    key = invocation.last(.key)
    pass = invocation.last(.pass)
    servername = invocation.text(.servername)
    authority = invocation.text(.authority)
    tls12 = invocation.has(.tls12)
    tls13 = invocation.has(.tls13)
    httpVersion = invocation.last(of: [.http1, .http2, .http2PriorKnowledge, .http3])?.id
    ipVersion = invocation.last(of: [.ipv4, .ipv6])?.id
    unixSocket = invocation.text(.unixSocket)
    abstractUnixSocket = invocation.text(.abstractUnixSocket)
    certType = invocation.text(.certType)
    proxy = invocation.text(.proxy)
    proxyUser = invocation.text(.proxyUser)
    resolve = invocation.texts(.resolve)
    connectTo = invocation.all(.connectTo)
    connectTimeout = invocation.duration(.connectTimeout)
    keepaliveTime = invocation.duration(.keepaliveTime)
  }
}

/// What goes with every request, whether it is a call or asks for the schema.
struct CommonRequestOptions {
  let protocolName: ProtocolName?
  let headers: [Argument]
  let expandHeaders: Bool
  let user: Argument?
  let bearer: Argument?
  let netrc: Bool
  let netrcFile: Argument?
  let userAgent: String?

  init(_ invocation: Invocation) {
    protocolName = invocation.choice(.protocolName)
    headers = invocation.all(.header)
    expandHeaders = invocation.has(.expandHeaders)
    user = invocation.last(.user)
    bearer = invocation.last(.bearer)
    netrc = invocation.has(.netrc)
    netrcFile = invocation.last(.netrcFile)
    userAgent = invocation.text(.userAgent)
  }

  /// Reads the options of headers.
  func headerArguments(_ environment: @escaping (String) -> String?) -> HeaderArguments {
    HeaderArguments(expansion: expandHeaders ? HeaderExpansion(environment) : nil)
  }
}

/// What to say to the server.
struct RequestOptions {
  let common: CommonRequestOptions
  let codec: CodecName
  let connectGet: Bool
  let compression: Compression?
  let acceptCompression: [Compression]?
  let rpcHeaders: [Argument]
  let maxTime: Duration?
  let maxMessageBytes: Int

  init(_ invocation: Invocation) {
    common = CommonRequestOptions(invocation)
    codec = invocation.choice(.codec) ?? .proto
    connectGet = invocation.has(.connectGet)
    compression = invocation.choice(.compression)
    acceptCompression = invocation.list(.acceptCompression).map { names in
      names.reduce(into: []) { list, name in
        // identity means no compression.
        if let compression = Compression(rawValue: name), !list.contains(compression) {
          list.append(compression)
        }
      }
    }
    rpcHeaders = invocation.all(.rpcHeader)
    maxTime = invocation.duration(.maxTime)
    maxMessageBytes = invocation.bytes(.maxMessageSize) ?? 64 << 20
  }
}

/// What is sent as the request's messages.
struct DataOptions {
  let data: [String]
  let dataFormat: MessageFormat

  init(_ invocation: Invocation) {
    data = invocation.texts(.data)
    dataFormat = invocation.choice(.dataFormat) ?? .json
  }
}

/// How many calls are made of many messages.
struct BatchOptions {
  let each: Bool
  let jobs: Int?
  let failEarly: Bool

  init(_ invocation: Invocation) {
    each = invocation.has(.each)
    jobs = invocation.number(.jobs)
    failEarly = invocation.has(.failEarly)
  }
}

/// How the response is shown.
struct OutputOptions {
  let format: OutputFormat?
  let json: JSONOptions
  let allowUnknownFields: Bool
  let verbose: Int
  let color: ColorChoice
  let timing: Bool
  let showSecrets: Bool

  init(_ invocation: Invocation) {
    format = invocation.choice(.format)
    json = JSONOptions(invocation)
    allowUnknownFields = invocation.has(.allowUnknownFields)
    verbose = invocation.count(.verbose)
    color = invocation.choice(.color) ?? .auto
    timing = invocation.has(.timing)
    showSecrets = invocation.has(.showSecrets)
  }
}

/// What becomes of one command's response.
struct AnswerOptions {
  let filter: Argument?
  let output: String?
  let explain: Bool

  init(_ invocation: Invocation) {
    filter = invocation.last(.filter)
    output = invocation.text(.output)
    explain = invocation.has(.explain)
  }
}

/// How messages are written as JSON.
struct JSONOptions {
  private let invocation: Invocation

  init(_ invocation: Invocation) {
    self.invocation = invocation
  }

  /// Refuses those that were typed for an output that is not JSON. Lines of the configuration file apply to the outputs
  /// that they fit.
  func check(output: String) throws(Failure) {
    for id in [OptionID.emitDefaults, .enumNumbers, .protoNames] where invocation.has(id) {
      guard !invocation.isTyped(id) else {
        throw Failure(.usage, OptionTable[id].name, "it is for JSON, and the output is \(output)")
      }
    }
  }

  /// The same, as the codec takes it.
  var encoding: JSONEncodingOptions {
    JSONEncodingOptions(
      emitDefaults: invocation.has(.emitDefaults), enumNumbers: invocation.has(.enumNumbers),
      protoNames: invocation.has(.protoNames))
  }
}

/// How responses are printed.
enum OutputFormat: String {
  case pretty
  case json
  case text
  case binary
  case events
  case none
}
