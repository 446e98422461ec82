import Protobuf

/// Where something is wrong in data that was read.
struct InputPlace: Equatable {
  /// The place in the whole of it.
  let position: JSONPosition
  /// The path of the field, empty at the top level.
  var fieldPath = ""
  /// The line that it is in, where that is at hand.
  var excerpt: InputExcerpt?
}
