import RPCurlProtobuf

/// The place of an error in input data.
package struct InputPlace: Equatable {
  /// The position in the whole input.
  package let position: TextPosition
  /// The path of the field; empty at the top level.
  package var fieldPath = ""
  /// The line that contains the error, if it is available.
  package var excerpt: InputExcerpt?

  package init(position: TextPosition, fieldPath: String = "", excerpt: InputExcerpt? = nil) {
    self.position = position
    self.fieldPath = fieldPath
    self.excerpt = excerpt
  }
}
