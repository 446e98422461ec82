import RPCurlBase
import RPCurlChain
import RPCurlPlatform
import RPCurlProtobuf

/// A file that is written through its descriptor.
package final class DescriptorFile: OutputFile {
  /// What is left to do before the first write.
  private enum Beginning {
    /// Write these bytes.
    case write([UInt8])
    /// Replace the content of the file with this identity, unless another object has done so, or writes it now.
    case replace(FileIdentity)
    case nothing
  }

  private struct State {
    var beginning: Beginning
    /// Whether it is a regular file, which other processes may write, too.
    let isRegular: Bool
    var isShared = false
    /// How long a write waits for other processes.
    let patience: Duration
    /// Whether another process holds the file for longer.
    var isHeld = false

    init(_ beginning: Beginning, isRegular: Bool, waitLimit: Duration? = nil) {
      self.beginning = beginning
      self.isRegular = isRegular
      patience = min(waitLimit ?? FileLock.patience, FileLock.patience)
    }
  }

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
    state = Locked(State(.nothing, isRegular: false))
  }

  /// Makes a file of a descriptor that was opened for appending, and is closed by `close`.
  ///
  /// - Parameters:
  ///   - descriptor: The descriptor.
  ///   - head: The first bytes of the content that replaces the old one before the first write; nil to append.
  ///   - runFiles: The files that processes of this run write; nil if it is the only one.
  ///   - waitLimit: How long a write waits for the reader of a pipe, or for other processes; nil for no limit.
  init(
    _ descriptor: Int32, replacingWith head: [UInt8]?, in runFiles: RunFiles? = nil,
    waitLimit: Duration? = nil
  ) {
    self.descriptor = descriptor
    self.runFiles = runFiles
    self.waitLimit = Locked(waitLimit)
    closes = Locked(true)
    let identity = FileIdentity(replaceable: descriptor)
    let beginning: Beginning =
      switch (identity, head) {
      case (let identity?, _?): .replace(identity)
      case (nil, let head?): .write(head)
      case (_, nil): .nothing
      }
    var state = State(beginning, isRegular: identity != nil, waitLimit: waitLimit)
    if let identity, head == nil {
      state.isShared = !FileLock.registerWriter(descriptor)
      _ = runFiles?.claim(identity.name)
    }
    self.state = Locked(state)
    if let head { identity?.addOwner(ObjectIdentifier(self), head) }
  }

  deinit { try? close() }

  package var isShared: Bool { state.withLock { $0.isShared } }

  package func write(_ bytes: [UInt8]) throws(SystemError) {
    try write(bytes, onlyIfEmpty: false)
  }

  package func begin(ifEmpty head: [UInt8]) throws(SystemError) {
    try write(head, onlyIfEmpty: true)
  }

  private func write(_ bytes: [UInt8], onlyIfEmpty: Bool) throws(SystemError) {
    try state.withLock { state throws(SystemError) in
      guard state.isRegular else { return try write(&state, bytes) }
      var isHeld = state.isHeld
      defer { state.isHeld = isHeld }
      try FileLock.withContents(of: descriptor, patience: state.patience, isHeld: &isHeld) {
        () throws(SystemError) in
        try write(&state, onlyIfEmpty && !isEmpty ? [] : bytes)
      }
    }
  }

  private var isEmpty: Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_size == 0
  }

  /// Writes after what is left to do before the first write.
  private func write(_ state: inout State, _ bytes: [UInt8]) throws(SystemError) {
    switch state.beginning {
    case .write(let head): try append(head + bytes)
    case .replace(let identity):
      // What another process of the run has written is kept, also after its end.
      let isFirst = runFiles?.claim(identity.name) ?? true
      let isAlone = FileLock.registerWriter(descriptor) && isFirst
      state.isShared = !isAlone
      let isDone = try identity.replace { head throws(SystemError) in
        // What another process writes now is kept.
        guard isAlone else { return try append(isEmpty ? head + bytes : bytes) }
        guard ftruncate(descriptor, 0) == 0 else { throw .last }
        try append(head + bytes)
      }
      if !isDone { try append(bytes) }
    case .nothing: return try append(bytes)
    }
    state.beginning = .nothing
  }

  private func append(_ bytes: [UInt8]) throws(SystemError) {
    guard !bytes.isEmpty else { return }
    guard
      let problem = FileContents.write(bytes, to: descriptor, waitLimit: waitLimit.withLock { $0 })
    else { return }
    waitLimit.withLock { if $0 != nil { $0 = .zero } }
    throw problem
  }

  package func close() throws(SystemError) {
    state.withLock { state in
      if case .replace(let identity) = state.beginning { identity.removeOwner(ObjectIdentifier(self)) }
      state.beginning = .nothing
    }
    let closes = closes.withLock { closes in
      defer { closes = false }
      return closes
    }
    guard closes else { return }
    FileLock.release(descriptor)
    guard Glibc.close(descriptor) != 0 else { return }
    throw .last
  }
}

/// Identifies an open regular file, however its path is written.
private struct FileIdentity: Hashable, Sendable {
  /// A file whose content is to be replaced.
  private struct Replacement {
    /// What begins the new content.
    var head: [UInt8]
    /// The objects of which the first one that writes replaces the content.
    var owners: Set<ObjectIdentifier> = []
  }

  private let device: dev_t
  private let number: ino_t

  /// The files whose content is to be replaced before the next write. Interceptors that write to the same file replace it once.
  ///
  /// Global, because the process has one file of each identity, whichever client opened it.
  private static let replaced = Locked<[FileIdentity: Replacement]>([:])

  private init?(_ descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    device = status.st_dev
    number = status.st_ino
  }

  /// Returns nil for anything but a regular file, and for a standard stream, to which the program itself writes.
  init?(replaceable descriptor: Int32) {
    self.init(descriptor)
    for stream in Int32(0)...2 where FileIdentity(stream) == self { return nil }
  }

  /// The name in the record of a run.
  var name: String { "inode \(device) \(number)" }

  func addOwner(_ owner: ObjectIdentifier, _ head: [UInt8]) {
    Self.replaced.withLock { _ = $0[self, default: Replacement(head: head)].owners.insert(owner) }
  }

  func removeOwner(_ owner: ObjectIdentifier) {
    Self.replaced.withLock { replaced in
      replaced[self]?.owners.remove(owner)
      if replaced[self]?.owners.isEmpty == true { replaced[self] = nil }
    }
  }

  /// Replaces the content, unless that was done.
  ///
  /// - Parameter body: Replaces it by what begins with the bytes; after an error, the next write tries again.
  /// - Returns: Whether it was replaced now.
  func replace(_ body: ([UInt8]) throws(SystemError) -> Void) throws(SystemError) -> Bool {
    try Self.replaced.withLock { replaced throws(SystemError) in
      guard let replacement = replaced[self] else { return false }
      try body(replacement.head)
      replaced[self] = nil
      return true
    }
  }
}
