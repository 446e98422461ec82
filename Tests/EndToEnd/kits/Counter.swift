// Type-checked only: closures of timers and own calls change the state of an interceptor.
final class Counter: StagedInterceptor {
  let stages: Stages = [.requestStart]
  private let call: Call
  private var count = 0

  init(_ call: Call) { self.call = call }

  func requestStart(_ start: RequestStart) throws -> Verdict {
    let timer = try call.after(.seconds(1)) { [self] in count += 1 }
    try call.cancel(timer)
    try call.fetch(HTTPFetch(url: "http://localhost")) { [self] response in count += response.httpStatus }
    let stream = try call.open(Subrequest(method: "a.B/C", message: .json("{}")), .bidiStreaming) {
      [self] event in
      if case .message = event { count += 1 }
    }
    try stream.finishSending()
    try call.whenResponseWanted { [self] in count += 1 }
    try call.report(.note, "attempt \(call.attempt)")
    try call.post { [self] in count += 1 }
    try call.call(Subrequest(method: "a.B/C", message: .binary([]), responseForm: .json)) { [self] response in
      count += response.headers.count
    }
    return .proceed
  }
}
