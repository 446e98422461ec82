import Calls
import Interception
import Output

/// The interceptors of a session, which change between calls.
///
/// What is taken off the chain stays loaded until no call is open any more that may pass through it.
package struct SessionChain {
  package private(set) var source = ChainSource()
  private var retired: [ChainSource.Member] = []

  /// Starts with what the options name.
  package init(_ entries: [ChainArguments.Entry], verbosity: Int) throws(Failure) {
    for entry in entries { try add(entry, verbosity: verbosity) }
  }

  package var members: [ChainSource.Member] { source.members }

  /// The names that are in use, in order.
  package var names: [String] { members.map(\.registration.name) }

  /// Adds one behind the others.
  package mutating func add(_ entry: ChainArguments.Entry, verbosity: Int) throws(Failure) {
    if let member = try ChainSource.member(entry, verbosity: verbosity) { source.members.append(member) }
  }

  /// Loads a plugin anew, in its place.
  package mutating func reload(_ text: String, verbosity: Int) throws(Failure) {
    let index = try find(text)
    guard members[index].plugin != nil else {
      throw Failure(.usage, text, "it is built in", hint: "only plugins can be loaded anew")
    }
    // The old one stays when the new one cannot be had.
    guard let member = try ChainSource.member(members[index].entry, verbosity: verbosity) else {
      throw Failure(.interceptor, text, "the plugin is not there any more")
    }
    retired.append(members[index])
    source.members[index] = member
  }

  /// Takes one off; gives its name.
  package mutating func remove(_ text: String) throws(Failure) -> String {
    let member = source.members.remove(at: try find(text))
    retired.append(member)
    return member.registration.name
  }

  /// Puts the one at a place to another.
  package mutating func move(_ text: String, to place: String) throws(Failure) {
    let from = try find(text)
    guard let to = Int(place), members.indices.contains(to - 1) else {
      throw Failure(.usage, place, "not a place from 1 to \(members.count)")
    }
    let member = source.members.remove(at: from)
    source.members.insert(member, at: to - 1)
  }

  /// Lets go of what was taken off, when no call is open.
  package mutating func settle() {
    for member in retired { member.plugin?.unload() }
    retired = []
  }

  /// Lets all plugins clean up.
  package mutating func unload() {
    settle()
    source.unload()
  }

  /// The place of the interceptor with this number, or the only one with this name.
  private func find(_ text: String) throws(Failure) -> Int {
    if let number = Int(text) {
      guard members.indices.contains(number - 1) else {
        throw Failure(
          .usage, text, members.isEmpty ? "the chain is empty" : "not a place from 1 to \(members.count)")
      }
      return number - 1
    }
    let found = members.indices.filter { names[$0] == text }
    guard let first = found.first else {
      let nearest = names.isEmpty ? "the chain is empty" : "the chain has \(names.joined(separator: ", "))"
      throw Failure(.usage, text, "no such interceptor is on the chain", hint: nearest)
    }
    guard found.count == 1 else {
      let places = found.map { "\($0 + 1)" }.joined(separator: ", ")
      throw Failure(.usage, text, "several interceptors have the name", hint: "say which: \(places)")
    }
    return first
  }
}
