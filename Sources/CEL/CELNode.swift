/// A node of the syntax tree of an expression.
package indirect enum CELNode: Sendable {
  case literal(CELValue)
  /// A variable, by its position among those that are visible.
  case variable(Int)
  /// A field of a message or an entry of a map.
  case select(CELNode, String)
  /// Whether a field is set: the macro `has`.
  case has(CELNode, String)
  case list([CELNode])
  case map([(key: CELNode, value: CELNode)])
  case and(CELNode, CELNode)
  case or(CELNode, CELNode)
  case conditional(CELNode, CELNode, CELNode)
  /// An operator, a function or a method, whose receiver is the first argument.
  case call(String, [CELNode])
  /// A macro over the elements of a list or the keys of a map.
  case comprehension(CELMacro, over: CELNode, condition: CELNode, result: CELNode?)
}

/// The macros over lists and maps.
package enum CELMacro: String, Sendable {
  case all, exists, existsOne = "exists_one", filter, map
}
