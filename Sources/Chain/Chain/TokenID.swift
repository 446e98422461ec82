/// Identifies the value that a token is for.
struct TokenID: @unchecked Sendable {  // Other threads read only the epoch of the node.
  // Unmanaged, because a strong reference costs each message 17 to 19 % more instructions (scripts/bench-chain, ten
  // interceptors in Swift). `TokenSink.nodes` retains the node, and each token retains the sink.
  private let reference: Unmanaged<PipelineNode>
  /// The value's number; no other value of the call has it.
  let sequence: Int
  /// The node's epoch at the delivery. A new epoch makes the tokens of earlier ones void.
  let epoch: UInt32
  let stage: Stage

  init(_ node: PipelineNode, _ stage: Stage, sequence: Int) {
    self.init(node, stage, sequence: sequence, epoch: node.epoch.load(ordering: .relaxed))
  }

  private init(_ node: PipelineNode, _ stage: Stage, sequence: Int, epoch: UInt32) {
    reference = .passUnretained(node)
    self.sequence = sequence
    self.epoch = epoch
    self.stage = stage
  }

  /// The identity of a token that is void from the start: the value is only shown.
  static func shown(_ node: PipelineNode, _ stage: Stage) -> TokenID {
    TokenID(node, stage, sequence: -1, epoch: .max)
  }

  /// The node that delivered the value.
  var node: PipelineNode { reference.takeUnretainedValue() }

  /// Whether a verdict has no effect any more. `[any thread]`
  var isVoid: Bool { node.epoch.load(ordering: .relaxed) != epoch }
}
