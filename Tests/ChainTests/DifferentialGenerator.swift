import RPCurlProtobuf
import RPCurlProtocols

@testable import RPCurlChain

// Random descriptions.
extension CallDescription {
  /// Makes the description of a seed.
  init(seed: UInt64, usesThread: Bool = false) {
    var dice = Dice(seed, 1)
    let kind = CallKind.allCases[dice.roll(4)]
    let isSmall = dice.chance(10)
    self.init(
      seed: seed, kind: kind, isJSON: dice.chance(30),
      windowBytes: isSmall ? 100 + dice.roll(500) : Chain.defaultWindowBytes, interceptors: [], request: [],
      endings: [], limits: nil, cancelStep: dice.chance(10) ? dice.roll(60) : nil, usesThread: usesThread)
    let count = kind.clientStreams ? dice.roll(5) : 1
    request = (0..<count).map { number in
      let encodings: [MessageModel.Encoding?] = [nil, .canonical, .unusual, .canonical]
      let isMalformed = hasMalformed && dice.chance(10)
      return MessageModel("m\(number)", isMalformed ? .malformed : encodings[dice.roll(4)])
    }
    if dice.chance(5) {
      limit(&dice)
      return
    }
    let hasRetries = dice.chance(25)
    let interceptorCount = 1 + dice.roll(5)
    var attemptRoles = 0
    for index in 0..<interceptorCount {
      var interceptor = Self.interceptor(index, &dice)
      if hasRetries, attemptRoles < 2, dice.chance(40) {
        attemptRoles += 1
        interceptor.role =
          dice.roll(3) == 0
          ? .hedge(attempts: 2 + dice.roll(2), delay: dice.roll(2) * 100, byHeaders: dice.chance(30))
          : .retry(attempts: 2 + dice.roll(2), isLate: dice.chance(40))
        interceptor.stages = .all
        interceptor.messages = MessageAccesses(dice.roll(2) == 0 ? .none : .readBytes)
        interceptor.isSerial = false
      }
      // An attempt is known by headers of its start.
      if attemptRoles > 0 { interceptor.stages.insert(.requestStart) }
      interceptors.append(interceptor)
    }
    cancelsAfterEnd = dice.chance(4)
    if !kind.clientStreams, !hasMalformed, dice.chance(10) {
      putSecondMessage(&dice)
      return
    }
    if dice.chance(45) { endings.append(ending(&dice)) }
    if dice.chance(12) { endings.append(ending(&dice)) }
    endings.removeAll { !interceptors[$0.interceptor].isPlain }
    for plan in endings where plan.kind != .makeThrows {
      // What the model must know of an ending is observed at every stage.
      interceptors[plan.interceptor].stages.formUnion([plan.stage.set, .responseEnd])
      if plan.kind == .localStream { interceptors[plan.interceptor].stages.formUnion(.response) }
      if plan.kind == .illegalChange {
        interceptors[plan.interceptor].messages = MessageAccesses(.readBytes)
      }
    }
  }

  /// Lets an interceptor put a second message into a unary request.
  private mutating func putSecondMessage(_ dice: inout Dice) {
    let index = dice.roll(interceptors.count)
    guard interceptors[index].isPlain else { return }
    let stage: Stage = dice.roll(3) == 0 ? .requestEnd : .requestMessage
    second = SecondMessage(interceptor: index, stage: stage, isOfContext: dice.roll(2) == 0)
    interceptors[index].stages.insert(stage.set)
  }

  /// Makes it a call that shows the limits of what may wait.
  private mutating func limit(_ dice: inout Dice) {
    kind = .bidiStreaming
    cancelStep = nil
    windowBytes = 50 + dice.roll(400)
    let (count, isRequest) = (1 + dice.roll(3), dice.roll(2) == 0)
    let limits = Limits(
      // No other interceptor converts a message before it, so that its size is known.
      holder: isRequest ? 0 : count - 1, isRequest: isRequest, collects: dice.roll(3) > 0,
      later: 1 + dice.roll(6),
      count: 1 + dice.roll(dice.roll(4) == 0 ? 100 : 8))
    self.limits = limits
    interceptors = (0..<count).map { index in
      var interceptor = Self.interceptor(index, &dice)
      (interceptor.stages, interceptor.isDeclining, interceptor.isSerial) = (.all, false, false)
      (interceptor.holdPercent, interceptor.activePercent) = (0, 0)
      return interceptor
    }
    request = (0..<(isRequest ? limits.count : 1)).map { MessageModel("m\($0)", .canonical) }
  }

  private static func interceptor(_ index: Int, _ dice: inout Dice) -> InterceptorDescription {
    let accesses: [MessageAccess] = [
      .changeTyped, .changeTyped, .none, .readTyped, .readBytes, .changeBytes, .changeBytes, .opaque, .decode,
    ]
    var stages = Stages.all
    if dice.chance(50) { stages = Stages(rawValue: UInt32(dice.roll(256))) }
    return InterceptorDescription(
      index: index, isDeclining: dice.chance(8), stages: stages,
      messages: MessageAccesses(request: accesses[dice.roll(9)], response: accesses[dice.roll(9)]),
      isSerial: dice.chance(15), holdPercent: [0, 20, 50, 80][dice.roll(4)],
      activePercent: [0, 30, 60][dice.roll(3)])
  }

  private func ending(_ dice: inout Dice) -> EndingPlan {
    var kind = EndingPlan.Kind.allCases[dice.roll(EndingPlan.Kind.allCases.count)]
    var stage = Stage.allCases[dice.roll(6)]
    let isRequest = Stages.request.contains(stage)
    switch kind {
    case .illegalChange: stage = isRequest ? .requestMessage : .responseMessage
    case .dropOnly:
      if isRequest ? self.kind.clientStreams : self.kind.serverStreams {
        kind = .fail
      } else {
        stage = isRequest ? .requestMessage : .responseMessage
      }
    case .respond where !isRequest: kind = .fail
    case .localStream: stage = .requestStart
    default: break
    }
    let isMessage = stage == .requestMessage || stage == .responseMessage
    return EndingPlan(
      interceptor: dice.roll(interceptors.count), stage: stage,
      number: isMessage ? dice.roll(self.kind == .unary ? 1 : 3) : 0, kind: kind, isLate: dice.chance(40),
      isFirstAttemptOnly: dice.chance(60))
  }
}

extension CallDescription: CustomStringConvertible {
  /// One line for each interceptor, for reports of disagreements.
  var description: String {
    var lines = [
      "seed \(seed) \(kind) \(isJSON ? "json" : "proto") window \(windowBytes)"
        + (cancelStep.map { " cancel at step \($0)" } ?? "") + (usesThread ? " thread" : ""),
      "  request: "
        + request.map { "\($0.text) \($0.encoding.map { "\($0)" } ?? "typed")" }.joined(separator: ", "),
    ]
    for interceptor in interceptors {
      let stages = Stage.allCases.filter { interceptor.stages.contains($0) }.map(\.description)
      lines.append(
        "  \(interceptor.name) \(interceptor.role)\(interceptor.isDeclining ? " declines" : "")"
          + "\(interceptor.isSerial ? " serial" : "") request \(interceptor.messages.request) response "
          + "\(interceptor.messages.response) \(stages.joined(separator: " "))")
    }
    for plan in endings { lines.append("  \(plan)") }
    if let limits { lines.append("  \(limits)") }
    if let second { lines.append("  \(second)") }
    if cancelsAfterEnd { lines.append("  canceled after the end") }
    return lines.joined(separator: "\n")
  }
}
