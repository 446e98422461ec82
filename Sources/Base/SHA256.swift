import RPCurlCSystem

/// The hash function SHA-256 (FIPS 180-4).
package enum SHA256 {
  /// The hash of `bytes` as 64 hexadecimal digits.
  package static func digest(of bytes: [UInt8]) -> String {
    bytes.withUnsafeBytes { digest(of: $0) }
  }

  /// The hash of `content` after `prefix`.
  package static func digest(of content: UnsafeRawBufferPointer, after prefix: [UInt8] = []) -> String {
    let digest = [UInt8](unsafeUninitializedCapacity: 32) { digest, count in
      csystem_sha256(prefix, prefix.count, content.baseAddress, content.count, digest.baseAddress)
      count = 32
    }
    return String(unsafeUninitializedCapacity: 64) { digits in
      for (index, byte) in digest.enumerated() {
        for (place, digit) in [byte >> 4, byte & 15].enumerated() {
          digits[index * 2 + place] = digit + UInt8(ascii: digit < 10 ? "0" : "W")
        }
      }
      return 64
    }
  }
}
