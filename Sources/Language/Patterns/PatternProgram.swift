/// A regular expression as a list of steps, simulated in parallel (Thompson's construction, as in RE2).
///
/// Matching takes time linear in the length of the text, without backtracking.
struct PatternProgram {
  /// A zero-width assertion.
  enum Anchor {
    case start, end, lineStart, lineEnd
    /// Between a character of `\w` and another one.
    case boundary, noBoundary
  }

  /// A step; the next one follows unless stated otherwise.
  enum Step {
    /// Consumes one character of the set.
    case scalar(ScalarSet)
    case anchor(Anchor)
    case jump(Int)
    case split(Int, Int)
    case match
  }

  /// The maximum number of steps: repetitions such as `a{1000}` multiply them.
  static let limit = 20_000

  private let steps: [Step]

  /// Compiles an expression; nil if it needs more steps than the limit.
  init?(_ node: PatternNode) {
    var steps: [Step] = []
    guard PatternProgram.compile(node, into: &steps) else { return nil }
    steps.append(.match)
    self.steps = steps
  }

  // MARK: Compiling

  /// Returns false at the limit.
  private static func compile(_ node: PatternNode, into steps: inout [Step]) -> Bool {
    guard steps.count < limit else { return false }
    switch node {
    case .scalar(let set): steps.append(.scalar(set))
    case .anchor(let anchor): steps.append(.anchor(anchor))
    case .sequence(let parts):
      for part in parts { guard compile(part, into: &steps) else { return false } }
    case .either(let alternatives): return compile(alternatives[...], into: &steps)
    case .repeated(let part, let least, let most):
      for _ in 0..<least { guard compile(part, into: &steps) else { return false } }
      guard let most else {
        let split = steps.count
        steps.append(.match)
        guard compile(part, into: &steps) else { return false }
        steps.append(.jump(split))
        steps[split] = .split(split + 1, steps.count)
        return true
      }
      for _ in least..<most {
        let split = steps.count
        steps.append(.match)
        guard compile(part, into: &steps) else { return false }
        steps[split] = .split(split + 1, steps.count)
      }
    }
    return true
  }

  private static func compile(_ alternatives: ArraySlice<PatternNode>, into steps: inout [Step]) -> Bool {
    var ends: [Int] = []
    for alternative in alternatives.dropLast() {
      let split = steps.count
      steps.append(.match)
      guard compile(alternative, into: &steps) else { return false }
      ends.append(steps.count)
      steps.append(.match)
      steps[split] = .split(split + 1, steps.count)
    }
    if let last = alternatives.last { guard compile(last, into: &steps) else { return false } }
    for end in ends { steps[end] = .jump(steps.count) }
    return true
  }

  // MARK: Matching

  /// Whether the expression matches anywhere in `text`.
  func isFound(in text: String) -> Bool {
    var budget = Int.max
    return isFound(in: text, budget: &budget) ?? false
  }

  /// Whether the expression matches anywhere in `text`; nil if that takes too long.
  ///
  /// - Parameter budget: The number of steps that may be entered; those that were entered are subtracted.
  func isFound(in text: String, budget: inout Int) -> Bool? {
    budget -= steps.count
    var run = Run(steps)
    var before: Unicode.Scalar?
    for scalar in text.unicodeScalars {
      if run.enter(before: before, after: scalar, budget: &budget) { return true }
      guard budget > 0 else { return nil }
      run.advance(over: scalar)
      before = scalar
    }
    return run.enter(before: before, after: nil, budget: &budget)
  }

  /// The steps reached at a position of the text.
  private struct Run {
    let steps: [Step]
    /// The steps that consume a character here, and those on the path to them.
    private var current: [Int] = []
    private var next: [Int] = [0]
    /// The last position at which each step was reached.
    private var reached: [Int]
    private var position = 0
    private var pending: [Int] = []

    init(_ steps: [Step]) {
      self.steps = steps
      reached = Array(repeating: -1, count: steps.count)
    }

    /// Follows steps up to those that consume a character between `before` and `after`. Returns true at a
    /// match.
    mutating func enter(before: Unicode.Scalar?, after: Unicode.Scalar?, budget: inout Int) -> Bool {
      current.removeAll(keepingCapacity: true)
      // A match may start at each position.
      next.append(0)
      for start in next {
        pending.append(start)
        while let index = pending.popLast() {
          guard reached[index] != position else { continue }
          reached[index] = position
          budget -= 1
          switch steps[index] {
          case .match: return true
          case .scalar(let set):
            budget -= set.ranges.count + set.kinds.count
            current.append(index)
          case .jump(let target): pending.append(target)
          case .split(let one, let other):
            pending.append(other)
            pending.append(one)
          case .anchor(let anchor):
            if anchor.holds(before: before, after: after) { pending.append(index + 1) }
          }
        }
      }
      return false
    }

    mutating func advance(over scalar: Unicode.Scalar) {
      next.removeAll(keepingCapacity: true)
      for index in current {
        if case .scalar(let set) = steps[index], set.contains(scalar) { next.append(index + 1) }
      }
      position += 1
    }
  }
}

extension PatternProgram.Anchor {
  private static func isWord(_ scalar: Unicode.Scalar?) -> Bool {
    scalar.map(ScalarSet.Kind.word.contains) ?? false
  }

  func holds(before: Unicode.Scalar?, after: Unicode.Scalar?) -> Bool {
    switch self {
    case .start: before == nil
    case .end: after == nil
    case .lineStart: before == nil || before == "\n"
    case .lineEnd: after == nil || after == "\n"
    case .boundary: Self.isWord(before) != Self.isWord(after)
    case .noBoundary: Self.isWord(before) == Self.isWord(after)
    }
  }
}
