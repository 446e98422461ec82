import CRPCURLPlugin

/// The host of a plugin, rpcurl. `[any thread]`
public struct Host: @unchecked Sendable {
  typealias Pointer = UnsafePointer<rpcurl_host>
  let pointer: Pointer
  /// The functions that are scheduled outside of calls.
  let scheduled: ScheduledFunctions

  init(_ pointer: Pointer) {
    self.pointer = pointer
    scheduled = ScheduledFunctions()
  }

  /// Its name: `rpcurl`.
  public var name: String { String(pointer.pointee.name) }
  /// Its own version.
  public var version: String { String(pointer.pointee.version) }

  /// Writes a line to the log under the plugin's name.
  public func log(_ level: LogLevel, _ text: String) {
    _ = text.lend { pointer.pointee.log(pointer, level.rawValue, $0) }
  }

  /// A structure of additional functions, whose documentation states its name; nil if this host has none with it.
  public func extensionNamed(_ name: String) -> UnsafeRawPointer? {
    name.lend { pointer.pointee.get_extension(pointer, $0) }
  }

  func setError(_ text: String) {
    _ = text.lend { pointer.pointee.set_error(pointer, $0) }
  }

  /// Throws for a negative result; returns any other.
  @discardableResult
  func check<Number: BinaryInteger>(_ result: Number) throws(HostError) -> Number {
    guard result < 0 else { return result }
    throw HostError(code: Int32(result), description: String(pointer.pointee.last_error(pointer)))
  }
}

/// The level of a log line. rpcurl prints debug with `-vv` only, and the others unless `-s` is given.
public enum LogLevel: UInt32, Sendable {
  case debug, info, warning, error
}

/// Why a function of the host failed.
public struct HostError: Error, CustomStringConvertible, Equatable {
  /// One of the header's `RPCURL_E…` codes.
  public let code: Int32
  /// The host's message.
  public let description: String

  /// Whether something was not found: `RPCURL_ENOENT`.
  public var isNotFound: Bool { code == RPCURL_ENOENT }
  /// Whether the field is of another type, such as a message: `RPCURL_ETYPE`.
  public var isWrongType: Bool { code == RPCURL_ETYPE }
  /// Whether the call has ended in the meantime: `RPCURL_EENDED`.
  public var isEnded: Bool { code == RPCURL_EENDED }
}
