import RPCurlProtobuf

/// What a comparison of schemas reports: the rules to apply, and exceptions, which a module of buf may have of its own.
package struct ComparisonRules: Sendable, Equatable {
  /// The rules and exceptions of one module.
  package struct Selection: Sendable, Equatable {
    /// The rules to apply.
    package var rules: Set<Rule>
    /// What is not reported.
    package var exceptions: [RuleException] = []
    /// Whether packages without a stable version are not reported.
    package var ignoresUnstable = false

    /// Rules and exceptions.
    package init(rules: Set<Rule>, exceptions: [RuleException] = [], ignoresUnstable: Bool = false) {
      self.rules = rules
      self.exceptions = exceptions
      self.ignoresUnstable = ignoresUnstable
    }
  }

  /// What happens to a finding.
  private enum Decision: Equatable {
    case reported
    /// Another category has the rule.
    case notApplied
    /// By an exception, or because the package is unstable.
    case ignored(RuleException?)
  }

  /// The findings that are reported, and how many are not.
  package struct Result: Sendable, Equatable {
    /// The broken rules and the additions that are reported.
    package var findings: [SchemaFinding] = []
    /// How many broken rules are ignored.
    package var ignored = 0
    /// How many findings each exception ignores, by its origin.
    package var uses: [String: Int] = [:]
  }

  /// The names of the categories and rules, for people.
  package let name: String
  /// The selections of the modules; one if there are no modules.
  package let selections: [Selection]
  /// The selection of each file of a module.
  package let selectionsOfFiles: [String: Int]
  /// The selections of the files in each folder.
  private let selectionsOfFolders: [Substring: Set<Int>]

  /// Makes rules.
  package init(named name: String, _ selections: [Selection], ofFiles files: [String: Int] = [:]) {
    self.name = name
    self.selections = selections
    selectionsOfFiles = files
    selectionsOfFolders = files.reduce(into: [:]) {
      $0[Self.folder(of: $1.key), default: []].insert($1.value)
    }
  }

  private static func folder(of file: String) -> Substring {
    file[..<(file.lastIndex(of: Character("/")) ?? file.startIndex)]
  }

  /// The rules that any module applies.
  package var rules: Set<Rule> { selections.reduce(into: []) { $0.formUnion($1.rules) } }

  /// The exceptions of all modules, and whether a rule is applied that they concern. One for several modules has the files of all.
  package var exceptions: [(exception: RuleException, isApplied: Bool)] {
    var all: [(exception: RuleException, isApplied: Bool)] = []
    var indices: [String: Int] = [:]
    for selection in selections {
      for exception in selection.exceptions {
        let isApplied = exception.rules.map { !$0.isDisjoint(with: selection.rules) } ?? true
        if let index = indices[exception.origin] {
          all[index].isApplied = all[index].isApplied || isApplied
          all[index].exception.files.formUnion(exception.files)
        } else {
          indices[exception.origin] = all.count
          all.append((exception, isApplied))
        }
      }
    }
    return all
  }

  /// Selects the findings that are reported.
  package func result(of findings: [SchemaFinding]) -> Result {
    var result = Result()
    for finding in findings {
      switch decision(finding) {
      case .reported: result.findings.append(finding)
      case .notApplied: break
      case .ignored(let exception):
        if finding.rule != nil { result.ignored += 1 }
        if let exception { result.uses[exception.origin, default: 0] += 1 }
      }
    }
    return result
  }

  private func decision(_ finding: SchemaFinding) -> Decision {
    if let index = selectionsOfFiles[finding.file] { return Self.decision(finding, selections[index]) }
    // No module has a removed file: any with files of its folder may have had it, and each of them must ignore what is ignored.
    let modules = selectionsOfFolders[Self.folder(of: finding.file)] ?? Set(selections.indices)
    let decisions = modules.sorted().map { Self.decision(finding, selections[$0]) }
    guard !decisions.contains(.reported) else { return .reported }
    return decisions.first { $0 != .notApplied } ?? .notApplied
  }

  private static func decision(_ finding: SchemaFinding, _ selection: Selection) -> Decision {
    if let rule = finding.rule, !selection.rules.contains(rule) { return .notApplied }
    if let exception = selection.exceptions.first(where: { $0.covers(finding) }) {
      return .ignored(exception)
    }
    let isUnstable = [finding.old, finding.new].contains { $0.map { Self.isUnstable($0.package) } ?? false }
    return selection.ignoresUnstable && isUnstable ? .ignored(nil) : .reported
  }

  /// Whether a package ends with a version that may change, as `v1alpha`, `v1beta2`, `v2p1beta1` or `v1testing`.
  package static func isUnstable(_ package: String) -> Bool {
    guard let dot = package.lastIndex(of: Character(".")) else { return false }
    let version = package[package.index(after: dot)...]
    guard version.first == Character("v") else { return false }
    let parts = version.dropFirst()
    if let test = parts.firstRange(of: "test") { return isNumber(parts[..<test.lowerBound]) }
    let (alpha, beta) = (parts.firstRange(of: "alpha"), parts.firstRange(of: "beta"))
    guard let level = alpha ?? beta, alpha == nil || beta == nil else { return false }
    let minor = parts[level.upperBound...]
    let major = parts[..<level.lowerBound].split(
      separator: Character("p"), maxSplits: 1, omittingEmptySubsequences: false)
    return (minor.isEmpty || isNumber(minor)) && major.allSatisfy(isNumber)
  }

  /// Whether a text is a number above 0 of 32 bits.
  private static func isNumber(_ text: Substring) -> Bool { Int32(text).map { $0 > 0 } ?? false }
}

/// Something that a comparison does not report.
package struct RuleException: Sendable, Equatable {
  /// The rules; nil for all, and for additions.
  package let rules: Set<Rule>?
  /// The path or the name as it is written.
  package let scope: String
  /// The files that the path contains, of both schemas.
  package fileprivate(set) var files: Set<String>
  /// Where it is written: `buf.yaml:9:7`, or an option.
  package let origin: String

  /// An exception for a file, a directory, a package, or another name.
  ///
  /// - Parameters:
  ///   - rules: The rules; nil for all.
  ///   - scope: A path with `/`, or a full name.
  ///   - path: The absolute path that the scope is if it is a path, without `.` and `..`.
  ///   - origin: Where it is written.
  ///   - files: The files of both schemas: an absolute path of each, and its name.
  package init(
    of rules: Set<Rule>? = nil, in scope: String, path: String, at origin: String,
    among files: [(path: String, name: String)]
  ) {
    self.rules = rules
    self.scope = scope
    self.origin = origin
    let directory = path == "/" ? path : "\(path)/"
    self.files = Set(files.filter { $0.path == path || $0.path.hasPrefix(directory) }.map(\.name))
  }

  /// The name of a declaration or a package, with a dot before a method.
  package var name: String {
    let parts = scope.split(separator: Character("/"))
    return parts.count == 2 && parts[0].contains(Character(".")) ? parts.joined(separator: ".") : scope
  }

  /// Whether a finding is part of it.
  package func covers(_ finding: SchemaFinding) -> Bool {
    if let rules {
      guard let rule = finding.rule, rules.contains(rule) else { return false }
    }
    let isInside = [finding.old, finding.new].contains { $0.map { files.contains($0.file) } ?? false }
    return isInside || finding.concerns(name)
  }
}
