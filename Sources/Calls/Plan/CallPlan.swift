import CommandLine
import Glibc
import Interception
import Output
import Protobuf
import RPCClient
import RPCProtocols
import Transport

/// Everything that a call needs, resolved from the options: the command only carries it out.
@dynamicMemberLookup
package struct CallPlan {
  /// What needed no schema; its members are the plan's.
  package let settings: CallSettings
  package let method: MethodDescriptor
  /// The method's whole name, of which the settings may have the end only.
  package let name: MethodName
  package let pool: DescriptorPool
  package let connection: ConnectionOptions
  package var chain = ChainSource()
  /// The messages that are known; a session sends its own.
  package var sources: [RequestSource] = []
  package let batch: BatchPlan?
  /// What is printed of each response; `nil` for all of it.
  package let filter: FieldFilter?
  /// The server as a source of what the schema turns out not to know; `nil` when it is not to be asked.
  package let reflection: ReflectionSource?

  package subscript<Value>(dynamicMember member: KeyPath<CallSettings, Value>) -> Value {
    settings[keyPath: member]
  }

  /// The call as the client takes it.
  package var request: CallRequest {
    var request = CallRequest(method: method, target: settings.target.baseURL, userAgent: Version.userAgent)
    request.headers = settings.headers
    request.timeout = settings.timeout
    request.protocolName = settings.protocolName
    request.codec = settings.codec
    request.compression = settings.compression
    request.acceptedCompressions = settings.acceptedCompressions
    request.usesGET = settings.usesGET
    request.maxMessageBytes = settings.maxMessageBytes
    request.tellsSizes = settings.verbosity > 1
    request.connection = connection
    return request
  }

  /// What to try, for an error whose usual cause is known.
  package func hint(for error: RPCError) -> String? {
    Self.hint(for: error, target: settings.target, protocolName: settings.protocolName)
  }

  /// What to try, for an error of a call to `target`.
  package static func hint(for error: RPCError, target: Target, protocolName: ProtocolName) -> String? {
    switch error.origin {
    case .tls where error.message.contains("wrong version number"):
      "the server does not speak TLS here; use --plaintext, or http:// in the URL"
    case .tls where error.message.contains("certificate required"):
      "the server requires a client's certificate: --cert FILE, and --key FILE if the key is elsewhere"
    case .proxy where error.message.contains("407"):
      "give them in the proxy's URL: --proxy http://USER:PASSWORD@HOST:PORT"
    case .proxy:
      "the proxy is set by --proxy, http_proxy, https_proxy or ALL_PROXY; --proxy '' uses none"
    case .tls where error.message.contains("no certificate authorities"):
      "install ca-certificates, set SSL_CERT_FILE, or name a file with --cacert FILE"
    case .tls where error.message.contains("PKCS12"):
      "the passphrase of the file may be wrong or missing: give it with --pass @FILE or --pass env:NAME"
    case .tls:
      "trust its authority with --cacert FILE, or take any certificate with -k"
    case .connection where !target.isTLS && error.message.contains("HTTP/0.9"):
      "the server may speak HTTP/2 only, as gRPC does (--protocol grpc), or TLS (https://, without --plaintext)"
    case .connection where error.message.contains("requires HTTP/2"),
      .violation where error.message.contains("requires HTTP/2"):
      "over HTTP/1.1 use --protocol grpc-web, or --protocol connect"
    case .connection where error.message.contains("was lost by libcurl"):
      "libcurl 8.14 or newer is correct: use a build that contains it, or upgrade the system's; on Debian 12, apt-get install -t bookworm-backports libcurl4"
    case .violation where error.message.contains("content-type") || error.message.contains("HTTP 404"):
      switch protocolName {
      case .connect: "is this a Connect server? --protocol grpc speaks gRPC"
      case .grpcWeb: "is this a gRPC-Web server? --protocol grpc speaks gRPC"
      case .grpc: "is this a gRPC server? --protocol connect speaks Connect"
      }
    default: nil
    }
  }
}

/// What the arguments of a call resolve to.
package struct ResolvedCall {
  package let settings: CallSettings
  /// The interceptors, for which plugins are loaded.
  package let chain: ChainSource
  /// What the call needs; nil if only the server has the schema, and it was not asked.
  package let plan: CallPlan?
  /// Where the schema is from; nil with `plan`.
  package let origin: SchemaSource.Found.Origin?
}

extension CallPlan {
  /// Resolves the arguments of a call. The call itself is not sent.
  ///
  /// - Parameter isDry: Whether nothing is sent at all, not even requests for the schema, and no data is read.
  package static func resolve(
    _ command: CallArguments, clients: ClientSource, environment: @escaping (String) -> String?, isDry: Bool
  ) throws -> ResolvedCall {
    let settings = try CallSettings(command, environment)
    var reflection = try settings.reflection(command, clients, environment)
    reflection.isOffline = isDry
    let asksServer = command.reflection.reflect ?? !command.schema.hasSources
    // A mistake in these is reported before a server is asked for anything.
    let chain = try ChainSource(command.chain, verbosity: settings.verbosity)
    do {
      let found: SchemaSource.Found
      do throws(Failure) {
        found = try SchemaSource.find(
          settings.name, schema: command.schema, reflection: asksServer ? reflection : nil)
      } catch {
        guard isDry, error.message == ReflectionSource.notAsked.message else { throw error }
        return ResolvedCall(settings: settings, chain: chain, plan: nil, origin: nil)
      }
      let batch = try BatchPlan(command.batch, found.method)
      var plan = try CallPlan(
        command, settings, (found.pool, found.method), reflection: asksServer ? reflection : nil,
        batch: batch,
        sharesConnection: batch != nil)
      let data = command.data.data.filter { !isDry || !$0.hasPrefix("@") }
      if !isDry || !data.isEmpty {
        plan.sources = try RequestData.sources(
          data, for: plan.method, isBatch: batch != nil, form: settings.requestForm)
      }
      plan.chain = chain
      return ResolvedCall(settings: settings, chain: chain, plan: plan, origin: found.origin)
    } catch {
      chain.unload()
      throw error
    }
  }

  /// Resolves what depends on the method; chain and messages aside.
  ///
  /// - Parameters:
  ///   - reflection: The server as a source of what the schema turns out not to know.
  ///   - sharesConnection: Whether other calls may be there that want the same connection.
  ///   - idles: Whether nothing may follow for a long time.
  package init(
    _ options: some CallOptions, _ settings: CallSettings,
    _ found: (pool: DescriptorPool, method: MethodDescriptor), reflection: ReflectionSource?,
    batch: BatchPlan? = nil, sharesConnection: Bool, idles: Bool = false
  ) throws {
    (pool, method) = found
    name = MethodName(service: method.service, method: method.name)
    self.reflection = reflection
    var connection = settings.baseConnection
    connection.httpVersion = try ConnectionPlan.httpVersion(
      options.server, settings.target, settings.protocolName, method.kind)
    connection.sharesConnection = sharesConnection
    connection.closesWhenGivenUp = idles
    self.connection = connection
    self.batch = batch
    filter = try FieldFilter(settings.filter, of: method.output)
    if settings.usesGET { try Self.checkGET(settings.protocolName, method) }
    self.settings = settings
  }

  /// Checks that the method can be called by GET.
  package static func checkGET(_ protocolName: ProtocolName, _ method: MethodDescriptor) throws(Failure) {
    guard protocolName == .connect else {
      throw Failure(
        .usage, "--connect-get", "\(protocolName.rawValue) has no GET", hint: "add --protocol connect")
    }
    guard method.kind == .unary, method.hasNoSideEffects else {
      throw Failure(
        .usage, "--connect-get",
        method.kind == .unary
          ? "\(method.name) is not marked as free of side effects"
          : "\(method.name) is a stream, and only unary methods can be called by GET",
        hint: method.kind == .unary
          ? "the schema says so with: option idempotency_level = NO_SIDE_EFFECTS;" : nil)
    }
  }
}
