import RPCurlProtobuf
import Testing

@testable import RPCurlSchemaTools

struct ComparisonRulesTests {
  typealias D = Descriptors

  @Test(arguments: [
    ("shop.v1alpha1", true), ("shop.v1beta", true), ("shop.v1beta22", true), ("a.b.v2p1beta1", true),
    ("shop.v1test", true), ("shop.v1testing", true), ("shop.v1", false), ("shop.v1p1", false),
    ("v1alpha1", false),
    ("shop.v0alpha1", false), ("shop.v1alpha1beta1", false), ("shop.v1beta0", false),
    ("shop.v1pbeta1", false),
    ("shop.valpha1", false), ("shop.alpha1", false), ("shop.v1beta1.sub", false), ("", false),
    ("shop.v99999999999alpha1", false),
  ])
  func packagesWithoutAStableVersionAreUnstable(package: String, isUnstable: Bool) {
    #expect(ComparisonRules.isUnstable(package) == isUnstable)
  }

  /// Fields of three messages, in two files and packages, change their type.
  private func findings() throws -> [SchemaFinding] {
    func schema(_ kind: FieldKind) -> [UInt8] {
      let message = { (name: String) in D.message(name, D.field("a", 1, kind)) }
      return D.set(
        D.file(message("M") + message("N"), name: "a/one.proto", package: "p.v1"),
        D.file(message("O"), name: "a/b/two.proto", package: "q.v1beta1"))
    }
    return try D.findings(schema(.string), schema(.bytes), [.fieldSameType, .fieldWireJSONCompatibleType])
  }

  private let files = ["a/one.proto", "a/b/two.proto"].map { (path: "/w/proto/\($0)", name: $0) }

  private func exception(
    of rules: Set<Rule>? = nil, in scope: String, at origin: String = "x:1:1"
  ) -> RuleException {
    RuleException(of: rules, in: scope, path: "/w/\(scope)", at: origin, among: files)
  }

  @Test func theRootContainsAllFiles() {
    #expect(RuleException(in: "/", path: "/", at: "", among: files).files.count == 2)
  }

  private func symbols(_ selection: ComparisonRules.Selection) throws -> ([String], ignored: Int) {
    let result = ComparisonRules(named: "", [selection]).result(of: try findings())
    return (
      result.findings.map { "\($0.symbol) \($0.rule == .fieldSameType ? "type" : "json")" }, result.ignored
    )
  }

  @Test(
    arguments: [
      ("proto", nil, []), ("proto/a", nil, []), ("proto/a/b", nil, ["M", "N"]),
      ("proto/a/b/two.proto", nil, ["M", "N"]), ("proto/a/on", nil, ["M", "N", "O"]),
      ("q.v1beta1", nil, ["M", "N"]), ("p", nil, ["O"]), ("p.v1.M", nil, ["N", "O"]),
      ("p.v1.M.a", nil, ["N", "O"]), ("p.v1.M", .fieldSameType, ["N", "O"]),
      ("proto", .rpcNoDelete, ["M", "N", "O"]), ("x", nil, ["M", "N", "O"]),
    ] as [(String, Rule?, [String])])
  func exceptionsAreFilesDirectoriesPackagesAndNames(scope: String, rule: Rule?, rest: [String]) throws {
    let exception = exception(of: rule.map { [$0] }, in: scope)
    let (found, ignored) = try symbols(.init(rules: [.fieldSameType], exceptions: [exception]))
    let packages = ["M": "p.v1", "N": "p.v1", "O": "q.v1beta1"]
    #expect(Set(found) == Set(rest.map { "\(packages[$0] ?? "").\($0).a type" }))
    #expect(ignored == 3 - rest.count)
  }

  @Test func anExceptionOfARuleLeavesOtherRules() throws {
    let exception = exception(of: [.fieldSameType], in: "p.v1")
    let rules: Set<Rule> = [.fieldSameType, .fieldWireJSONCompatibleType]
    let (found, ignored) = try symbols(.init(rules: rules, exceptions: [exception]))
    #expect(
      Set(found) == ["p.v1.M.a json", "p.v1.N.a json", "q.v1beta1.O.a json", "q.v1beta1.O.a type"])
    #expect(ignored == 2)
  }

  @Test func unstablePackagesAreIgnored() throws {
    let (found, ignored) = try symbols(.init(rules: [.fieldSameType], ignoresUnstable: true))
    #expect(Set(found) == ["p.v1.M.a type", "p.v1.N.a type"])
    #expect(ignored == 1)
  }

  @Test func eachModuleHasItsRules() throws {
    let rules = ComparisonRules(
      named: "",
      [.init(rules: [.fieldSameType]), .init(rules: [.fieldWireJSONCompatibleType], ignoresUnstable: true)],
      ofFiles: ["a/one.proto": 0])
    #expect(rules.rules == [.fieldSameType, .fieldWireJSONCompatibleType])
    // No module has the other file: only what none of them reports is ignored.
    let result = rules.result(of: try findings())
    #expect(Set(result.findings.map(\.symbol)) == ["p.v1.M.a", "p.v1.N.a", "q.v1beta1.O.a"])
    #expect(result.findings.allSatisfy { $0.rule == .fieldSameType })
    #expect(result.ignored == 1)
  }

  @Test func anExceptionOfOneModuleHidesNoRemovedFileOfAnother() throws {
    let ignoring = ComparisonRules.Selection(rules: [.fieldSameType], exceptions: [exception(in: "proto")])
    let selections = [ComparisonRules.Selection(rules: [.fieldSameType]), ignoring]
    let all = ComparisonRules(named: "", selections).result(of: try findings())
    #expect(all.findings.count == 3 && all.ignored == 0)
    // A file in the folder of a module's files was one of them.
    let rules = ComparisonRules(named: "", selections, ofFiles: ["a/x.proto": 1, "a/b/x.proto": 0])
    let result = rules.result(of: try findings())
    #expect(result.findings.map(\.symbol) == ["q.v1beta1.O.a"] && result.ignored == 2)
  }

  @Test func countsTheUsesOfEachException() throws {
    let first = exception(in: "p.v1.M")
    let second = exception(in: "p.v1", at: "x:2:1")
    let third = exception(of: [.rpcNoDelete], in: "p.v1", at: "x:3:1")
    let rules = ComparisonRules(
      named: "", [.init(rules: [.fieldSameType], exceptions: [first, second, third])])
    #expect(rules.result(of: try findings()).uses == ["x:1:1": 1, "x:2:1": 1])
    #expect(rules.exceptions.map(\.isApplied) == [true, true, false])
  }

  @Test func manyExceptionsTakeLinearTime() throws {
    let exceptions = (0..<40_000).map { exception(in: "p.v1.A\($0)", at: "x:\($0):1") }
    let selection = ComparisonRules.Selection(rules: [.fieldSameType], exceptions: exceptions)
    let begin = ContinuousClock.now
    #expect(ComparisonRules(named: "", [selection, selection]).exceptions.count == 40_000)
    #expect(ContinuousClock.now - begin < .seconds(10))
  }

  @Test(arguments: [
    ("CATEGORY", nil), ("WIRE", 15), ("FILE", 51), ("FIELD_SAME_TYPE", 1), ("FIELD_SAME_LABEL", 1),
    ("FILE_SAME_PHP_GENERIC_SERVICES", 0),
  ])
  func namesOfBufAreRules(name: String, count: Int?) {
    #expect(Rule.named(name)?.count == count)
  }
}
