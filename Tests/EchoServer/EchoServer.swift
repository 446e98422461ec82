import RPCurlBase
import RPCurlPlatform
import RPCurlProtocols
import RPCurlServer
import RPCurlTransport

/// A server for the tests of the listening side: it returns what it receives, while it receives it.
///
/// usage: EchoServer ADDRESS [CERTIFICATE KEY | make AUTHORITY-FILE] [NAME=NUMBER...]
///
/// It prints its address. SIGTERM and SIGINT end it, with a limit of three seconds. NAMEs are those of `ServerLimits`; times are in
/// milliseconds. What requests of some paths do: `/hold` never gets a response, `/bytes/N` gets N bytes, `/pause` is read after
/// half a second, `/early` gets its response at once, `/count` gets the numbers of requests, of resets and of connections.
@main
private enum EchoServer {
  static func main() {
    do {
      try run(CommandLine.arguments.dropFirst())
    } catch {
      print("EchoServer: \(error)")
      exit(1)
    }
  }

  private static func run(_ arguments: ArraySlice<String>) throws {
    let settings = arguments.filter { $0.utf8.contains(UInt8(ascii: "=")) }
    let words = arguments.filter { !settings.contains($0) }
    var limits = ServerLimits()
    for setting in settings { set(setting, in: &limits) }
    var tls: TLSIdentity?
    if words.count == 3, words[words.startIndex + 1] == "make" {
      let made = try MadeCertificate(names: ["localhost", "127.0.0.1"])
      try made.writeAuthority(to: words[words.startIndex + 2])
      tls = made.identity
    } else if words.count == 3 {
      tls = try TLSIdentity(
        certificateFile: words[words.startIndex + 1], keyFile: words[words.startIndex + 2])
    }
    _ = Interrupt.install()
    let loop = try EventLoop()
    let echo = Echo(loop)
    let listener = try Listener(
      ListenAddress(parsing: words.first ?? "127.0.0.1:0"), tls: tls, limits: limits, loop: loop,
      makeHandler: echo.handler)
    echo.listener = listener
    _ = FileContents.write(Array("\(listener.address)\n".utf8), to: 1)
    var isStopped = false
    try loop.run {
      if Interrupt.isPending { listener.stop(within: .seconds(3)) { isStopped = true } }
      return isStopped
    }
  }

  private static func set(_ setting: String, in limits: inout ServerLimits) {
    let parts = setting.split(separator: "=")
    guard parts.count == 2, let number = Int(parts[1]) else { return }
    switch parts[0] {
    case "connections": limits.connections = number
    case "streams": limits.streams = number
    case "headerTime": limits.headerTime = .milliseconds(number)
    case "idleTime": limits.idleTime = .milliseconds(number)
    case "sendTime": limits.sendTime = .milliseconds(number)
    case "pingTime": limits.pingTime = .milliseconds(number)
    default: break
    }
  }
}

/// Makes the handlers, and counts what they receive.
private final class Echo {
  let loop: EventLoop
  var listener: Listener?
  var requests = 0
  var resets = 0

  init(_ loop: EventLoop) { self.loop = loop }

  func handler(_ head: RequestHead, _ stream: ServerStream) -> StreamHandler? {
    requests += 1
    let type = Headers([
      ("content-type", head.headers.first("content-type") ?? "text/plain"), ("x-method", head.method),
    ])
    let parts = head.path.split(separator: "/")
    switch parts.first {
    case "hold": return EchoHandler(self, stream, isSilent: true)
    case "bytes":
      stream.respond(status: 200, headers: type)
      return BytesHandler(stream, Int(parts.last ?? "") ?? 0)
    case "early":
      stream.respond(status: 200, headers: type, body: Array("early".utf8))
      return nil
    case "count":
      let counts = "\(requests) \(resets) \(listener?.connectionCount ?? 0)"
      stream.respond(status: 200, headers: type, body: Array(counts.utf8))
      return nil
    case "pause":
      stream.pauseReading()
      loop.schedule(at: .now + .milliseconds(500)) { stream.resumeReading() }
    default: break
    }
    stream.respond(status: 200, headers: type)
    return EchoHandler(self, stream, isSilent: false)
  }
}

/// Returns the body and the trailers.
private final class EchoHandler: StreamHandler {
  private let echo: Echo
  private let stream: ServerStream
  private let isSilent: Bool
  private var trailers: Headers?

  init(_ echo: Echo, _ stream: ServerStream, isSilent: Bool) {
    (self.echo, self.stream, self.isSilent) = (echo, stream, isSilent)
  }

  func receive(body: RawSpan) {
    if !isSilent, !stream.write(body) { stream.pauseReading() }
  }

  func receive(trailers: Headers) { self.trailers = trailers }

  func receiveEnd() {
    if !isSilent { stream.end(trailers: trailers) }
  }

  func receiveReset(_ reason: ResetReason) { echo.resets += 1 }
  func resume() { stream.resumeReading() }
}

/// Sends a number of bytes.
private final class BytesHandler: StreamHandler {
  private static let piece = [UInt8](repeating: 0x61, count: 65_536)
  private let stream: ServerStream
  private var remaining: Int

  init(_ stream: ServerStream, _ count: Int) {
    (self.stream, remaining) = (stream, count)
    resume()
  }

  func receive(body: RawSpan) {}
  func receiveEnd() {}
  func receiveReset(_ reason: ResetReason) {}

  func resume() {
    while remaining > 0 {
      let count = min(remaining, Self.piece.count)
      remaining -= count
      if !stream.write(count == Self.piece.count ? Self.piece : Array(Self.piece[..<count])) { break }
    }
    if remaining == 0 { stream.end() }
  }
}
