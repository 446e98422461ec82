/// Reads the lines of a session, and the words of each.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let text = String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  var reader = SessionStatementReader()
  for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
    if let statement = try? reader.add(String(line)) {
      precondition(!statement.head.isEmpty || !statement.values.isEmpty, "a statement says something")
      precondition(!reader.isWithin, "a statement is complete")
    }
    guard let words = try? SessionWords.split(line) else { continue }
    for word in words {
      let again = try? SessionWords.split(SessionWords.quoted(word.text))
      precondition(again?.map(\.text) == [word.text], "a quoted word is read back")
    }
  }
  return 0
}
