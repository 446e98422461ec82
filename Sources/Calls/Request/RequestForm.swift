import Protobuf

/// The format of request data.
package struct RequestForm: Equatable {
  /// The format of the messages.
  package var format = MessageFormat.json
  /// Whether unknown fields are ignored.
  package var allowsUnknownFields = false

  /// Creates the splitter for data with several messages.
  package func splitter() -> any MessageSplitter {
    switch format {
    case .json: JSONSplitter()
    case .text: LineSplitter()
    case .binary: DelimitedSplitter()
    }
  }
}
