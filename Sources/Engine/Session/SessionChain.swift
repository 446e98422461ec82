import RPCurlCall
import RPCurlChain
import RPCurlProgram

/// The interceptors of a session, which can change between calls.
///
/// A removed plugin stays loaded while a call is open that may use it.
package struct SessionChain {
  package private(set) var source = ChainSource()
  private var retired: [ChainSource.Member] = []
  /// The interceptors that were removed and may have collected something.
  private var removed: [InterceptorRegistration] = []
  /// The interceptors that command lines of calls do not have.
  private var unsaved: Set<RegistrationID> = []
  /// The chains to return to, the innermost last.
  private var kept: [ChainSource] = []

  /// Creates the chain that the options specify.
  ///
  /// - Parameters:
  ///   - entries: The interceptors.
  ///   - setup: How they are created.
  package init(_ entries: [ChainArguments.Entry], _ setup: ChainSetup) throws(Failure) {
    for entry in entries {
      if let member = try ChainSource.member(entry, setup) { source.members.append(member) }
    }
    try source.arrange()
  }

  package var members: [ChainSource.Member] { source.members }

  /// The names of the interceptors, in the order of the request path.
  package var names: [String] { members.map(\.registration.name) }

  /// The interceptors as options of a command line.
  package var savedEntries: [ChainArguments.Entry] {
    members.filter { !unsaved.contains($0.registration.id) }.map(\.entry)
  }

  /// Leaves the interceptors that are on the chain now out of command lines.
  package mutating func hideFromCommandLines(besides earlier: SessionChain) {
    unsaved.formUnion(members.map(\.registration.id))
    unsaved.subtract(earlier.members.map(\.registration.id))
  }

  /// Adds an interceptor: as the last of its priority, or where its settings place it.
  package mutating func add(_ entry: ChainArguments.Entry, _ setup: ChainSetup) throws(Failure) {
    guard let member = try ChainSource.member(entry, setup) else { return }
    do {
      try change { $0.append(member) }
    } catch {
      member.plugin?.unload()
      throw error
    }
  }

  /// Changes the interceptors, and orders them again. On failure, the chain stays as it is.
  private mutating func change(
    _ body: (inout [ChainSource.Member]) -> Void
  ) throws(Failure) {
    var changed = source
    body(&changed.members)
    try changed.arrange()
    source = changed
  }

  /// Loads a plugin again, in its place.
  package mutating func reload(_ text: String, _ setup: ChainSetup) throws(Failure) {
    let index = try find(text)
    guard members[index].plugin != nil else {
      throw Failure(.usage, text, "built-in interceptors cannot be reloaded")
    }
    // On failure, the old plugin stays.
    guard let member = try ChainSource.member(members[index].entry, setup) else {
      throw Failure(.interceptor, text, "plugin not found")
    }
    let old = members[index]
    do {
      try change { $0[index] = member }
    } catch {
      member.plugin?.unload()
      throw error
    }
    retired.append(old)
  }

  /// Removes an interceptor. Returns its name.
  package mutating func remove(_ text: String) throws(Failure) -> String {
    let index = try find(text)
    let member = members[index]
    try change { $0.remove(at: index) }
    retire(member)
    return member.registration.name
  }

  private mutating func retire(_ member: ChainSource.Member) {
    retired.append(member)
    if member.registration.factory is any CollectingFactory { removed.append(member.registration) }
  }

  /// Moves an interceptor.
  ///
  /// - Parameters:
  ///   - text: Its number or its name.
  ///   - place: Its new position, or `before=` or `after=` with the number or the name of another.
  package mutating func move(_ text: String, to place: String) throws(Failure) {
    let from = try find(text)
    let to = try position(place, moving: from)
    var moved = source
    moved.members.insert(moved.members.remove(at: from), at: to)
    let wanted = moved.members.map(\.registration.id)
    try moved.arrange()
    guard moved.members.map(\.registration.id) == wanted else {
      let placements = members.map { "\($0.registration.name) (\($0.registration.placement))" }
      throw Failure(
        .usage, names[from], "priorities and placements do not allow this position",
        hint: "the chain is \(placements.joined(separator: ", "))")
    }
    source = moved
  }

  /// The index that an interceptor has after it was moved.
  private func position(_ place: String, moving from: Int) throws(Failure) -> Int {
    for (key, offset) in [("before=", 0), ("after=", 1)] where place.hasPrefix(key) {
      let other = try find(String(place.dropFirst(key.count)))
      guard other != from else { throw Failure(.usage, place, "is the interceptor that is to be moved") }
      return other + offset - (from < other ? 1 : 0)
    }
    guard let to = Int(place), let index = index(ofPosition: to) else {
      throw Failure(
        .usage, place, "not a position from 1 to \(members.count)",
        hint: "before=NAME and after=NAME are positions too")
    }
    return index
  }

  /// The index of the interceptor at a position from 1; nil if there is none.
  private func index(ofPosition position: Int) -> Int? {
    // No arithmetic before the check: the lowest number has no predecessor.
    position > 0 && position <= members.count ? position - 1 : nil
  }

  /// Keeps the interceptors of now, for `restore`.
  package mutating func keep() { kept.append(source) }

  /// Returns to the interceptors of the last `keep` that was not restored yet.
  package mutating func restore() {
    guard let earlier = kept.popLast() else { return }
    let stays = Set(earlier.members.map(\.registration.id))
    for member in source.members where !stays.contains(member.registration.id) {
      retire(member)
    }
    retired.removeAll { stays.contains($0.registration.id) }
    removed.removeAll { stays.contains($0.id) }
    source = earlier
  }

  /// Forgets the last `keep` that was not restored yet.
  package mutating func forgetKept() { _ = kept.popLast() }

  /// Unloads removed plugins that no kept chain has. Called when no call is open.
  package mutating func settle() {
    let needed = Set(kept.flatMap { $0.members.map(\.registration.id) })
    for member in retired where !needed.contains(member.registration.id) { member.plugin?.unload() }
    retired.removeAll { !needed.contains($0.registration.id) }
  }

  /// Makes all interceptors write or send what they have collected. To be called once, after the last call.
  package func conclude(_ client: LoopClient, log: @escaping LogSink) {
    ChainSource.conclude(removed + source.registrations, client, log: log)
  }

  /// Unloads all plugins.
  package mutating func unload() {
    while !kept.isEmpty { restore() }
    settle()
    source.unload()
  }

  /// The index of the interceptor with this number, or of the only one with this name.
  private func find(_ text: String) throws(Failure) -> Int {
    if let number = Int(text) {
      guard let index = index(ofPosition: number) else {
        throw Failure(
          .usage, text, members.isEmpty ? "the chain is empty" : "not a position from 1 to \(members.count)")
      }
      return index
    }
    let found = members.indices.filter { names[$0] == text }
    guard let first = found.first else {
      let nearest = names.isEmpty ? "the chain is empty" : "on the chain: \(names.joined(separator: ", "))"
      throw Failure(.usage, text, "not on the chain", hint: nearest)
    }
    guard found.count == 1 else {
      let places = found.map { "\($0 + 1)" }.joined(separator: ", ")
      throw Failure(.usage, text, "several interceptors have this name", hint: "use a number: \(places)")
    }
    return first
  }
}
