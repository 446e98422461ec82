extension String {
  /// Whether both have the same bytes; `==` normalizes characters.
  package func hasBytes(of other: String) -> Bool {
    utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
  }
}
