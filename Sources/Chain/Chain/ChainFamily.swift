import RPCurlProtocols

/// An interceptor of a call, as one further out observes it.
package struct FurtherInterceptor {
  /// Its number among the interceptors of the call.
  package let number: Int
  /// Its name in logs and errors.
  package let name: String
  /// What it declares.
  package let declaration: InterceptorDeclaration
  /// Identifies what it does; nil if this is not known.
  package let fingerprint: InterceptorFingerprint?

  init(number: Int, _ registration: InterceptorRegistration) {
    self.number = number
    name = registration.name
    declaration = registration.factory.declaration
    fingerprint = registration.fingerprint
  }
}

/// What the chain of a call and those of its attempts share.
final class ChainFamily {
  /// The interceptors of the call, by their numbers.
  private let registrations: ArraySlice<InterceptorRegistration>
  /// The attributes that the caller gives.
  let attributes: CallAttributes
  /// The highest number of an attempt so far.
  private var lastAttempt = 1
  /// Whether the shares that interceptors are for contain the call, as far as they were asked.
  private var shares: [RegistrationID: Bool] = [:]
  /// Whether an interceptor observes which others change values.
  var recordsChanges = false
  /// The numbers of the interceptors that have responded, or have changed, injected or dropped a value, while this was
  /// recorded.
  private var changers: Set<Int> = []

  init(_ registrations: ArraySlice<InterceptorRegistration>, _ attributes: CallAttributes) {
    self.registrations = registrations
    self.attributes = attributes
  }

  /// The number of another attempt, for all interceptors that retry or hedge.
  func nextAttempt() -> Int {
    lastAttempt += 1
    return lastAttempt
  }

  /// Records that an interceptor has responded or changed a value.
  func recordChange(by slot: InterceptorSlot) {
    if recordsChanges { changers.insert(slot.number) }
  }

  /// The interceptors further in than the one with a number that have responded or changed a value, in order.
  func changers(after number: Int) -> [FurtherInterceptor] {
    changers.filter { $0 > number }.sorted().map { FurtherInterceptor(number: $0, registrations[$0]) }
  }

  /// The interceptors further in than the one with a number that admit a request as it is now.
  func admitted(after number: Int, _ method: MethodName, _ attributes: CallAttributes) -> [FurtherInterceptor]
  {
    registrations.indices.dropFirst(number + 1 - registrations.startIndex).compactMap { index in
      let registration = registrations[index]
      return admits(registration, method, attributes) ? FurtherInterceptor(number: index, registration) : nil
    }
  }

  /// The name of the interceptor with a number; nil for -1.
  func name(of number: Int32) -> String? {
    registrations.indices.contains(Int(number)) ? registrations[Int(number)].name : nil
  }

  /// Whether a request passes through an interceptor that it reaches. Its share is decided once for each call.
  func admits(_ registration: InterceptorRegistration, _ method: MethodName, _ attributes: CallAttributes)
    -> Bool
  {
    guard registration.scope.mismatch(method: method, attributes) == nil else { return false }
    guard let share = registration.share else { return true }
    if let decided = shares[registration.id] { return decided }
    let takes = share.takesNext()
    shares[registration.id] = takes
    return takes
  }
}
