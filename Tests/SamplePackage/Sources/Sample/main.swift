// Calls demo.v1.Demo/Hello through its own interceptor: Sample DESCRIPTOR-SET URL NAME
import Glibc
import Interception
import Protobuf
import RPCClient
import RPCProtocols

/// Adds a header to the request, and an exclamation mark to the name in the message.
final class Stress: Interceptor {
  let stages: Stages = [.requestStart, .requestMessage]

  func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) {
    var start = start
    start.headers.add("x-sample", "1")
    token.proceed(start)
  }

  func requestMessage(_ message: Message, _ token: consuming RequestToken<Message>) throws {
    var message = message
    let name = try FieldPath("name")
    if case .string(let text) = try message.value(at: name) { try message.set(.string(text + "!"), at: name) }
    token.proceed(message)
  }
}

/// Prints the response as JSON, or the error.
final class Printer: CallObserver {
  let type: MessageType
  var error: RPCError?

  init(_ type: MessageType) { self.type = type }

  func receive(_ event: CallEvent<Payload>) throws(RPCError) {
    switch event {
    case .responseMessage(let message): try show(message)
    case .responseEnd(let end): error = end.error
    default: break
    }
  }

  func show(_ message: Payload) throws(RPCError) {
    do {
      let message = try Message(type, serialized: message.serialized)
      print(String(decoding: try message.json(), as: UTF8.self))
    } catch {
      throw RPCError(.internal, "\(error)", origin: .client)
    }
  }
}

guard CommandLine.argc == 4, let file = fopen(CommandLine.arguments[1], "r") else { exit(2) }
var set = [UInt8](repeating: 0, count: 1 << 20)
set.removeLast(set.count - fread(&set, 1, set.count, file))

let pool = DescriptorPool()
try pool.add(SchemaBytes(set), source: CommandLine.arguments[1])
guard let method = try pool.method(service: "demo.v1.Demo", method: "Hello") else { exit(3) }

var message = Message(method.input)
try message.set(.string(CommandLine.arguments[3]), at: FieldPath("name"))
var request = CallRequest(method: method, target: CommandLine.arguments[2], userAgent: "sample/1")
request.connection.httpVersion = .http2
request.timeout = .seconds(10)

let client = try RPCClient()
request.interceptors = [InterceptorRegistration(name: "stress", factory: ClosureFactory { _, _ in Stress() })]
let printer = Printer(method.output)
let call = client.makeCall(request, observer: printer)
call.start()
call.send(.typed(message))
call.finishSending()
try client.loop.run { call.isFinished }

if let error = printer.error {
  print("\(error.code.name): \(error.message)")
  exit(1)
}
