@testable import RPCurlProtobuf

extension Fuzz {
  static func canonical(_ type: MessageType, _ bytes: [UInt8]) -> [UInt8]? {
    bytes.withUnsafeBytes { bytes in
      var out = OutputBuffer()
      return (try? CanonicalWriter.rewrite(bytes, type: type.node, into: &out)).map { _ in out.copyBytes() }
    }
  }
}

/// Decodes bytes, directly to JSON and by way of a message.
func fuzzBinary(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  guard let (type, bytes) = Fuzz.split(start, count) else { return 0 }
  let transcoder = JSONTranscoder(type)
  let result = Fuzz.bounded("binary to JSON", bytes, outputBytes: { $0?.count ?? 0 }) {
    var json: [UInt8] = []
    return (try? transcoder.transcode(serialized: bytes, into: &json)).map { json }
  }
  let isDirect = result != nil
  let direct = result ?? []
  if let message = Fuzz.bounded("binary into a message", bytes, { try? Message(type, serialized: bytes) }) {
    let json = try? message.json()
    Fuzz.require(isDirect == (json != nil), "the direct way to JSON fails where the other one does", bytes)
    if let json { Fuzz.require(json == direct, "both ways to JSON agree", json, direct) }
    Fuzz.check(message)
    let canonical = Fuzz.bounded("binary into the canonical form", bytes) { Fuzz.canonical(type, bytes) }
    Fuzz.require(
      canonical == message.serialized(), "both ways to the canonical form agree", bytes, canonical ?? [])
  } else {
    Fuzz.require(Fuzz.canonical(type, bytes) == nil, "what is no message has no canonical form", bytes)
    Fuzz.require(!isDirect, "what is no message has no JSON", bytes, direct)
  }
  Fuzz.checkPieces(type, ConversionOptions(from: .binary, to: .json, isDelimited: true), bytes)
  return 0
}
