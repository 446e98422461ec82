import Protobuf
import RPCProtocols

// How values go from station to station.
extension Chain {
  /// Takes a value as far as it goes: to a station where it rests, or out of the chain.
  func advance(_ item: Item, on path: Path, from index: Int) {
    var item = item
    var index = index
    while true {
      if path.waitingCount == 0, case .message = item { index = path.nextForMessages[index] }
      guard index < path.stations.count else { return leave(item, path) }
      guard let next = pass(item, path.stations[index], path) else { return }
      item = next
      index += 1
    }
  }

  /// Sends on what nothing holds any more at a station.
  func drain(_ station: Station, of path: Path) {
    // A value that goes on may end the call, and empty this lane.
    while endings.isEmpty, let (item, sizeBytes) = station.lane.popSettled() {
      path.waitingCount -= 1
      path.waitingBytes -= sizeBytes
      if let item { advance(item, on: path, from: station.index + 1) }
    }
    if !endings.isEmpty { markDirty(station, path) }
  }

  /// Lets a value pass one station; `nil` when it rests there, or was taken out.
  private func pass(_ item: Item, _ station: Station, _ path: Path) -> Item? {
    guard station.position < recipients(of: path) else {
      // This interceptor has seen the end: what is for it goes nowhere, what is for those further out goes by.
      return path === outbound ? nil : item
    }
    if station.isHome { note(item, at: station) }
    guard let stage = stage(of: item, station, path) else {
      if station.lane.isEmpty { return item }
      append(.ready(item), item, station, path)
      return nil
    }
    guard let item = prepared(item, for: stage, station) else { return nil }
    let ticket = Ticket(
      station: station.id, epoch: station.epoch, stage: stage, sequence: station.lane.nextSequence)
    delivery = (ticket, nil)
    deliver(item, stage, ticket, to: links[station.position].interceptor)
    let verdict = delivery?.verdict
    delivery = nil
    guard let verdict else {
      append(.held(stage, item), item, station, path)
      return nil
    }
    guard let next = apply(verdict, to: item, ticket) else { return nil }
    if station.lane.isEmpty, endings.isEmpty {
      station.lane.skip()
      return next
    }
    append(.ready(next), next, station, path)
    markDirty(station, path)
    return nil
  }

  /// Interceptors before this position get the values of a path.
  private func recipients(of path: Path) -> Int {
    path === report ? progress.reached : progress.endFrontier
  }

  private func append(_ state: Lane.State, _ item: Item, _ station: Station, _ path: Path) {
    station.lane.append(state, sizeBytes: item.sizeBytes)
    path.waitingCount += 1
    path.waitingBytes += item.sizeBytes
  }

  func markDirty(_ station: Station, _ path: Path) {
    guard !station.isDirty else { return }
    station.isDirty = true
    dirtyStations.append((station, path))
  }

  /// Keeps count of whom the starts and the end have reached.
  private func note(_ item: Item, at station: Station) {
    switch item {
    case .requestStart: progress.reached = max(progress.reached, station.position + 1)
    case .responseStart: progress.responseStartFrontier = station.position
    case .responseEnd: progress.endFrontier = station.position
    case .requestEnd, .message, .metrics: break
    }
  }

  /// The stage at which a station's interceptor wants an item; `nil` when it does not.
  private func stage(of item: Item, _ station: Station, _ path: Path) -> Stage? {
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

  private func deliver(_ item: Item, _ stage: Stage, _ ticket: Ticket, to interceptor: any Interceptor) {
    switch (item, stage) {
    case (.message(let carried), .requestMessage):
      if let message = carried.typed { interceptor.requestMessage(message, RequestToken(self, ticket)) }
    case (.message(let carried), .requestBytes):
      if let bytes = carried.bytes { interceptor.requestBytes(bytes, RequestToken(self, ticket)) }
    case (.message(let carried), .responseMessage):
      if let message = carried.typed { interceptor.responseMessage(message, ResponseToken(self, ticket)) }
    case (.message(let carried), _):
      if let bytes = carried.bytes { interceptor.responseBytes(bytes, ResponseToken(self, ticket)) }
    case (.requestStart(let start), _): interceptor.requestStart(start, RequestToken(self, ticket))
    case (.requestEnd, _): interceptor.requestEnd(RequestToken(self, ticket))
    case (.responseStart(let start), _): interceptor.responseStart(start, ResponseToken(self, ticket))
    case (.responseEnd(let end), _): interceptor.responseEnd(end, ResponseToken(self, ticket))
    case (.metrics(let metrics), _): interceptor.metrics(metrics, ReportToken(self, ticket))
    }
  }

  // MARK: - Forms of a message

  /// The message with the form that a stage needs; `nil` when it has none, which ends the call.
  private func prepared(_ item: Item, for stage: Stage, _ station: Station) -> Item? {
    guard case .message(let carried) = item else { return item }
    switch stage {
    case .requestMessage: return typed(carried, codec.parseRequest, station, flushing: nil)
    case .responseMessage: return typed(carried, codec.parseResponse, station, flushing: station.index)
    default: return serialized(carried)
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
      endings.append(.breakdown(below: station.position + 1, error, flushing: flushing))
      return nil
    }
  }

  private func serialized(_ carried: Carried) -> Item? {
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
      endings.append(.breakdown(below: outbound.typedCount, error, flushing: nil))
      return nil
    }
  }

  // MARK: - Out of the chain

  private func leave(_ item: Item, _ path: Path) {
    switch item {
    case .requestStart(let start):
      guard !progress.isWireDone else { return }
      progress.isWireStarted = true
      wire?.start(start)
    case .requestEnd:
      if isWireOpen { wire?.closeRequest() }
    case .message(let carried) where path === outbound:
      guard isWireOpen, case .message(let carried)? = serialized(carried) else { return }
      if let bytes = carried.bytes { wire?.send(bytes) }
    case .message(let carried):
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

  private var isWireOpen: Bool { progress.isWireStarted && !progress.isWireDone }
}
