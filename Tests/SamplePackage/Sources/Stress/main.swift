// Many calls and many messages: Stress DESCRIPTOR-SET HOST PORT CALLS MESSAGES
// Prints the connections after the calls that were made at once, and the growth of the memory by the messages, in MB.
import Glibc
import RPCurlClient

/// The lines of a file of /proc.
func lines(_ path: String) -> [Substring] {
  guard let file = fopen(path, "r") else { return [] }
  defer { fclose(file) }
  var text = [UInt8](repeating: 0, count: 1 << 20)
  let count = fread(&text, 1, text.count, file)
  return String(decoding: text[..<count], as: UTF8.self).split(separator: "\n")
}

/// The number of established connections of this machine to a port.
func connections(to port: Int) -> Int {
  let suffix =
    ":" + String(repeating: "0", count: 4 - String(port, radix: 16).count)
    + String(port, radix: 16, uppercase: true)
  return lines("/proc/self/net/tcp").count { line in
    let columns = line.split(separator: " ")
    return columns.count > 3 && columns[2].hasSuffix(suffix) && columns[3] == "01"
  }
}

/// The highest memory of the process so far, in MB.
func peakMegabytes() -> Int {
  let line = lines("/proc/self/status").first { $0.hasPrefix("VmHWM:") }
  return (line?.split(separator: " ").compactMap { Int($0) }.first ?? 0) / 1024
}

let arguments = CommandLine.arguments
guard arguments.count == 6, let port = Int(arguments[3]), let calls = Int(arguments[4]),
  let messages = Int(arguments[5])
else { exit(2) }
var options = ClientOptions()
options.maxConnections = 1
options.allowsOldLibcurl = true
let schema = try Schema(descriptorSet: arguments[1])
try await withRPCClient("http://\(arguments[2]):\(port)", schema: schema, options: options) { client in
  let names = try await withThrowingTaskGroup(of: String.self) { group in
    for number in 0..<calls {
      group.addTask {
        try await client.unary("demo.v1.Demo/Hello", ["name": "\(number)"]).message["name"] as String
      }
    }
    var names: Set<String> = []
    for try await name in group { names.insert(name) }
    return names
  }
  print("\(names.count) calls, \(connections(to: port)) connections")

  let before = peakMegabytes()
  var next = 1
  for try await item in try await client.serverStreaming("demo.v1.Demo/Count", ["from": 1, "to": messages]) {
    guard try item["number"] as Int == next else { break }
    next += 1
  }
  print("\(next - 1) messages, \(peakMegabytes() - before) MB")
}
