import RPCurlChain

/// Warns of orders of interceptors that are likely mistakes, judged by the stages and effects that they declare.
package struct ChainWarnings {
  private struct Member {
    let index: Int
    let name: String
    let stages: Stages
    let effects: InterceptorEffects
    let messages: MessageAccesses
    /// Whether successful responses may differ because of it.
    let mayAlterResponses: Bool
    /// Whether its settings are part of the key of a cache further out.
    let hasFingerprint: Bool

    /// Whether it responds itself, or receives responses and may change them.
    var makesResponses: Bool {
      mayAlterResponses
        && (effects.contains(.responds)
          || !stages.isDisjoint(with: [.responseStart, .responseMessage, .responseEnd]))
    }

    /// Whether it makes headers of what it reads of the request, as a signature is made.
    var signs: Bool {
      effects.contains(.changesHeaders) && !effects.isDisjoint(with: [.readsHeaders, .readsMessages])
        && !effects.contains(.injectsFailures)
    }

    /// Whether it has an effect on messages of a direction.
    func affects(_ direction: Direction, _ effect: InterceptorEffects) -> Bool {
      effects.contains(effect) && stages.contains(direction.stage)
    }

    /// Whether it changes messages of the request: by its effects, or because it receives bytes that it may change.
    var changesRequests: Bool {
      affects(.requests, .changesMessages)
        || (stages.contains(.requestMessage) && messages.request.isBytes && messages.request.mayChange)
    }

    /// Whether it receives a message of a direction before another interceptor does.
    func receives(_ direction: Direction, before other: Member) -> Bool {
      direction == .requests ? index < other.index : index > other.index
    }
  }

  private enum Direction: String, CaseIterable {
    case requests, responses

    var stage: Stages { self == .requests ? .requestMessage : .responseMessage }
  }

  private let members: [Member]

  private init(_ registrations: [InterceptorRegistration]) {
    members = registrations.enumerated().map { index, registration in
      let declaration = registration.factory.declaration
      return Member(
        index: index, name: registration.name, stages: declaration.stages ?? .all,
        effects: declaration.effects, messages: declaration.messages,
        mayAlterResponses: declaration.mayAlterResponses,
        hasFingerprint: registration.fingerprint != nil)
    }
  }

  /// The warnings for interceptors in the order of the request path.
  package static func of(_ registrations: [InterceptorRegistration]) -> [String] {
    ChainWarnings(registrations).all
  }

  private var all: [String] {
    members.indices.flatMap { outer in
      members.indices.dropFirst(outer + 1).flatMap { inner in
        reasons(members[outer], members[inner]).map {
          "\(members[outer].name) precedes \(members[inner].name): \($0)"
        }
      }
    }
  }

  /// What is doubtful about the order of two interceptors.
  private func reasons(_ outer: Member, _ inner: Member) -> [String] {
    var reasons: [String] = []
    // The key of a cache has the settings of a signer further in, in place of its signature.
    let isKeyed = outer.effects.contains(.reusesResponses) && inner.signs && inner.hasFingerprint
    if outer.effects.contains(.readsHeaders), inner.effects.contains(.changesHeaders), !isKeyed {
      reasons.append("\(inner.name) changes headers after \(outer.name) has read them")
    }
    if outer.affects(.requests, .readsMessages), inner.changesRequests {
      reasons.append("\(inner.name) changes messages after \(outer.name) has read them")
    }
    reasons += reasonsOfSecrets(outer, inner) + reasonsOfSecrets(inner, outer)
    if outer.effects.contains(.reusesResponses), inner.makesResponses, !inner.effects.contains(.authenticates)
    {
      reasons.append(
        inner.hasFingerprint
          ? "\(outer.name) stores responses that \(inner.name) may make or change, "
            + "and uses them only with the same settings of \(inner.name)"
          : "\(outer.name) does not store responses that \(inner.name) may make or change")
    }
    if outer.signs, inner.effects.contains(.reusesResponses) {
      reasons.append(
        "\(inner.name) compares the headers that \(outer.name) makes, "
          + "and finds no response if they differ in each request")
    }
    if outer.effects.contains(.reusesResponses), inner.effects.contains(.authenticates) {
      reasons.append(
        "\(outer.name) responds before \(inner.name) adds credentials, so one caller may get the response to another"
      )
    }
    return reasons + reasonsOfAttempts(outer, inner)
  }

  /// The directions in which one interceptor exports messages that another redacts later.
  private func reasonsOfSecrets(_ exporter: Member, _ redactor: Member) -> [String] {
    Direction.allCases.filter { direction in
      exporter.affects(direction, .exports) && redactor.affects(direction, .redacts)
        && exporter.receives(direction, before: redactor)
        && !members.contains {
          $0.affects(direction, .redacts) && !exporter.receives(direction, before: $0)
        }
    }.map { "\(exporter.name) receives \($0.rawValue) before \(redactor.name) redacts them" }
  }

  private func reasonsOfAttempts(_ outer: Member, _ inner: Member) -> [String] {
    var reasons: [String] = []
    // A single renewal of credentials changes nothing that was signed.
    if outer.signs, inner.effects.contains(.repeatsAttempts), !inner.effects.contains(.authenticates) {
      reasons.append(
        "each attempt of \(inner.name) has the headers that \(outer.name) made for the first one")
    }
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
