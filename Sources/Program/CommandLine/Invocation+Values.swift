extension Invocation {
  /// The value of an option with fixed values.
  package func choice<Choice: RawRepresentable<String>>(_ id: OptionID) -> Choice? {
    text(id).flatMap { Choice(rawValue: $0) }
  }

  /// The values of an option, in order.
  package func texts(_ id: OptionID) -> [String] { all(id).compactMap(\.string) }
}
