// What the examples of the documents run with. Tests/EndToEnd/swift_examples.py writes the files that use it.
import Glibc
import RPCurlClient

enum Example {
  typealias Body = @Sendable (Schema) async throws -> Void

  /// An example did not do what its document says.
  struct Failure: Error { let reason: String }

  /// The server that takes the place of the servers in the documents.
  static let target = environment("EXAMPLES_SERVER")
  /// The URL of the server of tokens.
  static let tokens = environment("EXAMPLES_TOKENS")
  static let protocolName = ProtocolName(rawValue: environment("EXAMPLES_PROTOCOL")) ?? .grpc
  /// Metadata of all calls.
  @TaskLocal static var headers = Headers()

  private static func environment(_ name: String) -> String {
    getenv(name).map { String(cString: $0) } ?? ""
  }

  /// Runs `body` with calls of which the server fails the first.
  ///
  /// - Parameter afterStart: Whether the failure follows the headers of the response.
  static func failingFirst(afterStart: Bool = false, _ body: () async throws -> Void) async throws {
    var headers: Headers = ["demo-fail-first": "\(UInt64.random(in: 0 ... .max))=1"]
    if afterStart { headers["demo-header"] = "x-demo=1" }
    try await $headers.withValue(headers) { try await body() }
  }

  /// Makes calls through an interceptor.
  static func pass(_ interceptor: any ChainMember, _ schema: Schema) async throws {
    try await withRPCClient(target, schema: schema, interceptors: [interceptor]) { client in
      try await greet(client)
      try await count(client)
    }
  }

  /// Makes calls through an interceptor that repeats them. The server fails the first attempt at each.
  ///
  /// - Parameter streams: Whether it repeats streams that fail after their start.
  static func repeats(_ interceptor: any ChainMember, streams: Bool, _ schema: Schema) async throws {
    try await failingFirst {
      try await withRPCClient(target, schema: schema, interceptors: [interceptor]) { try await greet($0) }
    }
    if streams {
      try await failingFirst(afterStart: true) {
        try await withRPCClient(target, schema: schema, interceptors: [interceptor]) { try await count($0) }
      }
    }
    // Nothing else repeats them.
    try await failingFirst { try await fails(.unavailable, schema) }
  }

  /// Makes calls through an interceptor that fetches a token when the server refuses a call without it.
  static func authenticates(_ interceptor: any ChainMember, _ schema: Schema) async throws {
    try await $headers.withValue(["demo-token": "token"]) {
      try await pass(interceptor, schema)
      try await fails(.unauthenticated, schema)
    }
  }

  /// Makes a call without interceptors, which fails with a code.
  private static func fails(_ code: StatusCode, _ schema: Schema) async throws {
    try await withRPCClient(target, schema: schema) { client in
      do {
        try await greet(client)
      } catch let error as RPCError where error.code == code {
        return
      }
      throw Failure(reason: "the call did not fail with \(code)")
    }
  }

  private static func greet(_ client: RPCClient) async throws {
    let reply = try await client.unary("demo.v1.Demo/Hello", ["name": "Ada"])
    guard try reply.message["message"] as String == "Hello, Ada!" else {
      throw Failure(reason: "another greeting")
    }
  }

  private static func count(_ client: RPCClient) async throws {
    var numbers: [Int] = []
    for try await item in try await client.serverStreaming("demo.v1.Demo/Count", ["from": 1, "to": 3]) {
      numbers.append(try item["number"] as Int)
    }
    guard numbers == [1, 2, 3] else { throw Failure(reason: "other numbers: \(numbers)") }
  }
}

/// Takes the place of the function of the library in the examples: another server, its protocol, and metadata.
func withRPCClient<Result>(
  _ target: String, schema: Schema, options: ClientOptions = ClientOptions(),
  interceptors: [any ChainMember] = [], _ body: (RPCClient) async throws -> Result
) async throws -> Result {
  var options = options
  options.protocolName = Example.protocolName
  options.allowsOldLibcurl = true
  for field in Example.headers.fields { options.headers.add(field.name, field.value) }
  return try await RPCurlClient.withRPCClient(
    Example.target, schema: schema, options: options, interceptors: interceptors, body)
}
