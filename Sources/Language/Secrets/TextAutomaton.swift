/// Finds many texts in another one in a single pass (Aho and Corasick, 1975).
struct TextAutomaton: Sendable {
  /// The state before the first byte.
  static let start = 0

  private struct State: Sendable {
    /// The number of bytes before this state: the longest start of a text that what was read ends with.
    var depth = 0
    /// The state of the next shorter start that what was read ends with.
    var shorter = TextAutomaton.start
    /// The length of the longest text that ends here; 0 without one.
    var match = 0
    /// Whether a text that ends here has the mark.
    var isMarked = false
  }

  private struct Step: Hashable, Sendable {
    let state: Int
    let byte: UInt8
  }

  private var states = [State()]
  private var steps: [Step: Int] = [:]

  /// Makes an automaton.
  ///
  /// - Parameter texts: The texts to find, none of them empty, each perhaps with a mark.
  init(_ texts: some Sequence<(bytes: [UInt8], isMarked: Bool)>) {
    for text in texts {
      var state = Self.start
      for byte in text.bytes { state = child(of: state, byte) }
      states[state].match = states[state].depth
      states[state].isMarked = states[state].isMarked || text.isMarked
    }
    link()
  }

  private mutating func child(of state: Int, _ byte: UInt8) -> Int {
    if let known = steps[Step(state: state, byte: byte)] { return known }
    steps[Step(state: state, byte: byte)] = states.count
    states.append(State(depth: states[state].depth + 1))
    return states.count - 1
  }

  /// Finds the shorter start of each state, by depth: it is that of the state before, one byte longer.
  private mutating func link() {
    let byDepth = steps.sorted { states[$0.value].depth < states[$1.value].depth }
    for (step, state) in byDepth where step.state != Self.start {
      let shorter = next(states[step.state].shorter, step.byte)
      states[state].shorter = shorter
      states[state].match = max(states[state].match, states[shorter].match)
      states[state].isMarked = states[state].isMarked || states[shorter].isMarked
    }
  }

  /// The state after one more byte.
  func next(_ state: Int, _ byte: UInt8) -> Int {
    var state = state
    while true {
      if let next = steps[Step(state: state, byte: byte)] { return next }
      guard state != Self.start else { return state }
      state = states[state].shorter
    }
  }

  /// The longest text that ends in a state, and whether one with the mark does; nil if none does.
  func match(_ state: Int) -> (length: Int, isMarked: Bool)? {
    states[state].match > 0 ? (states[state].match, states[state].isMarked) : nil
  }

  /// The length of the longest start of a text that what was read ends with.
  func depth(_ state: Int) -> Int { states[state].depth }
}
