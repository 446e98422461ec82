/// The events of a run by file, for reports that are one document.
struct SuiteRecord: Sendable {
  struct File: Sendable {
    let path: String
    var tests: [TestResult] = []
    var errors: [SuiteError] = []
    /// What interceptors have printed after the last call.
    var output = ""
    var duration = Duration.zero
    /// The number of tests with each outcome; the errors of the file are counted.
    var counts = SuiteEnd()
  }

  private(set) var run: SuiteRun?
  private(set) var end: SuiteEnd?
  /// What all files have exercised; nil if it is not collected.
  private(set) var coverage: SuiteCoverage?
  private var all: [File] = []
  private var indices: [String: Int] = [:]

  mutating func add(_ event: SuiteEvent) {
    switch event {
    case .run(let run): self.run = run
    case .file(let file): update(file.file) { _ in }
    case .test(let test):
      update(test.file) {
        $0.tests.append(test)
        $0.counts.count(event)
      }
    case .fileEnd(let end):
      update(end.file) {
        // A file that is repeated ends several times.
        $0.errors += end.errors
        $0.output += end.output ?? ""
        $0.duration += end.duration
        $0.counts.count(event)
      }
    case .coverage(let file):
      coverage = coverage ?? SuiteCoverage()
      coverage?.add(file.coverage)
    case .end(let end): self.end = end
    }
  }

  /// The files in the order of their paths: that of the events differs from run to run if files run at the same time.
  var files: [File] { indices.keys.sorted().compactMap { indices[$0].map { all[$0] } } }

  private mutating func update(_ path: String, _ change: (inout File) -> Void) {
    let index = indices[path] ?? all.count
    if index == all.count {
      indices[path] = index
      all.append(File(path: path))
    }
    change(&all[index])
  }
}
