import ArgumentParser

/// A number of bytes on the command line, with `k` or `m` for KiB and MiB.
struct ByteCountArgument: ExpressibleByArgument, Equatable, CustomStringConvertible {
  let bytes: Int

  init(bytes: Int) {
    self.bytes = bytes
  }

  init?(argument: String) {
    let digits = argument.prefix { $0.isASCII && $0.isNumber }
    let factor: Int
    switch argument[digits.endIndex...].lowercased() {
    case "": factor = 1
    case "k": factor = 1 << 10
    case "m": factor = 1 << 20
    case "g": factor = 1 << 30
    default: return nil
    }
    guard let number = Int(digits),
      case let (bytes, overflow) = number.multipliedReportingOverflow(by: factor),
      !overflow, bytes > 0
    else { return nil }
    self.bytes = bytes
  }

  var description: String {
    bytes % (1 << 20) == 0 ? "\(bytes >> 20)m" : "\(bytes)"
  }
}
