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
    /// Continues at both; the first is preferred.
    case split(Int, Int)
    case groupStart, groupEnd
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
    case .group(let part):
      steps.append(.groupStart)
      guard compile(part, into: &steps) else { return false }
      steps.append(.groupEnd)
    case .repeated(let part, let least, let most, let isLazy):
      var splits: [Int] = []
      // A part without an end repeats the last one that it requires, or the one that it may have.
      for number in 0..<(most ?? max(least, 1)) {
        if number >= least {
          splits.append(steps.count)
          steps.append(.match)
        }
        let start = steps.count
        guard compile(part, into: &steps) else { return false }
        if most == nil, number + 1 == max(least, 1) {
          steps.append(isLazy ? .split(steps.count + 1, start) : .split(start, steps.count + 1))
        }
      }
      for split in splits {
        steps[split] = isLazy ? .split(steps.count, split + 1) : .split(split + 1, steps.count)
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

  /// The leftmost match in `text`, and of those that begin there the one that Perl prefers, as numbers of characters; nil if
  /// there is none.
  ///
  /// - Parameter budget: The number of steps that may be entered; those that were entered are subtracted.
  /// - Throws: `LanguageError` if that takes too long.
  func firstMatch(in text: String, budget: inout Int) throws(LanguageError) -> Match? {
    budget -= steps.count
    var run = Run(steps)
    var before: Unicode.Scalar?
    for scalar in text.unicodeScalars {
      _ = run.enter(before: before, after: scalar, budget: &budget)
      if run.isComplete { return run.found }
      guard budget > 0 else { throw TextPattern.tooLong }
      run.advance(over: scalar)
      before = scalar
    }
    _ = run.enter(before: before, after: nil, budget: &budget)
    return run.found
  }

  /// Where an expression matches.
  struct Match {
    /// The step that is reached at the position.
    fileprivate var step = 0
    fileprivate(set) var start: Int
    fileprivate(set) var end = 0
    /// The first group, of its last repetition; nil if it is not a part of the match.
    fileprivate(set) var group: Range<Int>?
    /// Where the group began that has not ended.
    fileprivate var groupStart = 0
  }

  /// The steps reached at a position of the text.
  private struct Run {
    let steps: [Step]
    /// The match so far that is preferred.
    private(set) var found: Match?
    /// The steps that consume a character here, and those on the path to them, in the order of preference.
    private var current: [Match] = []
    private var next: [Match] = []
    /// The last position at which each step was reached.
    private var reached: [Int]
    private var position = 0
    private var pending: [Match] = []

    init(_ steps: [Step]) {
      self.steps = steps
      reached = Array(repeating: -1, count: steps.count)
    }

    /// Whether more of the text cannot change the match.
    var isComplete: Bool { found != nil && current.isEmpty }

    /// Follows steps up to those that consume a character between `before` and `after`. Returns true at a
    /// match.
    mutating func enter(before: Unicode.Scalar?, after: Unicode.Scalar?, budget: inout Int) -> Bool {
      current.removeAll(keepingCapacity: true)
      // A match may start at each position before one is found.
      if found == nil { next.append(Match(start: position)) }
      for start in next {
        pending.append(start)
        while var match = pending.popLast() {
          guard reached[match.step] != position else { continue }
          reached[match.step] = position
          budget -= 1
          switch steps[match.step] {
          case .match:
            match.end = position
            found = match
            // What follows is not preferred.
            pending.removeAll(keepingCapacity: true)
            return true
          case .scalar(let set):
            budget -= set.ranges.count + set.kinds.count
            current.append(match)
          case .jump(let target): pending.append(match.at(target))
          case .split(let one, let other):
            pending.append(match.at(other))
            pending.append(match.at(one))
          case .groupStart:
            match.groupStart = position
            pending.append(match.at(match.step + 1))
          case .groupEnd:
            match.group = match.groupStart..<position
            pending.append(match.at(match.step + 1))
          case .anchor(let anchor):
            if anchor.holds(before: before, after: after) { pending.append(match.at(match.step + 1)) }
          }
        }
      }
      return false
    }

    mutating func advance(over scalar: Unicode.Scalar) {
      next.removeAll(keepingCapacity: true)
      for match in current {
        if case .scalar(let set) = steps[match.step], set.contains(scalar) {
          next.append(match.at(match.step + 1))
        }
      }
      position += 1
    }
  }
}

extension PatternProgram.Match {
  fileprivate func at(_ step: Int) -> PatternProgram.Match {
    var match = self
    match.step = step
    return match
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
