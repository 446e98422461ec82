import RPCurlBase
import RPCurlEngine
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlSchemaTools

/// The methods that clients may call, and their types.
final class ProxySchema {
  let pool: DescriptorPool
  /// Whether the server itself responds to requests for the schema.
  let isReflected: Bool
  /// The methods that were called.
  private var methods: [MethodName: MethodDescriptor] = [:]

  init(_ pool: DescriptorPool, isReflected: Bool) {
    (self.pool, self.isReflected) = (pool, isReflected)
  }

  /// Reads the files that options name, and asks the server for the rest.
  ///
  /// - Parameter server: The server as a source; nil if there is none.
  convenience init(_ options: Invocation, _ server: ReflectionSource?, _ console: Console) throws {
    var sources = try SchemaSource.sources(options, console.error, waitLimit: options.duration(.maxTime))
    var isReflected = false
    if var server, options.asksServer {
      server.isOptional = true
      do throws(Failure) {
        if let (fetched, _) = try server.fetchAll() {
          sources.append(fetched)
          isReflected = true
        }
      } catch {
        guard let message = error.message, error.status != .interrupted else { throw error }
        console.error.remark(
          TerminalText.escape("rpcurl: \(message.what): \(message.why); calls pass as bytes") + "\n")
        // Perhaps the server has reflection when it runs.
        isReflected = true
      }
    }
    self.init(
      try SchemaSource.pool(sources + [SchemaSource.builtInServices]), isReflected: isReflected)
  }

  /// The names of the services, without those of gRPC itself that no other source has.
  var ownServiceNames: [String] {
    pool.symbols([.service]).filter { $0.source != WellKnownSchemas.sourceName }.map(\.name)
  }

  /// A method; nil if the schema does not have it.
  func method(_ name: MethodName) -> MethodDescriptor? {
    if let known = methods[name] { return known }
    let method = try? pool.method(service: name.service, method: name.method)
    // Not the names of methods that do not exist: clients choose them.
    if let method { methods[name] = method }
    return method
  }
}
