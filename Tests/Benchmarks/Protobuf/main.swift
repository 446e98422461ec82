// Measures the codec of the Protobuf target. scripts/bench-protobuf runs it and compares.
//
//   generate DIRECTORY                                    makes the schema and the workloads
//   to-json SCHEMA TYPE INPUT OUTPUT [PASSES] [delimited]     serialized messages to JSON
//   from-json SCHEMA TYPE INPUT OUTPUT [PASSES] [delimited]   and back
//   convert SCHEMA TYPE INPUT OUTPUT PASSES FROM TO       a message from a format (json, text, binary) to another
//   open SET SERVICE METHOD                               opens a set and resolves a method
//
// Each pass's time in milliseconds is printed on a line of its own. With PASSES 0 nothing is measured and the
// result is written to OUTPUT.

import RPCurlPlatform
import RPCurlProtobuf

/// A workload: its messages one after the other, where `delimited` each with its length or on its line.
struct Workload {
  let transcoder: JSONTranscoder
  let input: UnsafeRawBufferPointer
  let isDelimited: Bool

  func toJSON(_ out: inout OutputBuffer) throws {
    guard isDelimited else {
      return try transcode(input) { try transcoder.transcode(serialized: $0, into: &out) }
    }
    var position = 0
    while position < input.count {
      var length = 0
      var shift = 0
      var byte: UInt8
      repeat {
        byte = input[position]
        position += 1
        length |= Int(byte & 0x7f) << shift
        shift += 7
      } while byte >= 0x80
      let message = UnsafeRawBufferPointer(rebasing: input[position..<position + length])
      try transcode(message) { try transcoder.transcode(serialized: $0, into: &out) }
      out.append(10)
      position += length
    }
  }

  func fromJSON(_ out: inout OutputBuffer) throws {
    guard isDelimited else { return try transcode(input) { try transcoder.transcode(json: $0, into: &out) } }
    var position = 0
    var message = OutputBuffer()
    while position < input.count, let start = input.baseAddress {
      let end = memchr(start + position, 10, input.count - position).map { UnsafeRawPointer($0) - start }
      let line = UnsafeRawBufferPointer(rebasing: input[position..<(end ?? input.count)])
      message.removeAll()
      try transcode(line) { try transcoder.transcode(json: $0, into: &message) }
      var length = message.count
      while length >= 0x80 {
        out.append(UInt8(truncatingIfNeeded: length) | 0x80)
        length >>= 7
      }
      out.append(UInt8(length))
      message.withBytes { out.append($0) }
      position += line.count + 1
    }
  }

  private func transcode(_ bytes: UnsafeRawBufferPointer, _ body: (RawSpan) throws -> Void) throws {
    try body(bytes.bytes)
  }
}

func transcode(_ arguments: [String], toJSON: Bool) throws {
  let set = try Files.map(arguments[0])
  let pool = DescriptorPool()
  try pool.add(SchemaBytes(owning: set) { _ in }, source: arguments[0])
  guard let type = try pool.messageType(named: arguments[1]) else {
    throw Failure(what: "no \(arguments[1])")
  }
  let workload = Workload(
    transcoder: JSONTranscoder(type), input: try Files.map(arguments[2]),
    isDelimited: arguments.contains("delimited"))
  let passes = arguments.count > 4 ? Int(arguments[4]) ?? 0 : 0
  var out = OutputBuffer()
  for _ in 0..<max(passes, 1) {
    out.removeAll()
    let start = ContinuousClock.now
    if toJSON { try workload.toJSON(&out) } else { try workload.fromJSON(&out) }
    if passes > 0 { print((ContinuousClock.now - start) / .milliseconds(1)) }
  }
  if passes == 0 { try out.withBytes { try Files.write(arguments[3], $0) } }
}

func convert(_ arguments: [String]) throws {
  let pool = DescriptorPool()
  try pool.add(SchemaBytes(owning: try Files.map(arguments[0])) { _ in }, source: arguments[0])
  guard let type = try pool.messageType(named: arguments[1]), let passes = Int(arguments[4]),
    let from = MessageFormat(rawValue: arguments[5]), let to = MessageFormat(rawValue: arguments[6])
  else { throw Failure(what: "no such type, number or format") }
  let input = try Files.map(arguments[2])
  var out = OutputBuffer()
  for _ in 0..<max(passes, 1) {
    out.removeAll()
    let start = ContinuousClock.now
    var converter = Converter(type, options: ConversionOptions(from: from, to: to))
    try converter.finish(with: input.bytes, into: &out)
    if passes > 0 { print((ContinuousClock.now - start) / .milliseconds(1)) }
  }
  if passes == 0 { try out.withBytes { try Files.write(arguments[3], $0) } }
}

func openSet(_ arguments: [String]) throws {
  let before = memory("RssAnon")
  let start = ContinuousClock.now
  let set = try Files.map(arguments[0])
  let pool = DescriptorPool()
  try pool.add(SchemaBytes(owning: set) { _ in }, source: arguments[0])
  guard let method = try pool.method(service: arguments[1], method: arguments[2]) else {
    throw Failure(what: "no \(arguments[1])/\(arguments[2])")
  }
  let elapsed = (ContinuousClock.now - start) / .milliseconds(1)
  // Time, memory of the pool, and the highest that the process had beyond mapped files.
  let resident = memory("RssAnon") - before
  print("\(elapsed) \(resident) \(memory("VmHWM") - memory("RssFile")) \(method.input.name)")
}

func generate(_ directory: String) throws {
  try (Base64.decode(BenchmarkSchema.encoded) ?? []).withUnsafeBytes {
    try Files.write(directory + "/bench.binpb", $0)
  }
  try Workloads.small(count: 1_000_000).withUnsafeBytes { try Files.write(directory + "/small.bin", $0) }
  try Workloads.rows(bytes: 10_000_000).withUnsafeBytes { try Files.write(directory + "/rows.bin", $0) }
}

let arguments = CommandLine.arguments.dropFirst()
switch (arguments.first, arguments.count) {
case ("generate", 2): try generate(Array(arguments)[1])
case ("to-json", 5...): try transcode(Array(arguments.dropFirst()), toJSON: true)
case ("from-json", 5...): try transcode(Array(arguments.dropFirst()), toJSON: false)
case ("convert", 8): try convert(Array(arguments.dropFirst()))
case ("open", 4): try openSet(Array(arguments.dropFirst()))
default:
  print("usage: see the head of Tests/Benchmarks/Protobuf/main.swift")
  exit(2)
}
