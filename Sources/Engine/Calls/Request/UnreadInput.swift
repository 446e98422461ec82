import RPCurlPlatform
import RPCurlProgram

/// Standard input of a call that does not read it. What was meant as its data would be ignored silently.
///
/// It is never read: in a loop such as `while read …; do rpcurl …; done`, it belongs to others.
enum UnreadInput: Equatable {
  /// A file of which nothing has been read: it was meant for this call.
  case file
  /// A pipe with data, or the rest of a file, which may belong to others.
  case rest

  /// What a descriptor has; nil if there is nothing to read, as in `/dev/null`, or if it is a terminal.
  init?(_ descriptor: Int32 = 0) {
    guard let file = FileFacts(descriptor) else { return nil }
    switch file.kind {
    case .regular:
      let offset = lseek(descriptor, 0, SEEK_CUR)
      guard offset >= 0, offset < file.sizeBytes else { return nil }
      self = offset == 0 ? .file : .rest
    case .pipe, .socket:
      var count: Int32 = 0
      guard ioctl(descriptor, UInt(FIONREAD), &count) == 0, count > 0 else { return nil }
      self = .rest
    default: return nil
    }
  }
}

extension CallPlan {
  /// Reports data in standard input that the call ignores, if it has no other data.
  ///
  /// - Throws: `Failure` if it is a file that was meant for this call.
  func checkInput(_ options: Invocation, _ error: StandardError) throws(Failure) {
    let readsInput = options.arguments.contains { argument in
      guard let text = argument.text else { return false }
      return text == "-" || ["=-", "@-"].contains(where: text.hasSuffix)
        || ["=-,", "/dev/stdin", "/fd/0"].contains { text.contains($0) }
    }
    guard options.command == .call, options.data.isEmpty, batch == nil, !method.clientStreaming, !readsInput,
      (try? method.input.fields())?.isEmpty == false, let input = UnreadInput()
    else { return }
    let ways = "-d @- sends it, and -d '{}' an empty message"
    guard input == .rest else {
      throw Failure(.usage, "standard input", "a file is given that the call does not read", hint: ways)
    }
    error.remark("note: standard input has data, which the call does not read; \(ways)\n")
  }
}
