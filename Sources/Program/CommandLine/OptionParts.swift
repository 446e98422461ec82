/// An argument of a command line that may be an option, taken apart without its neighbours.
///
/// This is for text that is shown or stored, such as lines with mistakes in which secrets have to be found.
package struct OptionPart: Equatable, Sendable {
  /// The option; nil if the part is no option with a value.
  package let id: OptionID?
  /// The name, or all of the argument.
  package let text: String
  /// The value, if it is in the same argument.
  package let value: String?

  /// The parts of an argument: `-kvu` are `-kv` and `-u`, `-uada` is `-u` with a value, `--user=ada` is one option.
  package static func parts(of word: String) -> [OptionPart] {
    let whole = OptionPart(id: nil, text: word, value: nil)
    guard word.utf8.count > 1, word.utf8.first == UInt8(ascii: "-") else { return [whole] }
    if word.begins(with: "--")
      || !OptionTable.find(grpcurl: word.dropFirst(), .session).isEmpty && word.utf8.count > 2
    {
      let (name, value) = word.parted(at: "=")
      let long = name.begins(with: "--") ? name : "-\(name)"
      guard let option = OptionTable.find(long, .session), option.hasValue else { return [whole] }
      return [OptionPart(id: option.id, text: String(name), value: value.map { String($0) })]
    }
    var flags = "-"
    var rest = word.unicodeScalars.dropFirst()
    while let letter = rest.popFirst() {
      guard let option = OptionTable.find("-\(letter)", .session) else { return [whole] }
      guard option.hasValue else {
        flags.unicodeScalars.append(letter)
        continue
      }
      let value = rest.isEmpty ? nil : String(option.glued(Substring(rest)))
      let part = OptionPart(id: option.id, text: "-\(letter)", value: value)
      return flags == "-" ? [part] : [OptionPart(id: nil, text: flags, value: nil), part]
    }
    return [whole]
  }
}
