import RPCurlBase
import RPCurlProtocols

/// How far a call has come.
struct Progress {
  var begin: MonotonicClock.Instant?
  /// The call's deadline, as of the last node that the request's start has left.
  var deadline: MonotonicClock.Instant?
  /// How many interceptors the request's start has reached.
  var reached = 0
  /// Interceptors from this position on have received the end. The call's values go only to those before it.
  var endFrontier = 0
  /// How far the response's start has come.
  var responseFrontier = ResponseFrontier.interceptor(0)
  /// How many messages the caller has sent.
  var givenCount = 0
  /// Whether the caller has half-closed.
  var isRequestGiven = false
  /// How many messages were sent to the transport.
  var sentCount = 0
  var downstream = Downstream.unstarted
  /// Whether a message of the response had arrived when the call finished.
  var hadMessage = false
  var completion = Completion.pending

  /// Whether the caller has the end.
  var hasEnded: Bool { if case .pending = completion { false } else { true } }

  /// The end that the caller has.
  var end: ResponseEnd? { if case .ended(let ended) = completion { ended.end } else { nil } }

  /// Whether every interceptor has finished.
  var isFinished: Bool { if case .finished = completion { true } else { false } }

  /// Changes what is left to do after the end; does nothing before it, and when all is done.
  mutating func updateEnded(_ change: (inout EndedCall) -> Void) {
    guard case .ended(var ended) = completion else { return }
    change(&ended)
    completion = .ended(ended)
  }
}

/// How far the response's start has come on its way to the caller.
enum ResponseFrontier: Comparable {
  /// The caller has it.
  case caller
  /// Interceptors from this position on have it.
  case interceptor(Int)

  /// The frontier of a start that has passed the interceptor at a position.
  static func beyond(_ position: Int) -> ResponseFrontier {
    position == 0 ? .caller : .interceptor(position - 1)
  }
}

/// Whether the call has ended for the caller, and what is left to do then.
enum Completion {
  case pending
  /// The caller has the end; the metrics follow.
  indirect case ended(EndedCall)
  /// Every interceptor has finished.
  case finished
}

/// A call whose caller has the end.
struct EndedCall {
  /// Where the metrics are.
  enum Report {
    case awaited
    case received(CallMetrics)
    /// On their way through the chain.
    case passing(CallMetrics)
  }

  let end: ResponseEnd
  /// From the start of the call to its end.
  let total: Duration
  /// Whether interceptors only observe the metrics, because the call was cancelled: no verdict on them has an effect.
  var isObserved: Bool
  var report = Report.awaited
}
