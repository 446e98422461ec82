import RPCurlBase
import RPCurlChain
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlTransport

/// One plain HTTP request of an interceptor.
final class FetchTransfer: TransferDelegate {
  private let fetch: HTTPFetch
  private let completion: (Result<HTTPFetchResponse, RPCError>) -> Void
  private var answer = HTTPFetchResponse(status: 0)
  private var transfer: Transfer?
  private var loop: EventLoop?
  private var timer: EventLoop.TimerID?

  init(_ fetch: HTTPFetch, _ completion: @escaping (Result<HTTPFetchResponse, RPCError>) -> Void) {
    self.fetch = fetch
    self.completion = completion
  }

  /// Starts the request. The object retains itself until the end.
  ///
  /// - Parameters:
  ///   - options: The connection options for `server`; another one is always verified, and receives no client certificate.
  ///   - formerAddresses: The `resolve` entries of the client's earlier requests.
  func start(
    on loop: EventLoop, options: ConnectionOptions, for server: Origin? = nil, formerAddresses: [String] = []
  ) {
    self.loop = loop
    do {
      // libcurl would end the URL at a null byte. The URL is not shown: it may contain a password.
      guard let origin = Origin(url: fetch.url), fetch.url.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f }) else {
        throw RPCError(
          .invalidArgument, "the URL is not an http(s) URL without user information", origin: .client)
      }
      for field in fetch.headers.fields
      where !HeaderSyntax.isName(field.name) || !HeaderSyntax.isValue(field.value) {
        throw RPCError(.invalidArgument, "the header \(field.name) cannot be sent", origin: .client)
      }
      var options = options
      if origin != server { options.leaveServer() }
      // This server may use another HTTP version than the call's, and not its Unix socket.
      options.httpVersion = .negotiated
      options.unixSocket = nil
      options.abstractUnixSocket = nil
      options.serverName = nil
      if let file = fetch.authoritiesFile { options.authoritiesFile = file }
      let route = Route(options, formerAddresses: formerAddresses)
      if !fetch.allowsPlaintext, let exposure = route.exposure(of: origin) {
        throw RPCError(.unauthenticated, Credentials.refusal(exposure), origin: .client)
      }
      let request = HTTPRequest(method: fetch.method, url: fetch.url, headers: fetch.headers)
      transfer = try Transfer(request, body: .whole(fetch.body), options: options, loop: loop, delegate: self)
      timer = loop.schedule(at: .now + fetch.timeout) {
        self.end(
          .failure(
            RPCError(
              .deadlineExceeded, "\(self.fetch.url) took longer than \(self.fetch.timeout.inSeconds)",
              origin: .client))
        )
      }
    } catch let error as RPCError {
      end(.failure(error))
    } catch let error as TransportError {
      end(.failure(RPCError(error)))
    } catch {
      end(.failure(RPCError(.internal, "\(error)", origin: .client)))
    }
  }

  /// Whether the request has completed or was canceled.
  var isOver: Bool { loop == nil }

  /// Cancels the request.
  func cancel() {
    end(.failure(RPCError(.canceled, "the call that needed it has ended", origin: .client)))
  }

  private func end(_ result: Result<HTTPFetchResponse, RPCError>) {
    guard let loop else { return }
    self.loop = nil
    if let timer { loop.cancel(timer) }
    timer = nil
    transfer?.close()
    transfer = nil
    // Not from within another interceptor's callback.
    loop.schedule(at: .now) { [completion] in completion(result) }
  }

  // MARK: From the transfer

  func receive(head: ResponseStart) {
    answer.status = head.httpStatus
    answer.headers = head.headers
  }

  func receive(body: RawSpan) -> Int {
    guard answer.body.count + body.byteCount <= fetch.maxBodyBytes else {
      let words = "the response of \(fetch.url) is larger than \(fetch.maxBodyBytes) bytes"
      end(.failure(RPCError(.resourceExhausted, words, origin: .server)))
      return body.byteCount
    }
    answer.body += body.copyBytes()
    return body.byteCount
  }

  func receive(trailers: Headers, areComplete: Bool) {}
  func transfer(sentBytes: Int) {}
  func transferWantsMore(_ isWanted: Bool) {}

  func receiveEnd(error: TransportError?) {
    end(error.map { .failure(RPCError($0)) } ?? .success(answer))
  }
}
