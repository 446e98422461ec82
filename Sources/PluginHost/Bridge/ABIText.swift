import RPCurlChain
import RPCurlCPlugins

/// The failure of a host function, as it is reported to the plugin.
struct ABIFailure: Error {
  let code: Int32
  let text: String

  init(_ code: Int32, _ text: String) {
    self.code = code
    self.text = text
  }

  static func invalid(_ what: String) -> ABIFailure { ABIFailure(RPCURL_EINVAL, what) }

  static func wrongStage(_ stage: Stage? = nil) -> ABIFailure {
    ABIFailure(RPCURL_ESTAGE, "not available at \(stage?.description ?? "this stage")")
  }
}

extension Optional {
  /// The value; without one, throws RPCURL_ENOENT.
  func required(_ failure: @autoclosure () -> String) throws(ABIFailure) -> Wrapped {
    guard let self else { throw ABIFailure(RPCURL_ENOENT, failure()) }
    return self
  }
}

extension rpcurl_text {
  /// The bytes; empty for null.
  func bytes() throws(ABIFailure) -> [UInt8] {
    guard size != 0 else { return [] }
    // A size above INT64_MAX is imported as a negative number.
    guard size > 0 else { throw ABIFailure(RPCURL_EINVAL, "a text is larger than memory") }
    guard let data else { throw ABIFailure(RPCURL_EINVAL, "a text with null data has a nonzero size") }
    return [UInt8](UnsafeRawBufferPointer(start: data, count: Int(size)))
  }

  /// The text, which must be UTF-8.
  func string() throws(ABIFailure) -> String {
    guard let text = String(validating: try bytes(), as: UTF8.self) else {
      throw ABIFailure(RPCURL_EINVAL, "a text is not UTF-8")
    }
    return text
  }

  /// The text for display, with invalid UTF-8 replaced.
  var lossyString: String {
    guard let bytes = try? bytes() else { return "" }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// Memory for data that plugins receive pointers to: it does not move until the arena is released.
final class Arena {
  private var blocks: [UnsafeMutableRawPointer] = []

  func text(_ string: String) -> rpcurl_text {
    var string = string
    return string.withUTF8 { copy(UnsafeRawBufferPointer($0)) }
  }

  func text(_ bytes: [UInt8]) -> rpcurl_text {
    bytes.withUnsafeBytes { copy($0) }
  }

  /// Copies plain structures to consecutive memory.
  func array<Element: BitwiseCopyable>(_ elements: [Element]) -> UnsafePointer<Element> {
    let block = allocate(byteCount: elements.count * MemoryLayout<Element>.stride)
      .bindMemory(to: Element.self, capacity: elements.count)
    for (index, element) in elements.enumerated() { (block + index).initialize(to: element) }
    return UnsafePointer(block)
  }

  private func copy(_ bytes: UnsafeRawBufferPointer) -> rpcurl_text {
    // A terminating zero helps plugins that print the text as a C string.
    let block = allocate(byteCount: bytes.count + 1)
    block.copyMemory(from: bytes.baseAddress ?? UnsafeRawPointer(block), byteCount: bytes.count)
    block.storeBytes(of: 0, toByteOffset: bytes.count, as: UInt8.self)
    return rpcurl_text(data: UnsafePointer(block.assumingMemoryBound(to: CChar.self)), size: bytes.count)
  }

  private static let headBytes = 16

  /// Allocates memory after a head of zeros: if a plugin frees it by mistake, the C library stops it within
  /// the callback at fault.
  private func allocate(byteCount: Int) -> UnsafeMutableRawPointer {
    let block = UnsafeMutableRawPointer.allocate(byteCount: Self.headBytes + byteCount, alignment: 16)
    block.initializeMemory(as: UInt8.self, repeating: 0, count: Self.headBytes)
    blocks.append(block)
    return block + Self.headBytes
  }

  deinit {
    for block in blocks { block.deallocate() }
  }
}
