import RPCurlBase
import RPCurlProtobuf

/// The result of `rpcurl check`: a line for each step of a call, and the command that works.
package struct CheckReport: Equatable {
  /// The result of a step.
  package enum Outcome: String, Equatable {
    /// A call can pass this step.
    case passed
    /// A call fails here.
    case failed
    /// The server does not offer this, and a call does not need it.
    case absent
    /// It was not tried, since an earlier step shows that it has no result.
    case skipped
  }

  /// A step.
  package struct Line: Equatable {
    /// The name of the step, such as `TLS`.
    package var name: String
    package var outcome: Outcome
    /// What was found.
    package var text: String
    /// What to do about it; nil if nothing.
    package var hint: String?

    package init(_ name: String, _ outcome: Outcome, _ text: String, hint: String? = nil) {
      (self.name, self.outcome, self.text, self.hint) = (name, outcome, text, hint)
    }
  }

  /// The steps, in the order of a call.
  package var lines: [Line] = []
  /// The shortest command that works; nil if none does.
  package var command: String?
  /// Whether a call can be made with the given options.
  package var canCall = false

  package init() {}

  /// Adds a step.
  package mutating func add(_ name: String, _ outcome: Outcome, _ text: String, hint: String? = nil) {
    lines.append(Line(name, outcome, text, hint: hint))
  }

  /// The columns of the names of steps. Each line is printed before the next is known, and few names are longer.
  private static let width = "verification".count

  /// The report for a terminal. Parts of it come from the server, so control characters are escaped.
  ///
  /// - Parameter shown: The number of the first lines that are printed already.
  package func text(after shown: Int = 0) -> String {
    let width = Self.width
    var text = ""
    for line in lines.dropFirst(shown) {
      let mark =
        switch line.outcome {
        case .passed: "✓"
        case .failed: "✗"
        case .absent, .skipped: "-"
        }
      let padding = String(repeating: " ", count: max(width - line.name.count, 0))
      text += "\(mark) \(line.name)\(padding)  \(TerminalText.escape(line.text))\n"
      if let hint = line.hint {
        text += "\(String(repeating: " ", count: width + 4))hint: \(TerminalText.escape(hint))\n"
      }
    }
    if let command { text += "\n\(TerminalText.escape(command))\n" }
    return text
  }

  /// The report as one JSON object on one line.
  package var json: String {
    let steps = lines.map { line in
      var object = JSONObject()
      object.add("name", line.name)
      object.add("outcome", line.outcome.rawValue)
      object.add("text", line.text)
      if let hint = line.hint { object.add("hint", hint) }
      return object.object
    }
    var object = JSONObject()
    object.add("canCall", raw: canCall ? "true" : "false")
    object.add("steps", raw: "[\(steps.joined(separator: ","))]")
    if let command { object.add("command", command) }
    return object.object + "\n"
  }
}
