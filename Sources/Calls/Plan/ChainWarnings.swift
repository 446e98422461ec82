import Interception

/// Warns of orders of interceptors that are likely mistakes, judged by the stages and effects that they declare.
package struct ChainWarnings {
  private struct Member {
    let index: Int
    let name: String
    let stages: Stages
    let effects: InterceptorEffects

    /// Whether it has an effect on messages of a direction.
    func affects(_ direction: Direction, _ effect: InterceptorEffects) -> Bool {
      effects.contains(effect) && !stages.isDisjoint(with: [direction.typed, direction.bytes])
    }

    /// Whether it first receives a message of a direction before another interceptor changes it.
    func receives(_ direction: Direction, before other: Member) -> Bool {
      let isTyped = stages.contains(direction.typed)
      let first = direction == .requests ? isTyped : isTyped && !stages.contains(direction.bytes)
      return place(direction, isTyped: first) < other.change(direction)
    }

    /// The place at which it changes a message of a direction: as a typed message, if it receives one.
    func change(_ direction: Direction) -> (pass: Int, position: Int) {
      place(direction, isTyped: stages.contains(direction.typed))
    }

    /// A request passes all interceptors as a typed message first, and then as bytes; a response the other way round.
    private func place(_ direction: Direction, isTyped: Bool) -> (pass: Int, position: Int) {
      direction == .requests ? (isTyped ? 0 : 1, index) : (isTyped ? 1 : 0, -index)
    }
  }

  private enum Direction: String, CaseIterable {
    case requests, responses

    /// The stage of typed messages.
    var typed: Stages { self == .requests ? .requestMessage : .responseMessage }
    /// The stage of serialized messages.
    var bytes: Stages { self == .requests ? .requestBytes : .responseBytes }
  }

  private let members: [Member]

  private init(_ registrations: [InterceptorRegistration]) {
    members = registrations.enumerated().map { index, registration in
      let declaration = registration.factory.declaration
      return Member(
        index: index, name: registration.name, stages: declaration.stages ?? .all,
        effects: declaration.effects)
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
    if outer.effects.contains(.readsHeaders), inner.effects.contains(.changesHeaders) {
      reasons.append("\(inner.name) changes headers after \(outer.name) has read them")
    }
    if outer.affects(.requests, .readsMessages), inner.affects(.requests, .changesMessages) {
      reasons.append("\(inner.name) changes messages after \(outer.name) has read them")
    }
    reasons += reasonsOfSecrets(outer, inner) + reasonsOfSecrets(inner, outer)
    if outer.effects.contains(.reusesResponses),
      inner.affects(.responses, .redacts) || inner.affects(.responses, .changesMessages),
      outer.receives(.responses, before: inner)
    {
      reasons.append(
        "\(outer.name) keeps responses before \(inner.name) changes them, and returns them unchanged")
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
