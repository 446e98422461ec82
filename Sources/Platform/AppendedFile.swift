import RPCurlBase

/// A file to which several processes append: a log, a cassette, a transcript.
///
/// A write is whole, and follows those of the others: it has the lock of the file, what a failed one has written is removed, and text
/// begins a line also where a process that was killed has left a part of one. Of the processes that replace the content, the first one
/// does; what the others add while it runs is kept.
package final class AppendedFile: Sendable {
  private struct State {
    /// The file whose content the first write replaces, unless another object has done so, or writes it now.
    var replaced: FileFacts.Identity?
    /// Whether it is a regular file, which other processes may write, too.
    let isRegular: Bool
    var isShared = false
    /// The size of the file after the last write of this object; of one that is not regular, the number of bytes that it has written.
    var end: off_t = 0
    /// How long a write waits for other processes.
    let patience: Duration
    /// Whether another process holds the file for longer.
    var isHeld = false

    init(replacing replaced: FileFacts.Identity? = nil, isRegular: Bool, waitLimit: Duration? = nil) {
      self.replaced = replaced
      self.isRegular = isRegular
      patience = min(waitLimit ?? FileLock.patience, FileLock.patience)
    }
  }

  private let lineFeed = UInt8(ascii: "\n")
  private let descriptor: Int32
  private let runFiles: RunFiles?
  /// Whether `close` and the end of the object close the descriptor.
  private let closes: Locked<Bool>
  private let state: Locked<State>
  /// How long a write waits for the reader of a pipe; zero after one that waited in vain.
  private let waitLimit: Locked<Duration?>

  /// Makes a file of an open descriptor, which is written at its position.
  ///
  /// - Parameters:
  ///   - descriptor: The descriptor.
  ///   - closes: Whether `close` closes it.
  package init(_ descriptor: Int32, closes: Bool) {
    self.descriptor = descriptor
    self.closes = Locked(closes)
    runFiles = nil
    waitLimit = Locked(nil)
    state = Locked(State(isRegular: false))
  }

  /// Opens the file at `path`, or creates it. Only the user can read it then: it may contain confidential data.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - isAppending: Whether the old content is kept; the first write removes it otherwise.
  ///   - runFiles: The files that processes of this run write; nil if it is the only one.
  ///   - waitLimit: How long a write waits for the reader of a pipe, or for other processes; nil for no limit.
  package convenience init(
    _ path: String, isAppending: Bool, in runFiles: RunFiles? = nil, waitLimit: Duration?
  ) throws(SystemError) {
    // At the end in any case: two objects that write to one file do not overwrite each other.
    let descriptor = try FileContents.openForWriting(
      path, mode: 0o600, isAppending: true, waitLimit: waitLimit)
    if let file = FileFacts(descriptor), file.isRegular, file.permissions & 0o077 != 0 {
      // Only the owner can change the mode; a file of another user keeps its own.
      _ = fchmod(descriptor, file.permissions & 0o700)
    }
    self.init(descriptor, isAppending: isAppending, in: runFiles, waitLimit: waitLimit)
  }

  /// Makes a file of a descriptor that was opened for appending, and is closed by `close`; the parameters are those of a path.
  package init(
    _ descriptor: Int32, isAppending: Bool, in runFiles: RunFiles? = nil,
    waitLimit: Duration? = nil
  ) {
    self.descriptor = descriptor
    self.runFiles = runFiles
    self.waitLimit = Locked(waitLimit)
    closes = Locked(true)
    let identity = FileFacts.Identity(replaceable: descriptor)
    var state = State(
      replacing: isAppending ? nil : identity, isRegular: identity != nil, waitLimit: waitLimit)
    if let identity, isAppending {
      state.isShared = !FileLock.registerWriter(descriptor)
      _ = runFiles?.claim(identity.name)
    }
    self.state = Locked(state)
    if !isAppending { identity?.addOwner(ObjectIdentifier(self)) }
  }

  deinit { try? close() }

  /// Whether another process, or another object of this one, was writing the file at the first write of this object. The old
  /// content was then not replaced.
  package var isShared: Bool { state.withLock { $0.isShared } }

  /// Appends text immediately: all of it, or none after an error. It begins a line, unless this object has written what is before.
  package func write(_ text: [UInt8]) throws(SystemError) {
    try write(text, isText: true)
  }

  /// Appends bytes immediately: all of them, or none after an error.
  package func write(binary bytes: [UInt8]) throws(SystemError) {
    try write(bytes, isText: false)
  }

  /// Writes the first bytes of a file that is empty; of one that is not regular, unless this object has written to it.
  package func begin(ifEmpty head: [UInt8]) throws(SystemError) {
    try write([], isText: true, ifEmpty: head)
  }

  private func write(_ bytes: [UInt8], isText: Bool, ifEmpty head: [UInt8] = []) throws(SystemError) {
    try state.withLock { state throws(SystemError) in
      guard state.isRegular else {
        let bytes = (state.end > 0 || size > 0 ? [] : head) + bytes
        try append(bytes)
        state.end += off_t(bytes.count)
        return
      }
      var isHeld = state.isHeld
      defer { state.isHeld = isHeld }
      try FileLock.withContents(of: descriptor, patience: state.patience, isHeld: &isHeld) {
        isLocked throws(SystemError) in
        try begin(&state)
        try append((head.isEmpty || size > 0 ? [] : head) + bytes, isText: isText, &state, isLocked: isLocked)
      }
    }
  }

  private var size: off_t { FileContents.size(descriptor) }

  /// Replaces the content, if that is left to do.
  private func begin(_ state: inout State) throws(SystemError) {
    guard let identity = state.replaced else { return }
    // What another process of the run has written is kept, also after its end.
    let isFirst = runFiles?.claim(identity.name) ?? true
    let isAlone = FileLock.registerWriter(descriptor) && isFirst
    state.isShared = !isAlone
    try identity.replace { () throws(SystemError) in
      // What another process writes now is kept.
      guard isAlone || size == 0 else { return }
      guard ftruncate(descriptor, 0) == 0 else { throw .last }
    }
    state.replaced = nil
  }

  /// Appends to a regular file.
  private func append(
    _ bytes: [UInt8], isText: Bool, _ state: inout State, isLocked: Bool
  ) throws(SystemError) {
    guard !bytes.isEmpty else { return }
    let start = size
    let isWithinLine =
      isText && start > 0 && start != state.end && lastByte(before: start) ?? lineFeed != lineFeed
    do throws(SystemError) {
      try append(isWithinLine ? [lineFeed] + bytes : bytes)
    } catch {
      if isLocked { _ = ftruncate(descriptor, start) }
      throw error
    }
    state.end = size
  }

  /// The byte before a place; nil if it cannot be read. The descriptor is one for writing.
  private func lastByte(before end: off_t) -> UInt8? {
    let reader = open("/proc/self/fd/\(descriptor)", O_RDONLY | O_CLOEXEC)
    guard reader >= 0 else { return nil }
    defer { RPCurlPlatform.close(reader) }
    var byte: UInt8 = 0
    return pread(reader, &byte, 1, end - 1) == 1 ? byte : nil
  }

  private func append(_ bytes: [UInt8]) throws(SystemError) {
    guard !bytes.isEmpty else { return }
    guard
      let problem = FileContents.write(bytes, to: descriptor, waitLimit: waitLimit.withLock { $0 })
    else { return }
    waitLimit.withLock { if $0 != nil { $0 = .zero } }
    throw problem
  }

  /// Closes the file.
  package func close() throws(SystemError) {
    state.withLock { state in
      state.replaced?.removeOwner(ObjectIdentifier(self))
      state.replaced = nil
    }
    let closes = closes.withLock { closes in
      defer { closes = false }
      return closes
    }
    guard closes else { return }
    if let problem = FileContents.closeWriter(descriptor) { throw problem }
  }
}

extension FileFacts.Identity {
  /// The files whose content is to be replaced before the next write, and the objects of which the first one that writes does so:
  /// interceptors that write to the same file replace it once.
  ///
  /// Global, because the process has one file of each identity, whichever client opened it.
  private static let replaced = Locked<[FileFacts.Identity: Set<ObjectIdentifier>]>([:])

  /// Returns nil for anything but a regular file, and for a standard stream: the program itself writes to it, or still reads it.
  fileprivate init?(replaceable descriptor: Int32) {
    guard let file = FileFacts(descriptor), file.isRegular, !StandardStreams.contain(file, among: 0...2)
    else { return nil }
    self = file.identity
  }

  /// The name in the record of a run.
  fileprivate var name: String { "inode \(device) \(number)" }

  fileprivate func addOwner(_ owner: ObjectIdentifier) {
    Self.replaced.withLock { _ = $0[self, default: []].insert(owner) }
  }

  fileprivate func removeOwner(_ owner: ObjectIdentifier) {
    Self.replaced.withLock { replaced in
      replaced[self]?.remove(owner)
      if replaced[self]?.isEmpty == true { replaced[self] = nil }
    }
  }

  /// Replaces the content, unless that was done.
  ///
  /// - Parameter body: Removes it; after an error, the next write tries again.
  fileprivate func replace(_ body: () throws(SystemError) -> Void) throws(SystemError) {
    try Self.replaced.withLock { replaced throws(SystemError) in
      guard replaced[self] != nil else { return }
      try body()
      replaced[self] = nil
    }
  }
}
