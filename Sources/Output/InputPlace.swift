import Protobuf

/// Where something is wrong in data that was read.
package struct InputPlace: Equatable {
  /// The place in the whole of it.
  package let position: JSONPosition
  /// The path of the field, empty at the top level.
  package var fieldPath = ""
  /// The line that it is in, where that is at hand.
  package var excerpt: InputExcerpt?

  package init(position: JSONPosition, fieldPath: String = "", excerpt: InputExcerpt? = nil) {
    self.position = position
    self.fieldPath = fieldPath
    self.excerpt = excerpt
  }
}
