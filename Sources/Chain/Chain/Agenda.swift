internal import DequeModule

/// What the pump of a chain has to do: commands first, then the nodes whose buffers may have output, then the values that
/// enter, each in the order in which they came.
struct Agenda {
  enum Work {
    case command(TokenSink.Command)
    case node(PipelineNode, Pipeline)
    case input(Item)
  }

  private var commands = Deque<TokenSink.Command>()
  private var nodes = Deque<(PipelineNode, Pipeline)>()
  private var inputs = Deque<Item>()
  /// How many endings are among the commands. No value moves until each is performed, or found void.
  private(set) var endingCount = 0

  /// Whether there is nothing to do.
  var isEmpty: Bool { commands.isEmpty && nodes.isEmpty && inputs.isEmpty }
  /// Whether there are commands, which come before the next value.
  var hasCommands: Bool { !commands.isEmpty }
  /// How many commands there are.
  var commandCount: Int { commands.count }

  mutating func append(_ command: TokenSink.Command) { commands.append(command) }

  mutating func append(_ item: Item) { inputs.append(item) }

  /// Appends an ending.
  ///
  /// - Parameter isFirst: Whether it follows from a command that is taking effect, and so comes before the others.
  mutating func append(_ ending: Ending, isFirst: Bool) {
    endingCount += 1
    if isFirst { commands.prepend(.ending(ending)) } else { commands.append(.ending(ending)) }
  }

  /// Appends a node, unless it is there already.
  mutating func append(_ node: PipelineNode, of pipeline: Pipeline) {
    guard !node.isDirty else { return }
    node.isDirty = true
    nodes.append((node, pipeline))
  }

  /// Takes what is to be done next.
  mutating func next() -> Work? {
    if let command = commands.popFirst() {
      if case .ending = command { endingCount -= 1 }
      return .command(command)
    }
    if let (node, pipeline) = nodes.popFirst() {
      node.isDirty = false
      return .node(node, pipeline)
    }
    return inputs.popFirst().map { .input($0) }
  }

  /// Removes what an attempt has given that was discarded.
  mutating func removeResponse() { inputs.removeAll { !$0.isRequest } }

  /// Removes everything.
  mutating func removeAll() { self = Agenda() }
}
