/// The interceptors named on the command line, in the order written.
///
/// `--use` and `--plugin` are two options of one list, and the parser keeps an order only within each. So the
/// order between them is read off the words themselves.
struct ChainArguments: Equatable {
  /// One of the two options with its value.
  enum Entry: Equatable {
    case builtIn(String)
    case plugin(String)
  }

  let entries: [Entry]

  /// Merges the parsed values of both options by the order in which the options stand in `words`.
  init(uses: [String], plugins: [String], words: [String]) {
    var uses = uses[...]
    var plugins = plugins[...]
    var entries: [Entry] = []
    for word in words.prefix(while: { $0 != "--" }) {
      if word == "--use" || word.hasPrefix("--use="), let value = uses.popFirst() {
        entries.append(.builtIn(value))
      } else if word == "--plugin" || word.hasPrefix("--plugin="), let value = plugins.popFirst() {
        entries.append(.plugin(value))
      }
    }
    self.entries = entries + uses.map(Entry.builtIn) + plugins.map(Entry.plugin)
  }
}
