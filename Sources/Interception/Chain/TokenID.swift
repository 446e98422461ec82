/// Which value a token is for.
struct TokenID: @unchecked Sendable {  // other threads read the epoch of the node only
  /// The node that delivered it. The chain keeps it for as long as it lives itself.
  let node: Unmanaged<PipelineNode>
  /// The value's number, which no other value of the call has.
  let sequence: Int
  /// The node's epoch when it did. Voiding tokens starts a new one.
  let epoch: UInt32
  let stage: Stage

  init(_ node: PipelineNode, _ stage: Stage, sequence: Int) {
    self.init(node, stage, sequence: sequence, epoch: node.epoch.load(ordering: .relaxed))
  }

  private init(_ node: PipelineNode, _ stage: Stage, sequence: Int, epoch: UInt32) {
    self.node = .passUnretained(node)
    self.sequence = sequence
    self.epoch = epoch
    self.stage = stage
  }

  /// The tokenID of a token that is only shown: void from the start.
  static func shown(_ node: PipelineNode, _ stage: Stage) -> TokenID {
    TokenID(node, stage, sequence: -1, epoch: .max)
  }

  /// Whether the value is not the chain's any more.
  var isVoid: Bool { node._withUnsafeGuaranteedRef { $0.epoch.load(ordering: .relaxed) } != epoch }
}
