import Protobuf

/// How request data is read.
struct RequestForm: Equatable {
  /// What the messages are written in.
  var format = MessageFormat.json
  /// Whether fields that the schema does not know are passed over.
  var allowsUnknownFields = false

  /// Takes apart data that holds several messages.
  func splitter() -> any MessageSplitter {
    switch format {
    case .json: JSONSplitter()
    case .text: LineSplitter()
    case .binary: DelimitedSplitter()
    }
  }
}
