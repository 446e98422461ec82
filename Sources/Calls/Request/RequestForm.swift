import Protobuf

/// How request data is read.
package struct RequestForm: Equatable {
  /// What the messages are written in.
  package var format = MessageFormat.json
  /// Whether fields that the schema does not know are passed over.
  package var allowsUnknownFields = false

  /// Takes apart data that holds several messages.
  package func splitter() -> any MessageSplitter {
    switch format {
    case .json: JSONSplitter()
    case .text: LineSplitter()
    case .binary: DelimitedSplitter()
    }
  }
}
