import RPCurlBase
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf

/// The messages that values name.
extension Session {
  /// A request message in JSON, with its values.
  package struct Input {
    package let bytes: [UInt8]
    /// The file; nil if the message was typed.
    package var source: String?
    /// Whether a server may have chosen a part of it.
    package var isFromServer = false
    /// Whether errors must not show it.
    package var mayBeSecret = false
    /// The position in the file.
    package var start = TextPosition()

    package init(_ bytes: [UInt8]) {
      self.bytes = bytes
    }

    fileprivate init(_ piece: MessageSplitter.Piece, of file: String) {
      bytes = piece.bytes
      source = file
      start = piece.start
    }
  }

  /// The messages of a value: one, or those of a file. Files have no references.
  package func messages(of value: SessionStatement.Value) throws -> [Input] {
    switch value {
    case .json(let json):
      let expanded = try bindings.expand(json: json)
      var input = Input(expanded.bytes)
      (input.isFromServer, input.mayBeSecret) = (expanded.isFromServer, expanded.mayBeSecret)
      return [input]
    case .file(let word): return try messages(ofFile: bindings.expand(file: word))
    }
  }

  /// The JSON of a value that is not sent: typed, or the only value of a file.
  package func input(of value: SessionStatement.Value) throws -> Input {
    let messages = try messages(of: value)
    guard let only = messages.first, messages.count == 1 else {
      throw Failure(.input, "", "\(messages.count) values given, but one is expected")
    }
    return only
  }

  private func messages(ofFile path: String) throws(Failure) -> [Input] {
    var splitter = MessageSplitter(.values)
    splitter.append(try FileContents.input(path, waitLimit: waitLimit))
    splitter.finish()
    var messages: [Input] = []
    do throws(MessageParseError) {
      while let piece = try splitter.next() { messages.append(Input(piece, of: path)) }
    } catch {
      let held = splitter.held
      let place = InputPlace(
        position: error.position,
        excerpt: InputExcerpt(
          held.text, at: error.position.byteOffset - held.byteOffset, isInside: held.byteOffset > 0))
      throw Failure(.input, path, error.description, hint: error.hint, place: error.hasLine ? place : nil)
    }
    return messages
  }
}

/// The file for the responses of one call: `> FILE`.
struct CallFile {
  /// What the call writes to.
  let output: StandardOutput
  private let file: ResponseFile

  /// Opens the file.
  ///
  /// - Throws: `Failure` if it cannot be written.
  init(_ path: String, _ console: Console, waitLimit: Duration?) throws(Failure) {
    // It has no descriptor until it is redirected.
    output = StandardOutput(OutputStream(-1), error: console.error)
    file = try ResponseFile(redirecting: output, to: path, isWhole: true, option: ">", waitLimit: waitLimit)
  }

  /// Completes the file if the call succeeded; otherwise the file does not change.
  ///
  /// - Throws: `Failure` if it cannot be written.
  func close(hasSucceeded: Bool) throws(Failure) {
    guard hasSucceeded else { return file.discard() }
    output.flush()
    try file.commit()
  }
}

extension SessionVariables {
  /// The path that a word names.
  func expand(file word: SessionWords.Word) throws(Failure) -> String {
    word.isLiteral ? word.text : try expand(path: word.text)
  }
}
