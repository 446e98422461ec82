import RPCurlProtobuf
import RPCurlProtocols

@testable import RPCurlChain

// What the interceptors and the server of a description do with each value.
extension CallDescription {
  /// What an interceptor does with a value.
  ///
  /// - Parameters:
  ///   - stage: The stage at which the value comes.
  ///   - text: The text of the message; empty for a start or an end.
  func action(_ index: Int, _ stage: Stage, _ text: String) -> Action {
    var action = firstActions(index, stage, text)
    if let second, second.interceptor == index, second.stage == stage {
      let message = MessageModel("X", .canonical)
      if second.isOfContext {
        action.contextInjections.append(message)
      } else {
        action.tokenInjections.append(message)
      }
    }
    return action
  }

  private func firstActions(_ index: Int, _ stage: Stage, _ text: String) -> Action {
    let interceptor = interceptors[index]
    var action = Action()
    guard interceptor.isPlain else { return action }
    var dice = Dice(seed, index, Int(stage.rawValue), text: text)
    let isMessage = stage == .requestMessage || stage == .responseMessage
    let isRequest = Stages.request.contains(stage)
    let access = isRequest ? interceptor.messages.request : interceptor.messages.response
    let isStream = isRequest ? kind.clientStreams : kind.serverStreams
    action.timing = timing(interceptor, stage, &dice)
    if let limits {
      guard isMessage, index == limits.holder, isRequest == limits.isRequest else { return action }
      action.timing = limits.collects ? .later(limits.later) : .outside
      return action
    }
    guard dice.chance(interceptor.activePercent) else { return action }
    switch dice.roll(isMessage ? 10 : 6) {
    case 0: action.change = isMessage ? .none : .tag
    case 1 where stage == .responseEnd: action.change = .flip
    case 2 where isMessage && access.mayChange, 3 where isMessage && access.mayChange,
      4 where isMessage && access.mayChange:
      action.change = change(access, &dice)
    case 5 where isMessage && isStream: action.change = .drop
    case 6 where isMessage: action.change = .drop
    default: break
    }
    if action.change == .drop, !isStream || dice.chance(40) {
      action.tokenInjections = [injected(index, stage, text, 0, &dice)]
    } else if isStream, hasLargeWindow, isMessage || stage == .requestEnd || stage == .responseEnd,
      dice.chance(20)
    {
      for number in 0...dice.roll(2) {
        action.tokenInjections.append(injected(index, stage, text, number, &dice))
      }
    }
    // Interceptors that inject more than a small window holds would overflow it.
    guard hasLargeWindow else { return action }
    if isStream, dice.chance(20) {
      for number in 0...dice.roll(2) {
        action.contextInjections.append(injected(index, stage, text, 10 + number, &dice))
      }
    }
    let otherIsStream = isRequest ? kind.serverStreams : kind.clientStreams
    let otherStages: Stages = isRequest ? .response : .request
    if otherIsStream, !usesThread, interceptor.stages.isSuperset(of: otherStages), dice.chance(15) {
      action.crossInjections = [injected(index, stage, text, 20, &dice)]
    }
    guard second == nil else {
      action.crossInjections = []
      return action
    }
    if interceptor.stages.isSuperset(of: [.request, .response]), !usesThread || !isRacy(index),
      isStream || otherIsStream, dice.chance(15)
    {
      for number in 0...dice.roll(2) {
        action.delayedInjections.append(
          CallDescription.Action.DelayedInjection(
            isRequest: isStream && otherIsStream ? dice.roll(2) == 0 : isStream == isRequest,
            message: injected(index, stage, text, 30 + number, &dice),
            delay: usesThread && dice.roll(2) == 0 ? nil : dice.roll(400)))
      }
    }
    if isRequest, kind.clientStreams, stage != .requestEnd, interceptor.stages.isSuperset(of: .request),
      dice.chance(5)
    {
      action.requestEnd = dice.roll(2) == 0 ? .inCallback : .timer(dice.roll(400))
    }
    return action
  }

  /// What an interceptor does when it is notified of an attempt: the message that it injects, into the request or not.
  func injectionAtAttemptEnd(_ index: Int, _ numbers: [Int]) -> Action.DelayedInjection? {
    let interceptor = interceptors[index]
    var dice = Dice(seed, index, 57, text: "\(numbers)")
    guard interceptor.isPlain, hasLargeWindow, interceptor.stages.isSuperset(of: [.request, .response]),
      kind.clientStreams || kind.serverStreams, dice.chance(interceptor.activePercent / 2)
    else { return nil }
    let isRequest = kind.clientStreams && kind.serverStreams ? dice.roll(2) == 0 : kind.clientStreams
    return Action.DelayedInjection(isRequest: isRequest, message: MessageModel("a\(index)", .canonical))
  }

  /// What an interceptor adds to the bytes of the metrics, and whether it decides on them later.
  func metricsAction(_ index: Int) -> (bytes: Int, isLate: Bool) {
    var dice = Dice(seed, index, 58)
    let bytes = dice.chance(interceptors[index].activePercent) ? 1 << index : 0
    return (bytes, limits == nil && dice.chance(interceptors[index].holdPercent))
  }

  private func timing(
    _ interceptor: InterceptorDescription, _ stage: Stage, _ dice: inout Dice
  ) -> Action.Timing {
    guard dice.chance(interceptor.holdPercent) else { return .now }
    let isRequest = Stages.request.contains(stage)
    let receivesEnd = interceptor.stages.contains(isRequest ? .requestEnd : .responseEnd)
    let isEnd = stage == .requestEnd || stage == .responseEnd
    switch dice.roll(8) {
    case 0..<3 where receivesEnd && !isEnd && !interceptor.isSerial && hasLargeWindow:
      return .later(dice.roll(3) == 0 ? 1000 : 1 + dice.roll(3))
    case 3: return .timer(dice.roll(500))
    case 4 where usesThread && !isRacy(interceptor.index): return .thread
    default: return .outside
    }
  }

  /// Whether values may be held until later ones have come.
  private var hasLargeWindow: Bool { windowBytes >= Chain.defaultWindowBytes }

  /// Whether the moment at which an interceptor ends the call must be known exactly.
  private func isRacy(_ index: Int) -> Bool { endings.contains { $0.interceptor == index } }

  private func change(_ access: MessageAccess, _ dice: inout Dice) -> Action.Change {
    switch dice.roll(8) {
    case 0: .same
    case 1: access.isTyped ? .bytes(.canonical) : .typed
    case 2: .bytes(dice.roll(3) == 0 && hasMalformed ? .malformed : .unusual)
    default: access.isTyped ? .typed : .bytes(dice.roll(2) == 0 ? .canonical : .unusual)
    }
  }

  /// Whether messages of this call may be malformed.
  var hasMalformed: Bool { seed % 5 == 0 }

  private func injected(
    _ index: Int, _ stage: Stage, _ text: String, _ number: Int, _ dice: inout Dice
  ) -> MessageModel {
    // Messages of starts and ends have no text: the stage identifies them.
    let source = text.isEmpty ? ["s", "", "e", "S", "", "E"][Int(stage.rawValue)] : text
    let encodings: [MessageModel.Encoding?] = [nil, .canonical, .unusual, nil]
    return MessageModel("\(source)+\(index)\(number)", encodings[dice.roll(4)])
  }

  /// The plan by which an interceptor ends the call with a value; nil if it does not.
  ///
  /// - Parameter number: The number of the value at the stage, from 0.
  ///   - path: Which attempt the interceptor belongs to.
  ///   - action: What it does with the value besides.
  func ending(
    _ index: Int, _ stage: Stage, _ number: Int, _ path: String, _ action: Action
  ) -> EndingPlan? {
    endings.first {
      $0.interceptor == index && $0.stage == stage && $0.number == number && $0.kind != .makeThrows
        && (path.isEmpty || !$0.isFirstAttemptOnly)
        // An injected message replaces the one that is dropped.
        && ($0.kind != .dropOnly || action.tokenInjections.isEmpty)
    }
  }

  /// What the server does with the attempt at a path.
  func server(_ path: String) -> Server {
    var dice = Dice(seed, 77, text: path)
    if let limits {
      return Server(
        hasStart: true,
        messages: (0..<(limits.isRequest ? 1 : limits.count)).map { MessageModel("r\($0)", .canonical) },
        isError: false, waitsForRequest: true)
    }
    let isError = dice.chance(isRetried ? 50 : 15)
    let hasStart = !isError || dice.chance(50)
    let count = !hasStart ? 0 : kind.serverStreams ? dice.roll(4) : isError ? 0 : 1
    let messages = (0..<count).map { number in
      let isMalformed = hasMalformed && dice.chance(10)
      return MessageModel(
        "r\(path)\(number)", isMalformed ? .malformed : dice.roll(2) == 0 ? .canonical : .unusual)
    }
    return Server(
      hasStart: hasStart, messages: messages, isError: isError,
      waitsForRequest: !dice.chance(15) || second != nil)
  }

  /// What an interceptor injects when it is made.
  func injectionAtMake(_ index: Int, isRequest: Bool) -> MessageModel? {
    let interceptor = interceptors[index]
    let needed: Stages = isRequest ? .requestStart : .response
    var dice = Dice(seed, index, isRequest ? 55 : 56)
    guard interceptor.isPlain, limits == nil, second == nil, interceptor.stages.isSuperset(of: needed),
      isRequest ? kind.clientStreams : kind.serverStreams, interceptor.activePercent > 0, dice.chance(8)
    else { return nil }
    return MessageModel("k\(index)", dice.roll(2) == 0 ? nil : .unusual)
  }

  /// Whether interceptors retry or hedge.
  var isRetried: Bool { interceptors.contains { !$0.isPlain && !$0.isDeclining } }

  /// The bytes of a message.
  func bytes(_ text: String, _ encoding: MessageModel.Encoding) -> [UInt8] {
    switch encoding {
    case .canonical where isJSON: Array("\"\(text)\"".utf8)
    case .unusual where isJSON: Array(" \"\(text)\"  ".utf8)
    case .malformed where isJSON: Array("{\(text)".utf8)
    case .canonical: [0x0a, UInt8(text.utf8.count)] + text.utf8
    // An unknown field before the known one: serialized again, it would follow it.
    case .unusual: [0xf8, 0x06, 0x01, 0x0a, UInt8(text.utf8.count)] + text.utf8
    case .malformed: [0x0a, 0x7f] + text.utf8
    }
  }
}
