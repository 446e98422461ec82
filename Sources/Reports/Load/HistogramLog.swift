import RPCurlBase
import RPCurlProtobuf

/// A log of HdrHistogram, version 1.3, with one histogram in the compressed format V2. Latencies are in nanoseconds, and
/// the greatest one in the line in milliseconds.
///
/// The format is that of `AbstractHistogram.encodeIntoCompressedByteBuffer` and `HistogramLogWriter` of HdrHistogram.
package enum HistogramLog {
  /// The log of a run.
  package static func text(_ report: LoadReport) -> String {
    let (latencies, run) = (report.statistics.latencies, report.run)
    let begin = Decimal.seconds(.nanoseconds(run.start))
    // A line that begins with # is a comment.
    let facts =
      ["\(report.method) at \(report.target)", report.load] + run.tags.map(\.text)
      + run.command.split(separator: "\n").map(String.init)
    return """
      #[Logged with \(run.version)]
      #[Histogram log format version 1.3]
      #[StartTime: \(begin) (seconds since epoch), \(run.time)]
      \(facts.map { "# \(TerminalText.escape($0))" }.joined(separator: "\n"))
      "StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"
      0.000,\(Decimal.seconds(report.elapsed)),\(Decimal.milliseconds(latencies.max)),\(Base64.encode(compressed(latencies)))

      """
  }

  /// The cookies of the format V2 with classes of variable size.
  private static let cookie: UInt32 = 0x1c84_9313
  private static let compressedCookie: UInt32 = 0x1c84_9314

  private static func compressed(_ latencies: LatencyHistogram) -> [UInt8] {
    let stream = ZlibStream.stored(encoded(latencies))
    var bytes: [UInt8] = []
    append(compressedCookie, to: &bytes)
    append(UInt32(stream.count), to: &bytes)
    return bytes + stream
  }

  private static func encoded(_ latencies: LatencyHistogram) -> [UInt8] {
    var payload: [UInt8] = []
    var zeros = 0
    for count in latencies.classes {
      if count == 0 {
        zeros += 1
        continue
      }
      // A negative number is a number of empty classes; one empty class is a zero.
      if zeros > 0 { append(zigzag: zeros == 1 ? 0 : -Int64(zeros), to: &payload) }
      zeros = 0
      append(zigzag: count, to: &payload)
    }
    var bytes: [UInt8] = []
    append(cookie, to: &bytes)
    append(UInt32(payload.count), to: &bytes)
    append(UInt32(0), to: &bytes)  // the offset of the index
    append(UInt32(LatencyHistogram.significantDigits), to: &bytes)
    append(UInt64(1), to: &bytes)  // the least value that is distinguished from 0
    append(UInt64(LatencyHistogram.limit), to: &bytes)
    append(Double(1).bitPattern, to: &bytes)  // the factor for values that are not integers
    return bytes + payload
  }

  private static func append(_ value: some FixedWidthInteger, to bytes: inout [UInt8]) {
    for shift in stride(from: value.bitWidth - 8, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: value >> shift))
    }
  }

  /// Appends a number as LEB128 of its ZigZag encoding, in at most nine bytes.
  private static func append(zigzag value: Int64, to bytes: inout [UInt8]) {
    var rest = UInt64(bitPattern: value << 1 ^ value >> 63)
    for _ in 0..<8 where rest > 0x7f {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }
}

/// A stream in the zlib format (RFC 1950) of blocks that are not compressed: the histogram is small, and no library has to
/// be loaded.
enum ZlibStream {
  private static let blockBytes = 65_535

  static func stored(_ bytes: [UInt8]) -> [UInt8] {
    var stream: [UInt8] = [0x78, 0x01]
    var start = 0
    repeat {
      let end = min(start + blockBytes, bytes.count)
      let length = UInt16(end - start)
      stream.append(end == bytes.count ? 1 : 0)
      for value in [length, ~length] {
        stream += [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)]
      }
      stream += bytes[start..<end]
      start = end
    } while start < bytes.count
    var (low, high): (UInt32, UInt32) = (1, 0)
    for byte in bytes {
      low = (low + UInt32(byte)) % 65_521
      high = (high + low) % 65_521
    }
    return stream
      + [high, low].flatMap { [UInt8(truncatingIfNeeded: $0 >> 8), UInt8(truncatingIfNeeded: $0)] }
  }
}
