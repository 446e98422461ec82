import RPCurlProtocols

/// The input of the state machine, and the actions that it returns.
extension TransferStateMachine {
  /// The events from the owner, libcurl and the loop. Large values are indirect, since each message is an event.
  enum Event {
    // The owner

    /// The exchange starts, or restarts after `takeBack`.
    case start(Freshness)
    /// The request's body has more bytes, or its end.
    case bodyGrew
    /// The owner pauses receiving.
    case pause
    /// The owner resumes receiving.
    case resume
    /// The owner has received the whole response.
    case finish
    /// The owner cancels the exchange.
    case close

    // libcurl

    /// The request is about to be sent over this connection.
    indirect case connected(Connection)
    /// libcurl asks for the next bytes of the request's body.
    case bodyWanted
    /// libcurl repeats the request, and asks for its body from an offset again. The reason is nil if it is unknown.
    case rewind(Int, ReasonToRepeat?)
    /// A line of header fields or trailers was received, of this many bytes.
    case line(HeaderLine, size: Int)
    /// Bytes of the response's body were received.
    ///
    /// - `isLate`: Whether this round of the loop has taken so long that timers and signals come first.
    case body(isLate: Bool)
    /// libcurl has completed the exchange.
    ///
    /// - `isUnsent`: Whether it failed before any of the request was sent, so that the server has not processed it.
    indirect case completed(TransportError?, isUnsent: Bool = false)

    // The loop

    /// libcurl's callbacks have returned.
    case settle
    /// A round has ended: all trailers that were received together have been read.
    case roundEnded
    /// The round after one that was late begins.
    case nextRound
    /// The loop has been released, and every handle with it.
    case loopReleased
  }

  /// The actions to perform. Large values are indirect, as in events.
  enum Action: Equatable {
    case none
    /// Schedule the event `settle`.
    case settleLater
    /// Add the handle to libcurl.
    case add(Freshness)
    /// Remove the handle from libcurl, and start again.
    case takeBack
    /// Remove the handle from libcurl, and release it.
    case release(isAdded: Bool)
    /// Unpause libcurl, except for the directions that stay paused.
    case unpause(sendingStaysPaused: Bool, receivingStaysPaused: Bool)
    /// Close the exchange if it has not ended after the drain time.
    case limitDraining

    /// Let libcurl continue.
    case proceed
    /// Make libcurl end the exchange.
    case abort
    /// Give libcurl bytes of the request's body.
    case sendBody
    /// Report the end of the request's body to libcurl.
    case endBody
    /// Pause libcurl, which calls again when it is unpaused.
    case pauseBody
    /// As `pauseBody`, and schedule the event `nextRound`.
    case yieldBody

    /// Deliver the start of the response.
    indirect case receive(ResponseStart)
    /// Deliver bytes of the response's body.
    case receiveBody
    /// Schedule the event `roundEnded`.
    case awaitRoundEnd
    /// Deliver trailers: all of them, or those of a round.
    case receiveTrailers(Headers, areComplete: Bool)
    /// The exchange has ended: completely if the error is nil.
    indirect case end(TransportError?)
  }

  /// Which connection an exchange may use.
  enum Freshness {
    case any
    /// A new one: the server had closed the one that libcurl chose before, or has refused the request over several that it shared.
    case fresh
  }

  /// How other exchanges use a connection.
  enum Sharing {
    /// None has used it.
    case none
    /// Earlier ones have used it.
    case earlier
    /// Requests of others may be in progress on it.
    case atOnce
  }

  /// The connection that libcurl chose.
  struct Connection {
    /// How many connections libcurl has made for this exchange, also those of earlier requests.
    var connectionsMade = 0
    var sharing = Sharing.none
    /// Whether a request may be sent over it; the server may have closed it already.
    var isUsable = true
    /// The protocol that TLS negotiated, such as `h2`; empty for none; nil if it is unknown or irrelevant.
    var negotiated: String?
    /// Whether a proxy forwards the request, without a tunnel to the server.
    var isForwarded = false
    /// Whether it is known to use HTTP/2.
    var usesHTTP2 = false
    /// Why the request cannot be sent over this connection; nil if it can.
    var error: TransportError?
    /// Why the request is sent again; nil over the first connection.
    var reasonToRepeat: ReasonToRepeat?
  }
}
