import RPCurlProtobuf
import RPCurlProtocols

/// The same load as a script for k6, with its module `k6/net/grpc`.
package struct K6Script {
  /// A source of the schema.
  package enum Schema: Equatable {
    case reflection
    case descriptorSet(String)
    case protos(importPaths: [String], files: [String])
  }

  /// The value of a header.
  package enum Value {
    case text(String)
    case bytes([UInt8])
    /// The text of an environment variable.
    case variable(String)
    /// The bytes of an environment variable, which has them in base64 with or without padding.
    case base64(variable: String)

    /// The value as an expression of JavaScript.
    fileprivate var expression: String {
      switch self {
      case .text(let text): K6Script.literal(text)
      case .bytes(let bytes): "new Uint8Array([\(bytes.map { "\($0)" }.joined(separator: ", "))])"
      case .variable(let name): "__ENV.\(name)"
      case .base64(let name): "new Uint8Array(b64decode(__ENV.\(name).replace(/=+$/, ''), 'rawstd'))"
      }
    }
  }

  /// The server as HOST:PORT.
  package var address: String
  package var isPlaintext: Bool
  /// The method as `pkg.Service/Method`, and its kind.
  package var method: String
  package var kind: CallKind
  /// The sources of the schema.
  package var schema: [Schema]
  /// The messages as JSON: one for each call in turn, or all of each call if the client streams.
  package var messages: [String]
  /// The headers, each with one value: k6 has an object of them.
  package var metadata: [(name: String, value: Value)]
  package var timeout: Duration?
  package var shape: LoadShape
  package var thresholds: [LoadThreshold]
  /// The value of `:authority`; nil for the address.
  package var authority: String?
  /// The value of `user-agent`; nil for that of k6.
  package var userAgent: String?
  /// The greatest size of a response message; nil for the default of k6.
  package var maxMessageBytes: Int?
  package var isInsecure = false
  package var tags: [LoadTag] = []
  /// Comments for the user of the script.
  package var notes: [String] = []

  /// Makes a script.
  package init(
    address: String, isPlaintext: Bool, method: String, kind: CallKind, schema: [Schema], messages: [String],
    metadata: [(name: String, value: Value)], timeout: Duration?, shape: LoadShape,
    thresholds: [LoadThreshold]
  ) {
    self.address = address
    self.isPlaintext = isPlaintext
    self.method = method
    self.kind = kind
    self.schema = schema
    self.messages = messages
    self.metadata = metadata
    self.timeout = timeout
    self.shape = shape
    self.thresholds = thresholds
  }

  /// A string literal. JSON is a part of JavaScript.
  private static func literal(_ text: String) -> String { script(JSONValue.quoted(text)) }

  /// JSON for every version of JavaScript: before 2019, a string could not contain two of the line ends of Unicode.
  private static func script(_ json: String) -> String {
    guard json.unicodeScalars.contains(where: { $0 == "\u{2028}" || $0 == "\u{2029}" }) else { return json }
    var text = ""
    for scalar in json.unicodeScalars {
      switch scalar {
      case "\u{2028}": text += "\\u2028"
      case "\u{2029}": text += "\\u2029"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }

  /// The script.
  package var text: String {
    """
    // The load of rpcurl load \(method.filter { !$0.isNewline }) for k6: k6 run FILE
    // Each VU has a connection. k6 measures latencies from the actual start of a call, and counts calls that it could not
    // start in time as dropped_iterations.
    \(notes.map { "// \($0)\n" }.joined())\
    import grpc from 'k6/net/grpc';
    import { check } from 'k6';
    \(decodes ? "import { b64decode } from 'k6/encoding';\n" : "")\
    import exec from 'k6/execution';
    import { Counter } from 'k6/metrics';

    export const options = {
    \(globals)\
      scenarios: {
    \(scenarios.joined(separator: "\n"))
      },
      thresholds: {
    \(limits.joined(separator: "\n"))
      },
    };

    const client = new grpc.Client();
    \(load)const messages = [
    \(messages.map { "  \(Self.script($0)),\n" }.joined())];
    const params = { \(params.joined(separator: ", ")) };
    const failures = new Counter('failed_calls');
    let isConnected = false;

    function count(isOK) {
      failures.add(check(isOK, { 'status is ok': (value) => value }) ? 0 : 1);
    }

    export default function () {
      if (!isConnected) {
        client.connect(\(Self.literal(address)), { \(connection.joined(separator: ", ")) });
        isConnected = true;
      }
    \(call)
    }

    """
  }

  private var decodes: Bool {
    metadata.contains { if case .base64 = $0.value { true } else { false } }
  }

  private var load: String {
    schema.map { source in
      switch source {
      case .reflection: return ""
      case .descriptorSet(let path): return "client.loadProtoset(\(Self.literal(path)));\n"
      case .protos(let paths, let files):
        let list = paths.map(Self.literal).joined(separator: ", ")
        return "client.load([\(list)], \(files.map(Self.literal).joined(separator: ", ")));\n"
      }
    }.joined()
  }

  /// The options that concern all requests.
  private var globals: String {
    let agent = userAgent.map { "  userAgent: \(Self.literal($0)),\n" } ?? ""
    let list = tags.map { "\(Self.literal($0.name)): \(Self.literal($0.value))" }.joined(separator: ", ")
    let names = tags.isEmpty ? "" : "  tags: { \(list) },\n"
    return agent + names + (isInsecure ? "  insecureSkipTLSVerify: true,\n" : "")
  }

  private var connection: [String] {
    var list = ["plaintext: \(isPlaintext)", "reflect: \(schema.contains(.reflection))"]
    if let authority { list.append("authority: \(Self.literal(authority))") }
    if let maxMessageBytes { list.append("maxReceiveSize: \(maxMessageBytes)") }
    return list
  }

  private var params: [String] {
    let metadata = metadata.map { "\(Self.literal($0.name)): \($0.value.expression)" }.joined(separator: ", ")
    let duration = timeout.map { ["timeout: '\(Self.duration($0))'"] } ?? []
    return ["metadata: { \(metadata) }"] + duration
  }

  private var call: String {
    let name = Self.literal(method)
    if kind == .unary {
      return """
          const message = messages[exec.scenario.iterationInTest % messages.length];
          const response = client.invoke(\(name), message, params);
          count(response.status === grpc.StatusOK);
        """
    }
    let messages =
      kind.clientStreams
      ? "messages.forEach((message) => stream.write(message));"
      : "stream.write(messages[exec.scenario.iterationInTest % messages.length]);"
    return """
        const stream = new grpc.Stream(client, \(name), params);
        let isOK = true;
        stream.on('error', () => { isOK = false; });
        stream.on('end', () => count(isOK));
        \(messages)
        stream.end();
      """
  }

  // MARK: Options

  /// The scenario of the time before the measured part, if there is such a time, and that of the measured part.
  private var scenarios: [String] {
    let lead = shape.leadTime
    var list: [String] = []
    if lead > .zero {
      list.append(
        "    lead: { \(executor(from: shape.start, shape.lead, length: Self.duration(lead), isLead: true)) },"
      )
    }
    let start = lead > .zero ? ", startTime: '\(Self.duration(lead))'" : ""
    list.append("    load: { \(measured)\(start) },")
    return list
  }

  /// The measured part.
  private var measured: String {
    guard shape.loop == .closed, shape.level != nil, let requests = shape.requests else {
      return executor(from: shape.first, shape.stages, length: measuredDuration)
    }
    let limit = shape.duration.map { Self.duration($0) } ?? "24h"
    // k6 refuses more users than iterations.
    return
      "executor: 'shared-iterations', vus: \(min(shape.jobs, requests)), iterations: \(requests), maxDuration: '\(limit)'"
  }

  /// Stages that begin at a level.
  private func executor(
    from level: Double, _ stages: [LoadShape.Stage], length: String, isLead: Bool = false
  ) -> String {
    // What is not measured may be short at a rate: only stages have no least length.
    let isConstant = stages.allSatisfy { $0.level == level } && (shape.loop == .closed || !isLead)
    // k6 has whole numbers of calls in a unit of time.
    let isWhole = shape.loop == .closed || ([level] + stages.map(\.level)).allSatisfy { $0 == $0.rounded() }
    func count(_ level: Double) -> Int { isWhole ? Int(level) : Int((level * 1000).rounded()) }
    let list = stages.map { stage in
      "{ target: \(count(stage.level)), duration: '\(Self.duration(stage.duration ?? .zero, least: 0))' }"
    }.joined(separator: ", ")
    switch shape.loop {
    case .closed:
      return isConstant
        ? "executor: 'constant-vus', vus: \(count(level)), duration: '\(length)'"
        : "executor: 'ramping-vus', startVUs: \(count(level)), stages: [\(list)]"
    case .open(let jobs):
      let unit = isWhole ? "1s" : "1000s"
      let users = "timeUnit: '\(unit)', preAllocatedVUs: \(min(jobs, 100)), maxVUs: \(jobs)"
      return isConstant
        ? "executor: 'constant-arrival-rate', rate: \(count(level)), \(users), duration: '\(length)'"
        : "executor: 'ramping-arrival-rate', startRate: \(count(level)), \(users), stages: [\(list)]"
    }
  }

  private var measuredDuration: String { Self.duration(Self.measured(shape) ?? .seconds(86_400)) }

  /// The length of the measured part; nil for no limit. A number of calls of an open loop takes a known time.
  private static func measured(_ shape: LoadShape) -> Duration? {
    guard shape.loop != .closed, let rate = shape.level, let requests = shape.requests else {
      return shape.duration
    }
    // The limit is that of times in Go.
    let needed = Duration.milliseconds(Int64(min(Double(requests) / rate * 1000, 9e12).rounded(.up)))
    return min(shape.duration ?? needed, needed)
  }

  /// Whether a part of a load is shorter than k6 allows. Stages that change the level have no least length.
  package static func isTooShort(_ shape: LoadShape) -> Bool {
    var parts = shape.level == nil ? [] : [measured(shape) ?? .seconds(1)]
    let isConstant = shape.loop == .closed && shape.lead.allSatisfy { $0.level == shape.start }
    if isConstant, shape.leadTime > .zero { parts.append(shape.leadTime) }
    return parts.contains { $0 < .seconds(1) }
  }

  private static func duration(_ duration: Duration, least: Int64 = 1) -> String {
    "\(max(duration.milliseconds, least))ms"
  }

  private var limits: [String] {
    var lists: [(name: String, limits: [String])] = []
    for threshold in thresholds {
      let (name, limit) = Self.limit(threshold)
      if let index = lists.firstIndex(where: { $0.name == name }) {
        lists[index].limits.append(limit)
      } else {
        lists.append((name, [limit]))
      }
    }
    return lists.map { "    '\($0.name)': [\($0.limits.map { "'\($0)'" }.joined(separator: ", "))]," }
  }

  /// The metric of k6 and its condition.
  private static func limit(_ threshold: LoadThreshold) -> (String, String) {
    let sign = threshold.comparison.rawValue
    let milliseconds = Decimal.short(threshold.limit / 1e6)
    let duration = "grpc_req_duration{scenario:load}"
    switch threshold.metric {
    case .least: return (duration, "min\(sign)\(milliseconds)")
    case .mean: return (duration, "avg\(sign)\(milliseconds)")
    case .most: return (duration, "max\(sign)\(milliseconds)")
    case .percentile(let percentile):
      return (duration, "p(\(Decimal.short(percentile)))\(sign)\(milliseconds)")
    case .rate: return ("iterations{scenario:load}", "rate\(sign)\(Decimal.short(threshold.limit))")
    // k6 counts the checks that pass, and those that fail.
    case .errorShare:
      // An equality is its own opposite.
      let opposite =
        switch sign.first {
        case "<": ">\(sign.dropFirst())"
        case ">": "<\(sign.dropFirst())"
        default: sign
        }
      return ("checks{scenario:load}", "rate\(opposite)\(Decimal.short((100 - threshold.limit) / 100))")
    case .errors: return ("failed_calls{scenario:load}", "count\(sign)\(Decimal.short(threshold.limit))")
    }
  }
}
