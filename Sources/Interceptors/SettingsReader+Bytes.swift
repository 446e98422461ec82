import RPCurlChain

extension SettingsReader {
  /// A number of bytes, with `k`, `m` or `g` for KiB, MiB and GiB.
  func byteCount(_ key: String) throws(ConfigurationError) -> Int? {
    guard let text = text(key) else { return nil }
    let factors: [Character: Int] = ["k": 1 << 10, "m": 1 << 20, "g": 1 << 30]
    let factor = text.last.flatMap { factors[Character($0.lowercased())] }
    guard let number = Int(factor == nil ? text[...] : text.dropLast()), number >= 0,
      case let (bytes, overflow) = number.multipliedReportingOverflow(by: factor ?? 1), !overflow
    else { throw error(key, "must be a number of bytes such as 65536, 64k, 1m") }
    return bytes
  }

  /// The random seed.
  func seed() throws(ConfigurationError) -> UInt64? {
    guard let text = text("seed") else { return nil }
    guard let seed = UInt64(text) else { throw error("seed", "must be a whole number of at least 0") }
    return seed
  }
}
