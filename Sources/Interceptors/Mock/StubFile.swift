import RPCurlLanguage
import RPCurlProtobuf

/// A file of stubs: a sequence of JSON objects.
enum StubFile {
  /// Parses the stubs in a file's content.
  static func read(_ content: [UInt8], file: String) throws(DocumentError) -> [Stub] {
    var reader = MessageSplitter(.values)
    reader.append(content)
    reader.finish()
    var stubs: [Stub] = []
    do {
      while let item = try reader.next() {
        let place = DocumentPlace(file: file, line: item.start.line)
        do {
          stubs.append(try Stub(JSONValue(stub: item.bytes), at: place))
        } catch let error as FormatError {
          throw place.error(error.reason)
        } catch let error as LanguageError {
          throw place.error(error.reason + (error.hint.map { "; \($0)" } ?? ""))
        } catch let error as MessageParseError {
          throw error.moved(to: item.start)
        }
      }
    } catch let error as DocumentError {
      throw error
    } catch let error as MessageParseError {
      throw DocumentError(file: file, line: error.position.line, reason: error.description)
    } catch let error as SplitError {
      throw DocumentError(file: file, line: error.position?.line, reason: error.description)
    } catch {
      throw DocumentError(file: file, line: nil, reason: "\(error)")
    }
    guard !stubs.isEmpty else {
      throw DocumentError(file: file, line: nil, reason: "the file contains no stub")
    }
    return stubs
  }
}
