import RPCurlChain
import RPCurlProgram
import RPCurlProtobuf

/// The format of request data.
package struct RequestForm: Equatable {
  /// The format of the messages.
  package var format = MessageFormat.json
  /// Whether unknown fields are ignored.
  package var allowsUnknownFields = false
  /// Whether fields can be set to the contents of files, as on the command line (`--set-file`).
  package var acceptsFiles = false
  /// The fields that each message gets.
  package var edits: [FieldEdit] = []
  /// Replaces the templates of JSON data and fields; nil if these are text.
  package var expansion: TextExpansion?
  /// Whether the messages contain values, which may be secret.
  package var isExpanded = false
  /// The notes about typed data; nil to print none.
  package var notes: DataNotes?
  /// The file of which each message has a piece; nil for messages of data.
  package var chunks: ChunkedFile?

  /// How the messages of data with several ones follow each other.
  package var framing: MessageFraming {
    if let chunks { return .pieces(chunks.bytes) }
    return switch format {
    case .json: .values
    case .text: .lines
    case .binary: .delimited
    }
  }
}

extension MessageSplitter {
  /// The next complete message; nil if more data is needed or, at the end, if there are no more.
  ///
  /// - Parameter origin: The name of the data, and its form.
  /// - Throws: `Failure` if the data cannot be split.
  mutating func next(of origin: RequestOrigin) throws(Failure) -> RequestMessage? {
    // Whether a piece is the last one is known when the next one arrives.
    if let chunks = origin.form.chunks, chunks.marksLast, !isFinished, unreadCount <= chunks.bytes {
      return nil
    }
    do {
      guard let piece = try next() else { return nil }
      var message = RequestMessage(origin, start: piece.start, bytes: piece.bytes)
      message.isLast = isFinished && unreadCount == 0
      return message
    } catch {
      var file: String?
      if case .tooLong = error.reason, origin.form.acceptsFiles {
        file = "--set-file FIELD=FILE sends the content of a file as a field, also if it is longer"
      }
      throw Failure(
        .input, origin.source, error.description, hint: error.hint ?? file, place: place(of: error))
    }
  }

  /// The only piece of an empty file, which marks the end; nil if the file is not empty, or no field marks the last piece.
  func emptyPiece(of origin: RequestOrigin) -> RequestMessage? {
    guard origin.form.chunks?.marksLast == true, isFinished, held.byteOffset == 0, held.text.isEmpty else {
      return nil
    }
    var message = RequestMessage(origin, start: TextPosition(), bytes: [])
    message.isLast = true
    return message
  }

  private func place(of error: MessageParseError) -> InputPlace? {
    guard error.hasLine else { return nil }
    let position = error.position
    guard framing == .values else { return InputPlace(position: position) }
    let held = held
    let excerpt = InputExcerpt(
      held.text, at: position.byteOffset - held.byteOffset, isInside: held.byteOffset > 0)
    return InputPlace(position: position, excerpt: excerpt)
  }
}
