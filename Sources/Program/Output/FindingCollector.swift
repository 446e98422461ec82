import RPCurlBase
import RPCurlChain
import RPCurlProtobuf

/// Collects the findings that interceptors report about a call, until it ends. Findings come from any thread.
package final class FindingCollector: Sendable {
  private let findings = Locked<[Finding]>([])

  package init() {}

  /// Records a finding.
  package var sink: FindingSink {
    { [self] finding in findings.withLock { $0.append(finding) } }
  }

  /// Whether an interceptor expected the status that the call ended with.
  package var hasExpectedStatus: Bool { findings.withLock { $0.contains { $0.kind == .expectedStatus } } }

  /// Whether a finding makes the call fail.
  package var hasFailure: Bool { findings.withLock { $0.hasFailure } }

  /// Returns all findings in the order in which they were reported, and removes them.
  package func removeAll() -> [Finding] {
    findings.withLock { findings in
      defer { findings = [] }
      return findings
    }
  }
}

extension Finding.Kind {
  /// The name of the kind in `--format events`.
  package var name: String {
    switch self {
    case .note: "note"
    case .failure: "failure"
    case .expectedStatus: "expected_status"
    }
  }
}

extension [Finding] {
  /// Whether a finding makes the call fail.
  package var hasFailure: Bool { contains { $0.kind == .failure } }
  /// Whether an interceptor expected the status that the call ended with.
  package var hasExpectedStatus: Bool { contains { $0.kind == .expectedStatus } }
}
