import RPCurlProtocols
import Testing

@testable import RPCurlChain

/// The order in which the pump of a chain does its work.
@Suite struct AgendaTests {
  private var agenda = Agenda()
  private let outbound = Pipeline(isOutbound: true)
  private let nodes = (0..<2).map { PipelineNode(.request, ($0, false), .request, .none) }

  private func error(_ text: String) -> RPCError { RPCError(.canceled, text, origin: .client) }

  private func message(_ text: String) -> MessageValue { MessageValue(bytes: Array(text.utf8)) }

  /// Takes all that there is to do.
  private mutating func rest() -> [String] {
    var lines: [String] = []
    while let work = agenda.next() {
      switch work {
      case .command(.cancel(let error)): lines.append("command \(error.message)")
      case .command(.ending(.cancel(let error))): lines.append("ending \(error.message)")
      case .command: lines.append("?")
      case .node(let node, let pipeline): lines.append("node \(node.position) \(pipeline === outbound)")
      case .input(.requestMessage(let value)), .input(.responseMessage(let value)):
        lines.append("input \(String(decoding: value.bytesForm ?? [], as: UTF8.self))")
      case .input(let item): lines.append("input \(item.isEnd ? "end" : "start")")
      }
    }
    return lines
  }

  @Test mutating func commandsComeFirstThenNodesThenInputs() {
    agenda.append(.requestMessage(message("1")))
    agenda.append(.responseMessage(message("2")))
    agenda.append(nodes[1], of: outbound)
    agenda.append(nodes[0], of: outbound)
    agenda.append(.cancel(error("a")))
    agenda.append(.cancel(error("b")))
    #expect(!agenda.isEmpty && agenda.hasCommands && agenda.commandCount == 2)
    let lines = rest()
    #expect(
      lines == ["command a", "command b", "node 1 true", "node 0 true", "input 1", "input 2"])
    #expect(agenda.isEmpty && !agenda.hasCommands && agenda.commandCount == 0)
  }

  @Test mutating func workAddedMeanwhileComesBeforeWhatIsLessUrgent() {
    agenda.append(nodes[0], of: outbound)
    agenda.append(.requestEnd)
    _ = agenda.next()
    agenda.append(nodes[1], of: outbound)
    agenda.append(.cancel(error("a")))
    let lines = rest()
    #expect(lines == ["command a", "node 1 true", "input end"])
  }

  @Test mutating func endingWaitsForTheCommandsBeforeIt() {
    agenda.append(.cancel(error("a")))
    agenda.append(.cancel(error("b")), isFirst: false)
    agenda.append(.cancel(error("c")))
    let lines = rest()
    #expect(lines == ["command a", "ending b", "command c"])
  }

  @Test mutating func endingOfACommandThatTakesEffectComesBeforeTheOthers() {
    agenda.append(.cancel(error("a")))
    agenda.append(.cancel(error("b")))
    _ = agenda.next()
    agenda.append(.cancel(error("c")), isFirst: true)
    let lines = rest()
    #expect(lines == ["ending c", "command b"])
  }

  @Test mutating func endingsCountUntilTheyAreTaken() {
    agenda.append(.cancel(error("a")))
    #expect(agenda.endingCount == 0)
    agenda.append(.cancel(error("b")), isFirst: false)
    agenda.append(.cancel(error("c")), isFirst: true)
    #expect(agenda.endingCount == 2 && agenda.commandCount == 3)
    _ = agenda.next()
    #expect(agenda.endingCount == 1)
    _ = agenda.next()
    #expect(agenda.endingCount == 1)
    _ = agenda.next()
    #expect(agenda.endingCount == 0 && agenda.isEmpty)
  }

  @Test mutating func nodeIsThereOnceUntilItIsTaken() {
    agenda.append(nodes[0], of: outbound)
    agenda.append(nodes[0], of: outbound)
    let first = rest()
    #expect(first == ["node 0 true"])
    agenda.append(nodes[0], of: outbound)
    let second = rest()
    #expect(second == ["node 0 true"])
  }

  @Test mutating func removingTheResponseKeepsTheRest() {
    agenda.append(.responseStart(ResponseStart()))
    agenda.append(.requestMessage(message("1")))
    agenda.append(.responseMessage(message("2")))
    agenda.append(.responseEnd(ResponseEnd()))
    agenda.append(.requestEnd)
    agenda.append(nodes[0], of: outbound)
    agenda.append(.cancel(error("a")), isFirst: false)
    agenda.removeResponse()
    let lines = rest()
    #expect(lines == ["ending a", "node 0 true", "input 1", "input end"])
  }

  @Test mutating func removingEverythingLeavesNoEnding() {
    agenda.append(.cancel(error("a")), isFirst: false)
    agenda.append(nodes[0], of: outbound)
    agenda.append(.requestEnd)
    agenda.removeAll()
    #expect(agenda.isEmpty && agenda.endingCount == 0)
    let lines = rest()
    #expect(lines.isEmpty)
  }
}
