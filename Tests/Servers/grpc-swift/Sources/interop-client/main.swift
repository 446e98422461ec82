// A client of gRPC's interoperability tests on grpc-swift-2. Its arguments and cases are those of interop_client.go, the same
// tests on grpc-go.

import GRPCCore
import GRPCNIOTransportHTTP2Posix
import Glibc
import Wire

let requestSizes = [27182, 8, 1828, 45904]
let responseSizes = [31415, 9, 2653, 58979]
let (largeRequest, largeResponse) = (271828, 314159)
let (initial, trailing) = ("x-grpc-test-echo-initial", "x-grpc-test-echo-trailing-bin")
let specialMessage = "\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\t\n"
let service = "grpc.testing.TestService"

struct Failure: Error, CustomStringConvertible {
  let description: String
}

func expect(_ isMet: Bool, _ text: @autoclosure () -> String) throws {
  if !isMet { throw Failure(description: text()) }
}

/// A message whose field 1 is a message of one field, with a number.
func wrapped(_ number: Int, _ value: [UInt8], in field: Int = 1) -> Wire {
  var inner = Wire()
  inner.append(number, value)
  var outer = Wire()
  outer.append(field, inner.bytes)
  return outer
}

/// A request with a message Payload of zeros: in field 1 of StreamingInputCallRequest, in 3 of the others.
func request(payload size: Int, in field: Int) -> Wire {
  wrapped(2, [UInt8](repeating: 0, count: size), in: field)
}

/// A StreamingOutputCallRequest.
func output(_ sizes: [Int], payload: Int? = nil) -> Wire {
  var message = payload.map { request(payload: $0, in: 3) } ?? Wire()
  for size in sizes {
    var parameters = Wire()
    parameters.append(1, size)
    message.append(2, parameters.bytes)
  }
  return message
}

func payloadSize(of response: Wire) throws -> Int {
  try response.messages(1).last?.messages(2).last?.bytes.count ?? 0
}

struct Client {
  let grpc: GRPCClient<HTTP2ClientTransport.Posix>

  func stream<Value: Sendable>(
    _ method: String, of service: String = service, metadata: Metadata = [:],
    _ options: CallOptions = .defaults,
    requests: @Sendable @escaping (RPCWriter<Wire>) async throws -> Void,
    responses: @Sendable @escaping (StreamingClientResponse<Wire>) async throws -> Value
  ) async throws -> Value {
    try await grpc.bidirectionalStreaming(
      request: StreamingClientRequest(metadata: metadata, producer: requests),
      descriptor: MethodDescriptor(fullyQualifiedService: service, method: method),
      serializer: WireSerializer(), deserializer: WireDeserializer(), options: options, onResponse: responses)
  }

  /// The messages of the response to requests.
  func call(
    _ method: String, of service: String = service, _ requests: [Wire] = [Wire()],
    _ options: CallOptions = .defaults
  ) async throws -> [Wire] {
    try await stream(method, of: service, options) { writer in
      for request in requests { try await writer.write(request) }
    } responses: { response in
      try await response.messages.reduce(into: []) { $0.append($1) }
    }
  }

  /// Sends each request after the response to the one before.
  ///
  /// - Parameter isOpen: Whether the stream of requests then stays open: only the end of the call ends it.
  func pingPong(
    metadata: Metadata = [:], _ options: CallOptions = .defaults, isOpen: Bool = false,
    _ last: @Sendable @escaping () -> Void = {}
  )
    async throws
  {
    let (received, continuation) = AsyncStream<Void>.makeStream()
    try await stream("FullDuplexCall", metadata: metadata, options) { writer in
      var turns = received.makeAsyncIterator()
      for (requestSize, responseSize) in zip(requestSizes, responseSizes) {
        try await writer.write(output([responseSize], payload: requestSize))
        _ = await turns.next()
      }
      if isOpen { _ = await turns.next() }
    } responses: { response in
      defer { continuation.finish() }
      var sizes = responseSizes[...]
      let contents = try response.accepted.get()
      for try await part in contents.bodyParts {
        switch part {
        case .message(let message):
          let size = try payloadSize(of: message)
          try expect(size == sizes.popFirst(), "a payload of \(size) bytes")
          if sizes.isEmpty { last() }
          continuation.yield()
        case .trailingMetadata(let trailers):
          try expectMetadata(metadata, contents.metadata, trailers)
        }
      }
      try expect(sizes.isEmpty, "the stream ends early")
    }
  }
}

func expectMetadata(_ sent: Metadata, _ headers: Metadata, _ trailers: Metadata) throws {
  try expect(
    Array(headers[stringValues: initial]) == Array(sent[stringValues: initial]), "headers: \(headers)")
  try expect(
    Array(trailers[binaryValues: trailing]) == Array(sent[binaryValues: trailing]), "trailers: \(trailers)")
}

func expectError(_ code: RPCError.Code, _ message: String? = nil, _ body: () async throws -> Void)
  async throws
{
  do {
    try await body()
  } catch let error as RPCError {
    try expect(
      error.code == code && message == error.message || message == nil && error.code == code,
      "\(error) is not \(code)")
    return
  }
  throw Failure(description: "no error \(code)")
}

/// The library reports the cancellation of a task by different errors: its own, the task's, or a lost stream.
func expectCancellation(_ call: Task<Void, any Error>) async throws {
  call.cancel()
  if case .success = await call.result { throw Failure(description: "no error") }
}

func largeUnary(_ client: Client, _ options: CallOptions = .defaults) async throws {
  var message = request(payload: largeRequest, in: 3)
  message.append(2, largeResponse)
  let responses = try await client.call("UnaryCall", [message], options)
  try expect(try responses.map(payloadSize) == [largeResponse], "\(responses.count) responses")
}

func statusMessage(_ client: Client, _ message: String) async throws {
  var status = Wire()
  status.append(1, RPCError.Code.unknown.rawValue)
  status.append(2, Array(message.utf8))
  var request = Wire()
  request.append(7, status.bytes)
  for method in ["UnaryCall", "FullDuplexCall"] {
    try await expectError(.unknown, message) { _ = try await client.call(method, [request]) }
  }
}

let cases: [String: @Sendable (Client) async throws -> Void] = [
  "empty_unary": { try expect(try await $0.call("EmptyCall").map(\.bytes) == [[]], "not one empty message") },
  "large_unary": { try await largeUnary($0) },
  "client_compressed_unary": { client in
    var options = CallOptions.defaults
    options.compression = .gzip
    try await largeUnary(client, options)
  },
  "client_streaming": { client in
    let responses = try await client.call(
      "StreamingInputCall", requestSizes.map { request(payload: $0, in: 1) })
    try expect(try responses.map { try $0.numbers(1) } == [[requestSizes.reduce(0, +)]], "not the sum")
  },
  "server_streaming": { client in
    let responses = try await client.call("StreamingOutputCall", [output(responseSizes)])
    try expect(try responses.map(payloadSize) == responseSizes, "\(responses.count) responses")
  },
  "ping_pong": { try await $0.pingPong() },
  "empty_stream": { try expect(try await $0.call("FullDuplexCall", []).isEmpty, "a message") },
  "custom_metadata": { client in
    let metadata: Metadata = [initial: "test_initial_metadata_value", trailing: .binary([0xAB, 0xAB, 0xAB])]
    try await client.pingPong(metadata: metadata)
  },
  "status_code_and_message": { try await statusMessage($0, "test status message") },
  "special_status_message": { try await statusMessage($0, specialMessage) },
  "unimplemented_method": { client in
    try await expectError(.unimplemented) { _ = try await client.call("UnimplementedCall") }
  },
  "unimplemented_service": { client in
    try await expectError(.unimplemented) {
      _ = try await client.call("UnimplementedCall", of: "grpc.testing.UnimplementedService")
    }
  },
  "cancel_after_begin": { client in
    let call = Task {
      try await client.stream("StreamingInputCall") { _ in
        try await Task.sleep(for: .seconds(60))
      } responses: { response in
        _ = try await response.messages.reduce(0) { count, _ in count + 1 }
      }
    }
    try await expectCancellation(call)
  },
  "cancel_after_first_response": { client in
    let (last, continuation) = AsyncStream<Void>.makeStream()
    let call = Task { try await client.pingPong(isOpen: true) { continuation.finish() } }
    for await _ in last {}
    try await expectCancellation(call)
  },
  "timeout_on_sleeping_server": { client in
    var options = CallOptions.defaults
    options.timeout = .milliseconds(300)
    try await expectError(.deadlineExceeded) { try await client.pingPong(options, isOpen: true) }
  },
  "status_details": { client in
    do {
      _ = try await client.call("Find", of: "demo.v1.Demo")
    } catch let error as RPCError {
      let details = error.metadata[binaryValues: "grpc-status-details-bin"].flatMap { $0 }
      let text = String(decoding: details, as: UTF8.self)
      try expect(error.code == .notFound && text.contains("ITEM_NOT_FOUND"), "\(error)")
      return
    }
    throw Failure(description: "no error")
  },
]

var arguments = CommandLine.arguments.dropFirst()
var security = HTTP2ClientTransport.Posix.TransportSecurity.plaintext
if arguments.first == "-ca", let authority = arguments.dropFirst().first {
  security = .tls { $0.trustRoots = .certificates([.file(path: authority, format: .pem)]) }
  arguments = arguments.dropFirst(2)
}
let address = (arguments.popFirst() ?? "").split(separator: ":")
guard address.count == 2, let port = Int(address[1]) else {
  throw Failure(description: "missing argument: HOST:PORT")
}
let transport = try HTTP2ClientTransport.Posix(
  target: .dns(host: String(address[0]), port: port), transportSecurity: security)
let names = arguments
do {
  try await withGRPCClient(transport: transport) { grpc in
    for name in names {
      guard let run = cases[name] else { throw Failure(description: "no such case: \(name)") }
      try await run(Client(grpc: grpc))
      print(name)
    }
  }
} catch {
  print("\(error)")
  exit(1)
}
