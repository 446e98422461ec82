import RPCurlProtobuf
import RPCurlProtocols

@testable import RPCurlChain

/// What an interceptor receives of a request, and forwards.
struct RequestPass {
  var lines: [String] = []
  var output: [ModelValue] = []
  /// The error of a message that cannot be parsed here.
  var breakdown: EndModel?
  /// Whether the interceptor has half-closed the request itself.
  var hasEnded = false
}

/// A value that an interceptor has received of a response, and what it injects around it.
private struct Entry {
  /// What the interceptor injected before it received anything, if this is the end of a response without a start.
  var early: [ModelValue] = []
  var injected: [ModelValue] = []
  /// The value that it forwards; nil if it drops it.
  var value: ModelValue?
  /// The number of the value among those that the interceptor receives; nil if it passes unseen.
  var number: Int?
  /// What the interceptor injects through its context after the value.
  var own: [ModelValue] = []
}

// How values pass one interceptor.
extension DifferentialModel {
  private typealias Interceptor = CallDescription.InterceptorDescription

  /// The request of an interceptor. Nothing passes a value that ends the call.
  func requestPass(
    _ interceptor: CallDescription.InterceptorDescription, _ path: String, _ input: [ModelValue]
  ) -> RequestPass {
    var pass = RequestPass()
    let injections = (observations.injections[Self.key(interceptor.index, path)] ?? []).filter {
      $0.isRequest
    }
    var isStopped = false
    var counts: [Stage: Int] = [:]
    func forward(_ values: [ModelValue]) { if !isStopped { pass.output += values } }
    for value in input {
      let stage: Stage = value.isStart ? .requestStart : value.isMessage ? .requestMessage : .requestEnd
      guard interceptor.stages.contains(stage) else {
        forward([value])
        continue
      }
      guard let received = prepare(value, interceptor.messages.request, isRequest: true) else {
        pass.breakdown = breakdown(value, "client")
        return pass
      }
      pass.lines.append(line(received, interceptor.messages.request))
      // What it receives after its own half-close, it removes.
      if pass.hasEnded { continue }
      let action = call.action(interceptor.index, stage, received.text)
      let number = counts[stage, default: 0]
      counts[stage] = number + 1
      forward(action.tokenInjections.map { .message($0) })
      let own = self.own(action, injections, pass.lines.count, value)
      if value == .requestEnd { forward(own) }
      if let plan = call.ending(interceptor.index, stage, number, path, action), interceptor.isPlain,
        plan.stopsValue
      {
        isStopped = true
      }
      if let forwarded = changed(received, action.change, interceptor, interceptor.messages.request) {
        forward([forwarded])
      }
      if value != .requestEnd { forward(own) }
      if observations.requestEnds[Self.key(interceptor.index, path)] == pass.lines.count {
        forward([.requestEnd])
        pass.hasEnded = true
      }
    }
    return pass
  }

  /// What an interceptor does with the response that comes from further in: each outcome that the rules allow.
  func respond(
    _ interceptor: CallDescription.InterceptorDescription, _ path: String, _ pass: RequestPass,
    _ inner: ExpectedOutcome
  ) -> [ExpectedOutcome] {
    let key = Self.key(interceptor.index, path)
    var inner = inner
    // The response may come before the rest of the request, which goes no further.
    if pass.hasEnded { inner.isInterrupted = true }
    var results: [ExpectedOutcome] = []
    if let breakdown = pass.breakdown {
      let count = inner.output.last?.end == nil ? inner.output.count : inner.output.count - 1
      for length in 0...count {
        let input = inner.output.prefix(length) + [.responseEnd(breakdown)]
        let known = observations.moments[key] == nil ? observations.responseCounts[key] : nil
        if let known, known != input.filter({ interceptor.stages.contains($0.responseStage) }).count {
          continue
        }
        var outcome = inner
        outcome.cut(EndModel(code: "canceled", origin: breakdown.origin))
        results += respond(interceptor, path, pass, outcome, Array(input))
      }
    }
    // Something else may have ended the call before the message came.
    return results + respond(interceptor, path, pass, inner, inner.output)
  }

  private func respond(
    _ interceptor: Interceptor, _ path: String, _ pass: RequestPass, _ inner: ExpectedOutcome,
    _ input: [ModelValue]
  ) -> [ExpectedOutcome] {
    let key = Self.key(interceptor.index, path)
    var outcome = inner
    var (entries, lines, breakdown) = responsePass(interceptor, path, input)
    if let breakdown {
      outcome.cut(EndModel(code: "canceled", origin: breakdown.origin))
      let rest = input.prefix(entries.count) + [.responseEnd(breakdown)]
      (entries, lines, _) = responsePass(interceptor, path, Array(rest))
    }
    func add(_ response: [String], _ output: [ModelValue]) -> ExpectedOutcome {
      var result = outcome
      result.output = output
      result.instances[key] = ExpectedOutcome.Instance(
        request: pass.lines, response: response, isWhole: !result.isInterrupted)
      return result
    }
    if observations.started.contains(key), (observations.moments[key]?.kind ?? .cancel) == .cancel {
      for index in entries.indices { entries[index].early = [] }
      return [add(lines, output(of: entries, after: localStream(interceptor, path)))]
    }
    guard let moment = observations.moments[key], moment.kind != .cancel else {
      if case .retry = interceptor.role { return [add(lines, entries.compactMap(\.value).lastAttempt)] }
      return [add(lines, output(of: entries))]
    }
    // The interceptor ends the call, after this many values of the response; values that pass unseen may be more.
    outcome.cut(EndModel(code: "canceled", origin: interceptor.name))
    var results: [ExpectedOutcome] = []
    for length in 0...entries.count {
      let received = entries.prefix(length)
      guard received.count(where: { $0.number != nil }) == moment.responseCount else { continue }
      results.append(
        add(Array(lines.prefix(moment.responseCount)), ended(interceptor, path, Array(received), moment)))
    }
    return results
  }

  private func responsePass(
    _ interceptor: Interceptor, _ path: String, _ input: [ModelValue]
  ) -> (entries: [Entry], lines: [String], breakdown: EndModel?) {
    var (entries, lines): ([Entry], [String]) = ([], [])
    let injections = (observations.injections[Self.key(interceptor.index, path)] ?? []).filter {
      !$0.isRequest
    }
    var counts: [Stage: Int] = [:]
    for value in input {
      let stage = value.responseStage
      guard interceptor.stages.contains(stage) else {
        entries.append(Entry(value: value))
        continue
      }
      guard let received = prepare(value, interceptor.messages.response, isRequest: false) else {
        return (entries, lines, breakdown(value, "violation"))
      }
      var entry = Entry(number: lines.count)
      lines.append(line(received, interceptor.messages.response))
      let action = call.action(interceptor.index, stage, received.text)
      counts[stage, default: 0] += 1
      entry.injected = action.tokenInjections.map { .message($0) }
      if value.end != nil, lines.count == 1 { entry.early = early(injections) }
      let own = self.own(action, injections, lines.count, value)
      if value.end != nil { entry.injected += own } else { entry.own = own }
      entry.value = changed(received, action.change, interceptor, interceptor.messages.response)
      entries.append(entry)
    }
    return (entries, lines, nil)
  }

  /// What an interceptor injects through its context after it has received a number of values.
  private func own(
    _ action: CallDescription.Action, _ injections: [CrossInjection], _ count: Int, _ value: ModelValue
  ) -> [ModelValue] {
    let others = injections.filter { $0.count == count && $0.isAfterEnd == false }
    let (before, later) = (others.filter(\.isBeforeOwn), others.filter { !$0.isBeforeOwn })
    let messages = before.map(\.message) + action.contextInjections + later.map(\.message)
    // Messages that it injected before the start follow the start at once.
    return (value.isStart ? early(injections) : []) + messages.map { .message($0) }
  }

  /// What an interceptor injected through its context before it received anything of the direction.
  private func early(_ injections: [CrossInjection]) -> [ModelValue] {
    injections.filter { $0.count == 0 && $0.isAfterEnd == false }.map { .message($0.message) }
  }

  /// What an interceptor forwards that does not end the call.
  ///
  /// - Parameter begun: What it has given of a response that it has started itself.
  private func output(of entries: [Entry], after begun: [ModelValue] = []) -> [ModelValue] {
    var output = begun
    for entry in entries {
      let injected = entry.early + entry.injected
      if !injected.isEmpty, !output.contains(where: \.isStart) { output.append(.responseStart([])) }
      output += injected
      if let value = entry.value { output.append(value) }
      output += entry.own
    }
    return output
  }

  /// What the interceptors further out receive when an interceptor ends the call.
  private func ended(
    _ interceptor: Interceptor, _ path: String, _ entries: [Entry], _ moment: Moment
  ) -> [ModelValue] {
    var (start, messages): (ModelValue?, [ModelValue]) = (nil, [])
    if observations.started.contains(Self.key(interceptor.index, path)) {
      let stream = localStream(interceptor, path)
      (start, messages) = (stream[0], Array(stream.dropFirst()))
    } else if entries.isEmpty {
      let injections = observations.injections[Self.key(interceptor.index, path)] ?? []
      messages = early(injections.filter { !$0.isRequest })
    }
    var isReleased = true
    for entry in entries {
      let isEnd = entry.value?.end != nil
      if isReleased {
        // Messages before the held end of a response without a start have left, after a start.
        if start == nil, isEnd, !entry.injected.isEmpty, !moment.isAtValue(entry.number) {
          start = .responseStart([])
        }
        messages += entry.early + entry.injected
      }
      if let number = entry.number, moment.undecided.contains(number) { isReleased = false }
      if isReleased, let value = entry.value {
        if value.isStart { start = value } else if value.isMessage { messages.append(value) }
      }
      messages += entry.own
    }
    let isResponse = [.respond, .contextRespond, .localStream].contains(moment.kind)
    if start == nil { start = isResponse ? .responseStart([interceptor.name]) : nil }
    var output = start.map { [$0] + messages } ?? []
    if isResponse { output.append(.message(call.localMessage(interceptor.index))) }
    output.append(.responseEnd(end(moment.kind, interceptor)))
    return output
  }

  /// What an interceptor has given of the response that it has started.
  private func localStream(_ interceptor: Interceptor, _ path: String) -> [ModelValue] {
    let injections = (observations.injections[Self.key(interceptor.index, path)] ?? []).filter {
      !$0.isRequest && $0.isAfterEnd == false
    }
    let before = injections.filter { $0.sourceCount <= 1 }.map(\.message)
    let after = injections.filter { $0.sourceCount > 1 }.map(\.message)
    return [.responseStart([interceptor.name])]
      + (before + call.streamMessages(interceptor.index) + after).map { .message($0) }
  }

  private func end(_ kind: CallDescription.EndingPlan.Kind, _ interceptor: Interceptor) -> EndModel {
    switch kind {
    case .fail, .contextFail, .contextFailAfterVerdict, .makeThrows:
      EndModel(code: "aborted", origin: interceptor.name)
    case .respond, .contextRespond, .localStream: EndModel(code: "ok", origin: "", tags: [interceptor.name])
    case .release, .throwError, .throwAfterVerdict, .illegalChange, .dropOnly:
      EndModel(code: "internal", origin: interceptor.name)
    case .cancel: EndModel(code: "canceled", origin: interceptor.name)
    }
  }

  // MARK: - Messages

  /// A value as an interceptor receives it; nil if it cannot be parsed.
  private func prepare(_ value: ModelValue, _ access: MessageAccess, isRequest: Bool) -> ModelValue? {
    guard case .message(var message) = value else { return value }
    if access.isTyped, !message.isTyped {
      guard message.encoding != .malformed else { return nil }
      message.isTyped = true
    }
    if access.isBytes, message.encoding == nil { message.encoding = .canonical }
    return .message(message)
  }

  private func breakdown(_ value: ModelValue, _ origin: String) -> EndModel {
    guard case .message(let message) = value, let setter = message.setter else {
      return EndModel(code: "internal", origin: origin)
    }
    return EndModel(code: "internal", origin: call.interceptors[setter].name)
  }

  private func line(_ value: ModelValue, _ access: MessageAccess) -> String {
    switch value {
    case .requestStart(let tags): "start \(tags.joined(separator: ","))"
    case .responseStart(let tags): "headers \(tags.joined(separator: ","))"
    case .requestEnd: "half-close"
    case .responseEnd(let end): end.line
    case .message(let message):
      if access.isTyped {
        "typed \(message.text)"
      } else if access.isBytes {
        Lines.bytes(call.bytes(message.text, message.encoding ?? .canonical))
      } else {
        "content"
      }
    }
  }

  /// A value as an interceptor forwards it; nil if it drops it.
  private func changed(
    _ value: ModelValue, _ change: CallDescription.Action.Change, _ interceptor: Interceptor,
    _ access: MessageAccess
  ) -> ModelValue? {
    switch value {
    case .message(var message):
      switch change {
      case .drop: return nil
      case .typed:
        message.text += "\(interceptor.index)"
        (message.isTyped, message.encoding) = (true, nil)
      case .bytes(let encoding):
        message.text += "\(interceptor.index)"
        (message.isTyped, message.encoding, message.setter) = (false, encoding, interceptor.index)
      case .same where message.isTyped && access.isBytes:
        (message.isTyped, message.setter) = (false, interceptor.index)
      case .same, .none, .tag, .flip: break
      }
      return .message(message)
    case .requestStart(let tags): return .requestStart(change == .tag ? tags + [interceptor.name] : tags)
    case .responseStart(let tags): return .responseStart(change == .tag ? tags + [interceptor.name] : tags)
    case .requestEnd: return value
    case .responseEnd(var end):
      if change == .tag { end.tags.append(interceptor.name) }
      if change == .flip {
        (end.code, end.origin) = end.isError ? ("ok", "") : ("aborted", interceptor.name)
      }
      return .responseEnd(end)
    }
  }

}

extension Moment {
  /// Whether the interceptor ended the call in the callback with this value of the response.
  func isAtValue(_ number: Int?) -> Bool {
    isInCallback && !Stages.request.contains(stage) && number == responseCount - 1
  }
}

extension CallDescription.EndingPlan {
  /// Whether the value with which the interceptor ends the call goes no further.
  var stopsValue: Bool { kind != .contextFailAfterVerdict && kind != .cancel }
}

extension ModelValue {
  /// The stage of a value of the response.
  var responseStage: Stage { isStart ? .responseStart : isMessage ? .responseMessage : .responseEnd }
  /// The text by which actions are found.
  var text: String { if case .message(let message) = self { message.text } else { "" } }
}

extension [ModelValue] {
  /// The response of the last of several attempts.
  var lastAttempt: [ModelValue] {
    guard let last = dropLast().lastIndex(where: { $0.end != nil }) else { return self }
    return Array(self[(last + 1)...])
  }

}
