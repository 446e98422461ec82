import RPCurlProtobuf

/// The messages that the benchmark makes itself; the same in each run.
enum Workloads {
  /// Small messages, each behind its length as a varint.
  static func small(count: Int) throws -> [UInt8] {
    let transcoder = JSONTranscoder(try type("bench.Small"))
    var random = Random()
    var bytes: [UInt8] = []
    for index in 0..<count {
      let name = "customer-\(random.next() % 1_000_000_000)-\(index % 97)"
      let json = """
        {"id":"\(random.next() >> 16)","name":"\(name)","count":\(index % 10_000),"active":true,\
        "score":\(random.double(digits: 2)),"kind":"KIND_\(index % 2 == 0 ? "FIRST" : "SECOND")"}
        """
      var message: [UInt8] = []
      try transcoder.transcode(json: Array(json.utf8), into: &message)
      bytes.append(UInt8(message.count))
      bytes += message
    }
    return bytes
  }

  /// One message of many rows. Half of the doubles have two decimals, half have as many as there can be.
  static func rows(bytes size: Int) throws -> [UInt8] {
    let transcoder = JSONTranscoder(try type("bench.Table"))
    var random = Random()
    var bytes: [UInt8] = []
    var index = 0
    while bytes.count < size {
      let fraction = random.next() % 1_000_000
      let digit = index % 10
      let nanos = String(fraction + 1_000_000).dropFirst()
      let value = index % 2 == 0 ? random.double(digits: 2) : random.double(digits: 17)
      let json = """
        {"rows":[{"name":"row number \(index)","id":"\(random.next() >> 20)","value":\(value),\
        "tags":["\(random.word())","\(random.word())"],\
        "updated":"20\(10 + index % 15)-0\(1 + index % 9)-1\(digit)T1\(digit):2\(digit):3\(digit).\(nanos)Z"\
        \(index % 3 == 0 ? "" : ",\"active\":true")}]}
        """
      try transcoder.transcode(json: Array(json.utf8), into: &bytes)
      index += 1
    }
    return bytes
  }

  static func type(_ name: String) throws -> MessageType {
    let pool = DescriptorPool()
    guard let set = Base64.decode(BenchmarkSchema.encoded) else {
      throw Failure(what: "the schema is no base64")
    }
    try pool.add(SchemaBytes(set), source: "benchmark")
    guard let type = try pool.messageType(named: name) else { throw Failure(what: "no \(name)") }
    return type
  }
}

struct Failure: Error {
  let what: String
}

/// SplitMix64.
private struct Random {
  var state: UInt64 = 42

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var value = state
    value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
    return value ^ value >> 31
  }

  mutating func double(digits: Int) -> Double {
    let value = Double(next() >> 11) / Double(1 << 53) * 100_000
    return digits >= 17 ? value : (value * 100).rounded() / 100
  }

  mutating func word() -> String {
    let letters = Array("etaoinshrdlu")
    return String((0..<(4 + next() % 8)).map { _ in letters[Int(next() % 12)] })
  }
}
