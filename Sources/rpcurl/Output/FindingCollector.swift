import Interception
import Synchronization

/// What interceptors have found out about a call, kept until it is over. Findings may come from any thread.
final class FindingCollector: Sendable {
  private let findings = Mutex<[Finding]>([])

  /// Takes findings.
  var sink: FindingSink {
    { [self] finding in findings.withLock { $0.append(finding) } }
  }

  /// Whether the status that the call ended with was to be expected.
  var hasExpectedStatus: Bool { findings.withLock { $0.contains { $0.kind == .expectedStatus } } }

  /// Whether the call is not as it should be.
  var hasFailure: Bool { findings.withLock { $0.hasFailure } }

  /// All there is, in the order in which it came; nothing of it is kept.
  func takeAll() -> [Finding] {
    findings.withLock { findings in
      defer { findings = [] }
      return findings
    }
  }
}

extension Finding.Kind {
  /// The kind as `--format events` names it.
  var name: String {
    switch self {
    case .note: "note"
    case .failure: "failure"
    case .expectedStatus: "expected_status"
    }
  }
}

extension [Finding] {
  /// Whether the call is not as it should be.
  var hasFailure: Bool { contains { $0.kind == .failure } }
  /// Whether the status that the call ended with was to be expected.
  var hasExpectedStatus: Bool { contains { $0.kind == .expectedStatus } }
}
