import ArgumentParser

/// A duration on the command line: `1.5` or `1.5s`, `1500ms`, `2m`, `1h`.
struct DurationArgument: ExpressibleByArgument, Equatable {
  let duration: Duration

  init?(argument: String) {
    let number = argument.prefix { $0.isNumber || $0 == "." }
    let nanosecondsPerUnit: Double
    switch argument[number.endIndex...] {
    case "", "s": nanosecondsPerUnit = 1e9
    case "ns": nanosecondsPerUnit = 1
    case "us": nanosecondsPerUnit = 1e3
    case "ms": nanosecondsPerUnit = 1e6
    case "m": nanosecondsPerUnit = 60e9
    case "h": nanosecondsPerUnit = 3600e9
    default: return nil
    }
    guard let value = Double(number), value > 0, value * nanosecondsPerUnit < 9e18 else { return nil }
    duration = .nanoseconds(Int64((value * nanosecondsPerUnit).rounded(.up)))
  }
}
