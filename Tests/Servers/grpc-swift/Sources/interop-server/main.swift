// The service of gRPC's interoperability tests on grpc-swift-2, without TLS: Tests/Servers/interop.proto.
//
// Prints `listening ADDRESS` when it accepts calls, and ends when standard input does. Each call is a line on standard error,
// `received SERVICE/METHOD`, and another one, `canceled SERVICE/METHOD`, if the client cancels it or its deadline passes.

import Dispatch
import GRPCCore
import GRPCNIOTransportHTTP2Posix
import Glibc
import Wire

let initial = "x-grpc-test-echo-initial"
let trailing = "x-grpc-test-echo-trailing-bin"
let service = "grpc.testing.TestService"

/// Writes the responses to a stream of requests.
typealias Handler = @Sendable (RPCAsyncSequence<Wire, any Error>, RPCWriter<Wire>) async throws -> Void

func log(_ line: String, to descriptor: Int32 = STDERR_FILENO) {
  _ = (line + "\n").withCString { write(descriptor, $0, strlen($0)) }
}

/// A message Payload of zeros, in field 1 of a response.
func response(size: Int) -> Wire {
  var payload = Wire()
  payload.append(2, [UInt8](repeating: 0, count: size))
  var response = Wire()
  response.append(1, payload.bytes)
  return response
}

/// Ends the call as its request asks: a message EchoStatus in field 7.
func endAsRequested(_ request: Wire) throws {
  guard let status = try request.messages(7).last, let code = try status.numbers(1).last else { return }
  let message = String(decoding: try status.messages(2).last?.bytes ?? [], as: UTF8.self)
  guard let code = Status.Code(rawValue: code), let error = RPCError.Code(code) else { return }
  throw RPCError(code: error, message: message)
}

/// Responds to a StreamingOutputCallRequest.
func respond(to request: Wire, _ writer: RPCWriter<Wire>) async throws {
  try endAsRequested(request)
  for parameters in try request.messages(2) {
    try await writer.write(response(size: try parameters.numbers(1).last ?? 0))
  }
}

let handlers: [String: Handler] = [
  "EmptyCall": { requests, writer in
    for try await _ in requests { try await writer.write(Wire()) }
  },
  "UnaryCall": { requests, writer in
    for try await request in requests {
      try endAsRequested(request)
      try await writer.write(response(size: try request.numbers(2).last ?? 0))
    }
  },
  "CacheableUnaryCall": { requests, writer in
    for try await _ in requests {
      var payload = Wire()
      payload.append(2, Array("\(DispatchTime.now().uptimeNanoseconds)".utf8))
      var response = Wire()
      response.append(1, payload.bytes)
      try await writer.write(response)
    }
  },
  "StreamingOutputCall": { requests, writer in
    for try await request in requests { try await respond(to: request, writer) }
  },
  "StreamingInputCall": { requests, writer in
    var size = 0
    for try await request in requests {
      size += try request.messages(1).last?.messages(2).last?.bytes.count ?? 0
    }
    var response = Wire()
    response.append(1, size)
    try await writer.write(response)
  },
  "FullDuplexCall": { requests, writer in
    for try await request in requests { try await respond(to: request, writer) }
  },
  "HalfDuplexCall": { requests, writer in
    var received: [Wire] = []
    for try await request in requests { received.append(request) }
    for request in received { try await respond(to: request, writer) }
  },
]

var router = RPCRouter<HTTP2ServerTransport.Posix>()
for (name, handler) in handlers {
  let method = MethodDescriptor(fullyQualifiedService: service, method: name)
  router.registerHandler(
    forMethod: method, deserializer: WireDeserializer(), serializer: WireSerializer()
  ) { request, context in
    log("received \(service)/\(name)")
    var headers: Metadata = [:]
    for value in request.metadata[stringValues: initial] { headers.addString(value, forKey: initial) }
    // The interceptor `cache` obeys it.
    if name == "CacheableUnaryCall" { headers.addString("max-age=60, public", forKey: "cache-control") }
    return StreamingServerResponse(metadata: headers) { writer in
      try await withRPCCancellationHandler {
        try await handler(request.messages, writer)
      } onCancelRPC: {
        log("canceled \(service)/\(name)")
      }
      var trailers: Metadata = [:]
      for value in request.metadata[binaryValues: trailing] { trailers.addBinary(value, forKey: trailing) }
      return trailers
    }
  }
}

DispatchQueue.global().async {
  var byte: UInt8 = 0
  while read(STDIN_FILENO, &byte, 1) > 0 {}
  exit(0)
}

let transport = HTTP2ServerTransport.Posix(
  address: .ipv4(host: "127.0.0.1", port: 0), transportSecurity: .plaintext)
let server = GRPCServer(transport: transport, router: router)
try await withThrowingDiscardingTaskGroup { group in
  group.addTask { try await server.serve() }
  if let port = try await server.listeningAddress?.ipv4?.port {
    log("listening 127.0.0.1:\(port)", to: STDOUT_FILENO)
  }
}
