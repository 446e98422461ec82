import RPCurlCEL
import RPCurlProtobuf

/// The rules of numbers, timestamps and durations.
enum OrderRules {
  /// Compiles the rules.
  ///
  /// - Parameters:
  ///   - options: The rules, such as `buf.validate.Int32Rules`.
  ///   - name: The first part of the identifiers, such as `int32`.
  ///   - kind: The kind of a number; `message` for a time.
  ///   - form: How bounds are written.
  static func compile(
    _ options: WireFields, name: String, kind: FieldKind, form: Ordinal.Form
  ) -> [Rule] {
    // The numbers of the fields of times are one higher.
    let first: UInt32 = form == .number ? 1 : 2
    let bound = { (number: UInt32) -> Ordinal? in
      options.all(first + number).last.flatMap { Ordinal($0, kind) }
    }
    var rules: [Rule] = []
    if let constant = bound(0) {
      rules.append(
        rule("\(name).const", "must equal \(constant.text(form))", demanding: .anyOf([constant.json(form)])) {
          $0 == constant
        })
    }
    rules += range(options, first, bound, name: name, form: form)
    guard form != .timestamp else { return rules + now(options) }
    let list = Ordinal.list(options.all(first + 5), kind)
    if !list.isEmpty {
      rules.append(
        rule(
          "\(name).in", "must be in list \(text(list, form))", demanding: .anyOf(list.map { $0.json(form) })
        ) { value in list.contains { $0 == value } })
    }
    let excluded = Ordinal.list(options.all(first + 6), kind)
    if !excluded.isEmpty {
      rules.append(
        rule("\(name).not_in", "must not be in list \(text(excluded, form))") { value in
          !excluded.contains { $0 == value }
        })
    }
    if kind == .float || kind == .double, options.flag(8) {
      rules.append(rule("\(name).finite", "must be finite") { $0.isFinite })
    }
    return rules
  }

  private static func text(_ list: [Ordinal], _ form: Ordinal.Form) -> String {
    "[\(list.map { $0.text(form) }.joined(separator: ", "))]"
  }

  private static func rule(
    _ id: String, _ message: String, demanding demand: Demand? = nil,
    holds: @escaping @Sendable (Ordinal) -> Bool
  ) -> Rule {
    Rule(id, message, demanding: demand) { Ordinal($0).map(holds) ?? true }
  }

  /// The rule of the bounds. A lower one above the upper one excludes the values between them.
  private static func range(
    _ options: WireFields, _ first: UInt32, _ bound: (UInt32) -> Ordinal?, name: String, form: Ordinal.Form
  ) -> [Rule] {
    // Each pair of bounds is a oneof: the last one in the bytes counts.
    let last = { (numbers: [UInt32]) -> UInt32? in
      options.records.last { field in numbers.contains { first + $0 == field.number } }.map {
        $0.number - first
      }
    }
    let upper = last(form == .timestamp ? [1, 2, 5] : [1, 2]).flatMap { number in
      number == 5 ? nil : bound(number).map { (bound: $0, includes: number == 2) }
    }
    let lower = last(form == .timestamp ? [3, 4, 6] : [3, 4]).flatMap { number in
      number == 6 ? nil : bound(number).map { (bound: $0, includes: number == 4) }
    }
    let upperText = upper.map { "less than \($0.includes ? "or equal to " : "")\($0.bound.text(form))" } ?? ""
    let lowerText =
      lower.map { "greater than \($0.includes ? "or equal to " : "")\($0.bound.text(form))" } ?? ""
    let upperID = upper?.includes == true ? "lte" : "lt"
    let lowerID = lower?.includes == true ? "gte" : "gt"
    let isBelow = { @Sendable (value: Ordinal) -> Bool in
      upper.map { value < $0.bound || $0.includes && value == $0.bound } ?? true
    }
    let isAbove = { @Sendable (value: Ordinal) -> Bool in
      lower.map { $0.bound < value || $0.includes && value == $0.bound } ?? true
    }
    let demand = Demand.range(
      lower: lower.map { Demand.Bound(value: $0.bound, isIncluded: $0.includes) },
      upper: upper.map { Demand.Bound(value: $0.bound, isIncluded: $0.includes) }, form)
    switch (upper, lower) {
    case (nil, nil): return []
    case (_?, nil):
      return [rule("\(name).\(upperID)", "must be \(upperText)", demanding: demand, holds: isBelow)]
    case (nil, _?):
      return [rule("\(name).\(lowerID)", "must be \(lowerText)", demanding: demand, holds: isAbove)]
    case (let upper?, let lower?):
      let id = "\(name).\(lowerID)_\(upperID)"
      if upper.bound < lower.bound {
        return [
          rule("\(id)_exclusive", "must be \(lowerText) or \(upperText)", demanding: demand) {
            isBelow($0) || isAbove($0)
          }
        ]
      }
      return [
        rule(id, "must be \(lowerText) and \(upperText)", demanding: demand) { isBelow($0) && isAbove($0) }
      ]
    }
  }

  /// The rules of timestamps that depend on the time.
  private static func now(_ options: WireFields) -> [Rule] {
    func rule(
      _ id: String, _ message: String, _ demand: Demand,
      holds: @escaping @Sendable (Int128, _ now: Int128) -> Bool
    ) -> Rule {
      Rule("timestamp.\(id)", demanding: demand) { contents, run in
        guard case .value(let value) = contents, case .integer(let time)? = Ordinal(value) else { return nil }
        return holds(time, Int128(run.now)) ? nil : message
      }
    }
    var rules: [Rule] = []
    let upper = options.records.last { [3, 4, 7].contains($0.number) }?.number
    let lower = options.records.last { [5, 6, 8].contains($0.number) }?.number
    if upper == 7, options.flag(7) {
      rules.append(rule("lt_now", "must be less than now", .before) { $0 <= $1 })
    }
    if lower == 8, options.flag(8) {
      rules.append(rule("gt_now", "must be greater than now", .after) { $0 >= $1 })
    }
    if let content = options.message(9).map({ WireRecord.Content.bytes($0.serialized[...]) }),
      case .integer(let distance)? = Ordinal(content, .message)
    {
      let text = DecimalText.duration(nanoseconds: distance)
      rules.append(
        rule("within", "must be within \(text) of now", .near(distance)) {
          $0 >= $1 - distance && $0 <= $1 + distance
        })
    }
    return rules
  }
}
