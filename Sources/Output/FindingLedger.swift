import Interception
import Synchronization

/// What interceptors have found out about a call, kept until it is over. Findings may come from any thread.
package final class FindingLedger: Sendable {
  private let findings = Mutex<[Finding]>([])

  package init() {}

  /// Takes findings.
  package var sink: FindingSink {
    { [self] finding in findings.withLock { $0.append(finding) } }
  }

  /// Whether the status that the call ended with was to be expected.
  package var hasExpectedStatus: Bool { findings.withLock { $0.contains { $0.kind == .expectedStatus } } }

  /// Whether the call is not as it should be.
  package var hasFailure: Bool { findings.withLock { $0.hasFailure } }

  /// All there is, in the order in which it came; nothing of it is kept.
  package func takeAll() -> [Finding] {
    findings.withLock { findings in
      defer { findings = [] }
      return findings
    }
  }
}

extension Finding.Kind {
  /// The kind as `--format events` names it.
  package var name: String {
    switch self {
    case .note: "note"
    case .failure: "failure"
    case .expectedStatus: "expected_status"
    }
  }
}

extension [Finding] {
  /// Whether the call is not as it should be.
  package var hasFailure: Bool { contains { $0.kind == .failure } }
  /// Whether the status that the call ended with was to be expected.
  package var hasExpectedStatus: Bool { contains { $0.kind == .expectedStatus } }
}
