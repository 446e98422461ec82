import CRPCURLPlugin

/// rpcurl, as a plugin sees it. `[any thread]`
public struct Host: @unchecked Sendable {
  typealias Pointer = UnsafePointer<rpcurl_host>
  let pointer: Pointer

  /// How much a log line matters.
  public enum Level: UInt32, Sendable {
    case debug, info, warning, error
  }

  /// Its name: `rpcurl`.
  public var name: String { String(pointer.pointee.name) }
  /// Its own version.
  public var version: String { String(pointer.pointee.version) }

  /// Writes a line to the log in the plugin's name.
  public func log(_ level: Level, _ text: String) {
    _ = text.lend { pointer.pointee.log(pointer, level.rawValue, $0) }
  }

  func setError(_ text: String) {
    _ = text.lend { pointer.pointee.set_error(pointer, $0) }
  }

  /// Throws for a negative result; gives the others.
  @discardableResult
  func check<Number: BinaryInteger>(_ result: Number) throws(HostError) -> Number {
    guard result < 0 else { return result }
    throw HostError(code: Int32(result), description: String(pointer.pointee.last_error(pointer)))
  }
}

/// Why the host did not do what it was asked.
public struct HostError: Error, CustomStringConvertible, Equatable {
  /// One of the header's `RPCURL_E…` codes.
  public let code: Int32
  /// The host's words.
  public let description: String

  /// Whether there is no such thing: `RPCURL_ENOENT`.
  public var isNotFound: Bool { code == RPCURL_ENOENT }
  /// Whether the field is of another type, such as a message: `RPCURL_ETYPE`.
  public var isWrongType: Bool { code == RPCURL_ETYPE }
  /// Whether the call has ended meanwhile: `RPCURL_EENDED`.
  public var isEnded: Bool { code == RPCURL_EENDED }
}
