import RPCurlLanguage
import RPCurlProtobuf

/// A file of stubs: a sequence of JSON objects.
enum StubFile {
  /// Parses the stubs in a file's content.
  static func read(_ content: [UInt8], file: String) throws(LanguageError) -> [Stub] {
    var reader = MessageSplitter(.values)
    reader.append(content)
    reader.finish()
    var stubs: [Stub] = []
    do {
      while let item = try reader.next() {
        let place = DocumentPlace(file: file, line: item.start.line)
        do {
          stubs.append(try Stub(JSONValue(stub: item.bytes), at: place))
        } catch let error as LanguageError {
          throw place.error(error.text)
        } catch let error as MessageParseError {
          throw error.moved(to: item.start)
        }
      }
    } catch let error as LanguageError {
      throw error
    } catch let error as MessageParseError {
      throw DocumentPlace(file: file, line: error.position.line).error(error.description)
    } catch {
      throw DocumentPlace(file: file, line: nil).error("\(error)")
    }
    guard !stubs.isEmpty else {
      throw DocumentPlace(file: file, line: nil).error("the file contains no stub")
    }
    return stubs
  }
}
