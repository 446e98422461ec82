import RPCurlBase
import RPCurlProtobuf

/// What the interceptors of a program share outside of calls: named values, and counters that `metrics` reports.
/// `[any thread]`
public final class SharedValues: Sendable {
  /// The maximum number of values, and of counters.
  public static let limit = 1024
  /// The maximum size of a name and of a value, in bytes.
  public static let maxBytes = 65_536

  private struct State {
    var values: [String: String] = [:]
    var counters: [String: Double] = [:]
  }

  private let state = Locked(State())

  /// Makes an empty set.
  public init() {}

  /// The value with a name; nil if it is not set.
  ///
  /// - Parameter name: The name of the value.
  public subscript(name: String) -> String? { state.withLock { $0.values[name] } }

  /// Sets the value with a name.
  ///
  /// - Parameters:
  ///   - name: The name of the value.
  ///   - value: The value.
  /// - Throws: An error if the name or the value is too long, or there are too many values.
  public func set(_ name: String, _ value: String) throws(InvalidValue) {
    guard (1...Self.maxBytes).contains(name.utf8.count), value.utf8.count <= Self.maxBytes else {
      throw InvalidValue(
        "a shared value has a name of 1 to \(Self.maxBytes) bytes, and at most \(Self.maxBytes) bytes"
      )
    }
    try state.withLock { state throws(InvalidValue) in
      guard state.values[name] != nil || state.values.count < Self.limit else {
        throw InvalidValue("there are at most \(Self.limit) shared values")
      }
      state.values[name] = value
    }
  }

  /// The counters, in the order of their names.
  public var counters: [(name: String, value: Double)] {
    state.withLock { $0.counters.sorted { $0.key < $1.key } }.map { (name: $0.key, value: $0.value) }
  }

  /// Adds to a counter, which starts at 0.
  ///
  /// - Parameters:
  ///   - number: The number to add.
  ///   - name: The name of the value.
  /// - Throws: An error if the name is not one of Prometheus, the number is negative, it or the sum is not finite, or there are too many
  ///   counters.
  public func add(_ number: Double, to name: String) throws(InvalidValue) {
    guard Self.isCounterName(name) else {
      throw InvalidValue(
        "the name of a counter must be up to 256 of the characters a-z, A-Z, 0-9, _ and :, not first a digit"
      )
    }
    guard number >= 0, number.isFinite else {
      throw InvalidValue("\(number) cannot be added to a counter")
    }
    try state.withLock { state throws(InvalidValue) in
      guard state.counters[name] != nil || state.counters.count < Self.limit else {
        throw InvalidValue("there are at most \(Self.limit) counters")
      }
      let sum = state.counters[name, default: 0] + number
      guard sum.isFinite else { throw InvalidValue("the sum of the counter would not be finite") }
      state.counters[name] = sum
    }
  }

  private static func isCounterName(_ name: String) -> Bool {
    func isStart(_ byte: UInt8) -> Bool {
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) && byte < 0x80
        || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ":")
    }
    return name.utf8.count <= 256 && name.utf8.first.map(isStart) == true
      && name.utf8.allSatisfy { isStart($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }
}
