import Calls
import Interception
import Output

/// The interceptors of a session, which can change between calls.
///
/// A removed plugin stays loaded while a call is open that may use it.
package struct SessionChain {
  package private(set) var source = ChainSource()
  private var retired: [ChainSource.Member] = []

  /// Creates the chain that the options specify.
  ///
  /// - Parameters:
  ///   - entries: The interceptors.
  ///   - setup: How they are created.
  package init(_ entries: [ChainArguments.Entry], _ setup: ChainSetup) throws(Failure) {
    for entry in entries { try add(entry, setup) }
  }

  package var members: [ChainSource.Member] { source.members }

  /// The names of the interceptors, in order.
  package var names: [String] { members.map(\.registration.name) }

  /// Appends an interceptor.
  package mutating func add(_ entry: ChainArguments.Entry, _ setup: ChainSetup) throws(Failure) {
    if let member = try ChainSource.member(entry, setup) {
      source.members.append(member)
    }
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
    retired.append(members[index])
    source.members[index] = member
  }

  /// Removes an interceptor. Returns its name.
  package mutating func remove(_ text: String) throws(Failure) -> String {
    let member = source.members.remove(at: try find(text))
    retired.append(member)
    return member.registration.name
  }

  /// Moves an interceptor to another position.
  package mutating func move(_ text: String, to place: String) throws(Failure) {
    let from = try find(text)
    guard let to = Int(place), members.indices.contains(to - 1) else {
      throw Failure(.usage, place, "not a position from 1 to \(members.count)")
    }
    let member = source.members.remove(at: from)
    source.members.insert(member, at: to - 1)
  }

  /// Unloads removed plugins. Called when no call is open.
  package mutating func settle() {
    for member in retired { member.plugin?.unload() }
    retired = []
  }

  /// Unloads all plugins.
  package mutating func unload() {
    settle()
    source.unload()
  }

  /// The index of the interceptor with this number, or of the only one with this name.
  private func find(_ text: String) throws(Failure) -> Int {
    if let number = Int(text) {
      guard members.indices.contains(number - 1) else {
        throw Failure(
          .usage, text, members.isEmpty ? "the chain is empty" : "not a position from 1 to \(members.count)")
      }
      return number - 1
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
