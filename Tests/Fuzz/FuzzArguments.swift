import RPCurlProgram

/// Reads command lines, of which the arguments end at NUL, as those of the program, and as those of a session's options.
func fuzzArguments(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let bytes = UnsafeBufferPointer(start: start, count: count)
  let words = bytes.split(separator: 0, omittingEmptySubsequences: false).map {
    String(decoding: $0, as: UTF8.self)
  }
  check(Parser.parse(words), words)
  check(Parser.parse(words, as: .session), words)
  for word in words {
    let parts = OptionPart.parts(of: word)
    precondition(!parts.isEmpty && parts.allSatisfy { !$0.text.isEmpty || word.isEmpty }, "nothing is lost")
  }
  return 0
}

private func check(_ invocation: Invocation, _ words: [String]) {
  var last = -1
  for argument in invocation.arguments {
    guard case .typed(let index) = argument.origin else { fatalError("it was typed") }
    precondition(words.indices.contains(index) && index >= last, "options keep their order")
    last = index
    let option = OptionTable[argument.id]
    precondition(option.commands.contains(CommandSet(invocation.command)) || !invocation.errors.isEmpty)
    precondition(option.hasValue == (argument.text != nil), "a value if, and only if, the option has one")
  }
  for positional in invocation.positionals {
    guard case .typed(let index) = positional.origin else { fatalError("it was typed") }
    precondition(words[index] == positional.text)
  }
  for error in invocation.errors {
    precondition(!error.what.isEmpty || words.contains(""), "an error names its cause")
    precondition(!error.why.isEmpty)
  }
}
