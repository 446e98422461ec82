import Protobuf
import RPCProtocols

// How values go from station to station.
extension Chain {
  /// Takes a value as far as it goes: to a station where it rests, or out of the chain.
  func advance(_ item: Item, on path: Path, from index: Int) {
    var item = item
    var index = index
    while true {
      if path.waitingCount == 0, case .message(var carried) = item {
        index = run(&carried, on: path, from: index)
        guard index >= 0 else { return }
        item = .message(carried)
      }
      guard index < path.stations.count else { return leave(item, path) }
      let station = path.stations[index]
      if isStartDue(before: item, at: station) {
        links[station.position].isRawLate = true
        path.layOutResponse(links)
        continue
      }
      guard let next = pass(item, station, path) else { return }
      item = next
      index += 1
    }
  }

  /// Whether a message has come to an interceptor's raw station before the start of the response to its typed one.
  private func isStartDue(before item: Item, at station: Station) -> Bool {
    guard station.kind == .inboundRaw, case .message = item else { return false }
    let link = links[station.position]
    return !link.isRawLate && link.stages.contains(.responseStart)
      && station.position < recipients(of: inbound)
      && progress.responseStartFrontier > station.position
  }

  /// Sends on what nothing holds any more at a station.
  func drain(_ station: Station, of path: Path) {
    // Whether there is another attempt that gets it is not known yet.
    guard path !== outbound || station.position < progress.endFrontier || !mayStillRetry else { return }
    giveAhead(station, path)
    // A value that goes on may end the call, and empty this lane.
    while !hasMail, let sequence = station.lane.headSequence {
      if station.lane.headEndHasFronts, !station.hasStarted, station.kind == .inboundHome {
        // What is put in front of the end of a response that had no headers needs some.
        let start = Item.responseStart(ResponseStart())
        note(start, at: station)
        noteGone(start, station)
        advance(start, on: path, from: station.index + 1)
        continue
      }
      guard let departure = station.lane.depart() else { break }
      switch departure {
      case .item(let item, let sizeBytes, let isGiven):
        path.waitingCount -= 1
        path.waitingBytes -= sizeBytes
        if isGiven { noteGiven(item, at: station) }
        note(item, at: station)
        noteGone(item, station)
        if station.hasStarted, !station.early.isEmpty { release(station, path, behind: sequence) }
        advance(item, on: path, from: station.index + 1)
      case .nothing(let sizeBytes):
        path.waitingCount -= 1
        path.waitingBytes -= sizeBytes
      case .front(let item):
        noteGiven(item, at: station)
        advance(item, on: path, from: station.index + 1)
      case .delivery(let item):
        deliverLate(item, station, path)
      }
    }
    if !station.lane.isEmpty, hasMail { markDirty(station, path) }
  }

  /// Lets a value pass one station; `nil` when it rests there, or was taken out.
  func pass(_ item: Item, _ station: Station, _ path: Path) -> Item? {
    guard station.position < recipients(of: path) else {
      // This interceptor has seen the end: what is for it goes nowhere, what is for those further out goes by, behind
      // what it left when it ended the call.
      guard path === outbound else {
        if station.lane.isEmpty || station.lane.headHold != nil { return item }
        append(.ready(item), item, station, path)
        markDirty(station, path)
        return nil
      }
      if mayStillRetry { append(.queued(item), item, station, path) }
      return nil
    }
    var stage = stage(of: item, station)
    if stage != nil, station.given != nil {
      switch passUnchanged(item, at: station) {
      case .isDue: break
      case .wasGiven: stage = nil
      case .hasChanged: return nil
      }
    }
    guard let stage else {
      guard station.lane.isEmpty, station.early.isEmpty else {
        append(.ready(item), item, station, path)
        markDirty(station, path)
        return nil
      }
      note(item, at: station)
      noteGone(item, station)
      return item
    }
    if station.isSerial, !station.lane.isEmpty {
      append(.queued(item), item, station, path)
      return nil
    }
    note(item, at: station)
    guard let item = prepared(item, for: stage, station) else { return nil }
    let answer = deliver(item, stage, station, sequence: mailbox.takeSequence())
    return rest(item, stage, station, path, answer)
  }

  /// Does with a value what was said about it; `nil` when it rests, or was taken out.
  @discardableResult
  func rest(_ item: Item, _ stage: Stage, _ station: Station, _ path: Path, _ answer: Answer) -> Item? {
    guard let verdict = answer.verdict else {
      append(.held(stage, item), item, station, path, sequence: answer.ticket.sequence, fronts: answer.fronts)
      watchHolds(station)
      if !answer.fronts.isEmpty { markDirty(station, path) }
      return nil
    }
    let next = apply(verdict, to: item, answer.ticket, fronts: answer.fronts.count)
    if station.lane.isEmpty, pendingEndings == 0, answer.fronts.isEmpty, station.early.isEmpty {
      guard let next else { return nil }
      noteGone(next, station)
      return next
    }
    // What is taken out at once takes no place: an endless stream may be taken out behind what is held.
    if next == nil, answer.fronts.isEmpty { return nil }
    append(
      next.map(Lane.State.ready) ?? .dropped, next, station, path, fronts: answer.fronts,
      isLate: answer.isLate)
    markDirty(station, path)
    return nil
  }

  /// Delivers a value that waited for its turn at the head of a lane.
  private func deliverLate(_ item: Item, _ station: Station, _ path: Path) {
    guard let sequence = station.lane.headSequence else { return }
    guard let stage = stage(of: item, station) else { return station.lane.settle(sequence, .ready(item)) }
    guard station.position < recipients(of: path), let item = prepared(item, for: stage, station) else {
      return station.lane.settle(sequence, .dropped)
    }
    note(item, at: station)
    let answer = deliver(item, stage, station, sequence: sequence)
    for front in answer.fronts { station.lane.addFront(front, before: sequence) }
    guard let verdict = answer.verdict else {
      station.lane.settle(sequence, .held(stage, item))
      return watchHolds(station)
    }
    let next = apply(verdict, to: item, answer.ticket, fronts: answer.fronts.count)
    station.lane.settle(sequence, next.map(Lane.State.ready) ?? .dropped, isLate: answer.isLate)
  }

  /// Interceptors before this position get the values of a path.
  func recipients(of path: Path) -> Int {
    switch path {
    case _ where path === report: progress.reached
    case _ where path === inbound: min(progress.endFrontier, progress.reached)
    default: progress.endFrontier
    }
  }

  private func append(
    _ state: Lane.State, _ item: Item?, _ station: Station, _ path: Path, sequence: Int? = nil,
    fronts: [Item] = [], isLate: Bool = false
  ) {
    let sizeBytes = (item?.sizeBytes ?? 0) + fronts.reduce(0) { $0 + $1.sizeBytes }
    // One more may always come, however large.
    if path.waitingBytes / Self.windowsToOverflow > windowBytes { overflow(path) }
    station.lane.append(
      state, sequence: sequence ?? mailbox.takeSequence(), sizeBytes: sizeBytes, fronts: fronts,
      isLate: isLate)
    path.waitingCount += 1
    path.waitingBytes += sizeBytes
  }

  /// Has the start wait at an interceptor that has not been given it.
  func queue(_ start: Item, at station: Station) {
    append(.queued(start), start, station, outbound)
    markDirty(station, outbound)
  }

  /// Has values go on from a station as its interceptor's own.
  func put(_ items: [Item], at station: Station, of path: Path) {
    for item in items {
      station.lane.append(
        .ready(item), sequence: mailbox.takeSequence(), sizeBytes: item.sizeBytes, isOwn: true)
      path.waitingCount += 1
      path.waitingBytes += item.sizeBytes
    }
    markDirty(station, path)
  }

  private func overflow(_ path: Path) {
    let (name, stage) = holder ?? ("an interceptor", path === outbound ? .requestMessage : .responseMessage)
    end(
      .cancel(
        RPCError(
          .resourceExhausted, "\(name) holds the call at \(stage), and more has come than can wait behind it",
          origin: .interceptor(name))))
  }

  func markDirty(_ station: Station, _ path: Path) {
    guard !station.isDirty else { return }
    station.isDirty = true
    dirtyStations.append((station, path))
  }

  /// Keeps count of whom the starts and the end have reached.
  private func note(_ item: Item, at station: Station) {
    switch item {
    case .requestStart where station.kind == .outboundHome:
      progress.reached = max(progress.reached, station.position + 1)
    case .responseStart where station.kind == .inboundHome:
      progress.responseStartFrontier = min(progress.responseStartFrontier, station.position)
    case .responseEnd where station.kind == .inboundHome:
      progress.endFrontier = min(progress.endFrontier, station.position)
    case .requestStart, .requestEnd, .responseStart, .responseEnd, .message, .metrics: break
    }
  }

  /// Keeps count of what has left a station.
  private func noteGone(_ item: Item, _ station: Station) {
    switch item {
    case .requestEnd, .responseEnd: station.hasClosed = true
    case .requestStart(let start):
      station.hasStarted = true
      guard start.deadline != progress.deadline else { return }
      progress.deadline = start.deadline
      caller?.deadlineChanged(to: start.deadline)
    case .responseStart: station.hasStarted = true
    case .message, .metrics: break
    }
  }

  /// Lets what was waiting for the start go behind it: the value with this number, whose place is free.
  private func release(_ station: Station, _ path: Path, behind sequence: Int) {
    let sizeBytes = station.early.reduce(0) { $0 + $1.sizeBytes }
    station.lane.putFirst(station.early, sequence: sequence, sizeBytes: sizeBytes)
    path.waitingCount += 1
    path.waitingBytes += sizeBytes
    earlyCount -= station.early.count
    station.early = []
  }

  /// The stage at which a station's interceptor wants an item; `nil` when it does not.
  func stage(of item: Item, _ station: Station) -> Stage? {
    let candidates: Stages =
      switch item {
      case .requestStart: .requestStart
      case .requestEnd: .requestEnd
      case .responseStart: .responseStart
      case .responseEnd: .responseEnd
      case .metrics: .metrics
      case .message: Path.messageStages
      }
    let wanted = station.stages.intersection(candidates)
    return wanted.isEmpty ? nil : Stage(rawValue: UInt32(wanted.rawValue.trailingZeroBitCount))
  }

  // MARK: - Delivering

  /// What an interceptor said at once of a value that it was given.
  struct Answer {
    let ticket: Ticket
    let verdict: Verdict?
    let fronts: [Item]
    /// Whether it was said after a way to end the call.
    let isLate: Bool
  }

  /// Gives a value to an interceptor.
  func deliver(_ item: Item, _ stage: Stage, _ station: Station, sequence: Int) -> Answer {
    let link = links[station.position]
    let ticket = Ticket(station, stage, sequence: sequence)
    mailbox.beginDelivery(sequence)
    delivery = ticket
    let clock = environment.clock
    let begin = clock.coarseNanoseconds
    do {
      if let interceptor = link.interceptor { try hand(item, stage, ticket, to: interceptor) }
    } catch {
      mailbox.say(thrown(error, ticket, link))
    }
    _ = warnIfBlocked(since: begin, clock, station.position, stage)
    return takeAnswer(ticket)
  }

  func takeAnswer(_ ticket: Ticket) -> Answer {
    let verdict = mailbox.takeVerdict()
    defer {
      mailbox.fronts = []
      delivery = nil
      isVerdictLate = false
    }
    return Answer(ticket: ticket, verdict: verdict, fronts: mailbox.fronts, isLate: isVerdictLate)
  }

  private func hand(
    _ item: Item, _ stage: Stage, _ ticket: Ticket, to interceptor: any Interceptor
  ) throws {
    switch (item, stage) {
    case (.message(let carried), .requestMessage):
      if let message = carried.typed {
        try interceptor.requestMessage(message, RequestToken(mailbox, ticket))
      }
    case (.message(let carried), .requestBytes):
      if let bytes = carried.bytes { try interceptor.requestBytes(bytes, RequestToken(mailbox, ticket)) }
    case (.message(let carried), .responseMessage):
      if let message = carried.typed {
        try interceptor.responseMessage(message, ResponseToken(mailbox, ticket))
      }
    case (.message(let carried), _):
      if let bytes = carried.bytes { try interceptor.responseBytes(bytes, ResponseToken(mailbox, ticket)) }
    case (.requestStart(let start), _): try interceptor.requestStart(start, RequestToken(mailbox, ticket))
    case (.requestEnd, _): try interceptor.requestEnd(RequestToken(mailbox, ticket))
    case (.responseStart(let start), _): try interceptor.responseStart(start, ResponseToken(mailbox, ticket))
    case (.responseEnd(let end), _): try interceptor.responseEnd(end, ResponseToken(mailbox, ticket))
    case (.metrics(let metrics), _): try interceptor.metrics(metrics, ReportToken(mailbox, ticket))
    }
  }

  /// What is said by throwing: it counts for more than what was said with the token.
  func thrown(_ error: any Error, _ ticket: Ticket, _ link: Link) -> Verdict {
    let error = self.error(error, of: link.name)
    guard ticket.stage != .metrics else {
      environment.log(
        LogRecord(level: .error, source: link.name, text: "failed at metrics: \(error.message)"))
      return .abandoned
    }
    if mailbox.hasSaidEnd { return .ended }
    end(.fail(ticket, error))
    return .ended
  }

  // MARK: - Forms of a message

  /// The message with the form that a stage needs; `nil` when it has none, which ends the call.
  func prepared(_ item: Item, for stage: Stage, _ station: Station) -> Item? {
    guard case .message(let carried) = item else { return item }
    switch stage {
    case .requestMessage: return typed(carried, codec.parseRequest, station, flushing: nil)
    case .responseMessage: return typed(carried, codec.parseResponse, station, flushing: station.index)
    case .requestBytes: return serialized(carried, below: outbound.typedCount, flushing: nil)
    default: return serialized(carried, below: station.position + 1, flushing: station.index)
    }
  }

  private func typed(
    _ carried: Carried, _ parse: ([UInt8]) throws -> Message, _ station: Station, flushing: Int?
  ) -> Item? {
    guard carried.typed == nil, let bytes = carried.bytes else { return .message(carried) }
    do {
      var carried = carried
      carried.typed = try parse(bytes)
      return .message(carried)
    } catch {
      let error =
        error as? RPCError
        ?? RPCError(
          .internal, "the message cannot be parsed: \(error)", origin: flushing == nil ? .client : .violation)
      end(.breakdown(below: station.position + 1, error, flushing: flushing))
      return nil
    }
  }

  func serialized(_ carried: Carried, below position: Int, flushing: Int?) -> Item? {
    guard carried.bytes == nil, let message = carried.typed else { return .message(carried) }
    do {
      var carried = carried
      carried.bytes = try codec.serialize(message)
      carried.sizeBytes = carried.bytes?.count ?? 0
      return .message(carried)
    } catch {
      let error =
        error as? RPCError
        ?? RPCError(.internal, "the message cannot be serialized: \(error)", origin: .client)
      end(.breakdown(below: position, error, flushing: flushing))
      return nil
    }
  }

  // MARK: - Out of the chain

  func leave(_ item: Item, _ path: Path) {
    switch item {
    case .requestStart(let start):
      guard unmade.isEmpty else { return open(with: item) }
      guard !progress.isWireDone else { return }
      progress.isWireStarted = true
      let wire = connect()
      self.wire = wire
      wire.start(start)
      if progress.isResponsePaused { wire.responseWanted(false) }
    case .requestEnd:
      guard isWireOpen else { return }
      if !facts.kind.clientStreams, progress.sentCount == 0 {
        return failCount("took the only message out of")
      }
      wire?.closeRequest()
    case .message(let carried) where path === outbound:
      guard isWireOpen,
        case .message(let carried)? = serialized(carried, below: outbound.typedCount, flushing: nil)
      else { return }
      progress.sentCount += 1
      if !facts.kind.clientStreams, progress.sentCount > 1 { return failCount("put a second message into") }
      if let bytes = carried.bytes { wire?.send(bytes) }
    case .message(let carried):
      // The headers may have been given up while an interceptor held them.
      if progress.responseStartFrontier >= 0 { leave(.responseStart(ResponseStart()), path) }
      if let bytes = carried.bytes {
        caller?.responseReceived(.bytes(bytes))
      } else if let message = carried.typed {
        caller?.responseReceived(.typed(message))
      }
    case .responseStart(let start):
      progress.responseStartFrontier = -1
      caller?.responseStarted(start)
    case .responseEnd(let end): endReachedCaller(end)
    case .metrics(let metrics): finish(metrics)
    }
  }

  private func failCount(_ what: String) {
    let error = RPCError(
      .internal, "interceptors \(what) a request that has exactly one", origin: .client)
    end(.breakdown(below: nil, error, flushing: nil))
  }

  /// Whether the wire takes what is sent: a server, or the record that the next attempt is made of.
  private var isWireOpen: Bool { progress.isWireStarted && (!progress.isWireDone || mayStillRetry) }
}
