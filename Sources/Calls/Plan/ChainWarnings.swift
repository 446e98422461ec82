import Interception

/// Warns of orders of interceptors that are likely mistakes, judged by the stages and effects that they declare.
package struct ChainWarnings {
  private struct Member {
    let name: String
    let stages: Stages
    let effects: InterceptorEffects

    /// Whether it has an effect on messages of the request.
    func affectsRequest(_ effect: InterceptorEffects) -> Bool {
      effects.contains(effect) && !stages.isDisjoint(with: [.requestMessage, .requestBytes])
    }

    /// Whether it has an effect on messages of the response.
    func affectsResponse(_ effect: InterceptorEffects) -> Bool {
      effects.contains(effect) && !stages.isDisjoint(with: [.responseMessage, .responseBytes])
    }
  }

  private let members: [Member]

  private init(_ registrations: [InterceptorRegistration]) {
    members = registrations.map { registration in
      let declaration = registration.factory.declaration
      return Member(
        name: registration.name, stages: declaration.stages ?? .all, effects: declaration.effects)
    }
  }

  /// The warnings for interceptors in the order of the request path.
  package static func of(_ registrations: [InterceptorRegistration]) -> [String] {
    ChainWarnings(registrations).all
  }

  private var all: [String] {
    members.indices.flatMap { outer in
      members.indices.dropFirst(outer + 1).flatMap { inner in
        reasons(outer, inner).map { "\(members[outer].name) precedes \(members[inner].name): \($0)" }
      }
    }
  }

  /// What is doubtful about the order of two interceptors.
  private func reasons(_ outerIndex: Int, _ innerIndex: Int) -> [String] {
    let (outer, inner) = (members[outerIndex], members[innerIndex])
    var reasons: [String] = []
    if outer.effects.contains(.readsHeaders), inner.effects.contains(.changesHeaders) {
      reasons.append("\(inner.name) changes headers after \(outer.name) has read them")
    }
    if outer.affectsRequest(.readsMessages), inner.affectsRequest(.changesMessages) {
      reasons.append("\(inner.name) changes messages after \(outer.name) has read them")
    }
    if outer.affectsRequest(.exports), inner.affectsRequest(.redacts),
      !members[..<outerIndex].contains(where: { $0.affectsRequest(.redacts) })
    {
      reasons.append("\(outer.name) receives requests before \(inner.name) redacts them")
    }
    if outer.affectsResponse(.redacts), inner.affectsResponse(.exports),
      !members[(innerIndex + 1)...].contains(where: { $0.affectsResponse(.redacts) })
    {
      reasons.append("\(inner.name) receives responses before \(outer.name) redacts them")
    }
    if outer.effects.contains(.reusesResponses), inner.effects.contains(.authenticates) {
      reasons.append(
        "\(outer.name) responds before \(inner.name) adds credentials, so one caller may get the response to another"
      )
    }
    return reasons + reasonsOfAttempts(outer, inner)
  }

  private func reasonsOfAttempts(_ outer: Member, _ inner: Member) -> [String] {
    var reasons: [String] = []
    if outer.effects.contains(.injectsFailures), inner.effects.contains(.repeatsAttempts) {
      reasons.append("\(inner.name) does not repeat calls that \(outer.name) fails")
    }
    if outer.effects.contains(.responds), inner.effects.contains(.checksResults) {
      reasons.append("\(inner.name) does not check calls to which \(outer.name) responds")
    }
    guard outer.effects.contains(.repeatsAttempts) else { return reasons }
    if inner.effects.contains(.checksResults) {
      reasons.append("\(inner.name) checks each attempt that \(outer.name) makes, not the call")
    }
    // A single renewal of credentials does not multiply attempts.
    if inner.effects.contains(.repeatsAttempts), !outer.effects.union(inner.effects).contains(.authenticates)
    {
      reasons.append("each attempt of \(outer.name) is repeated by \(inner.name)")
    }
    return reasons
  }
}
