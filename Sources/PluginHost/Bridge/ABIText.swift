import CPluginABI

/// Why a host function refuses, as it is told to the plugin.
struct ABIFailure: Error {
  let code: Int32
  let text: String

  init(_ code: Int32, _ text: String) {
    self.code = code
    self.text = text
  }
}

extension rpcurl_text {
  /// The bytes; what is null is empty.
  func bytes() throws(ABIFailure) -> [UInt8] {
    guard size > 0 else { return [] }
    guard let data, size <= Int.max else { throw ABIFailure(RPCURL_EINVAL, "a text without data has a size") }
    return [UInt8](UnsafeRawBufferPointer(start: data, count: Int(size)))
  }

  /// The text, which must be UTF-8.
  func string() throws(ABIFailure) -> String {
    guard let text = String(validating: try bytes(), as: UTF8.self) else {
      throw ABIFailure(RPCURL_EINVAL, "a text is not UTF-8")
    }
    return text
  }

  /// The text with what is not UTF-8 replaced: for people.
  var lossyString: String {
    guard let bytes = try? bytes() else { return "" }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// Memory that plugins are shown pointers into: it stays where it is until the arena goes.
final class Arena {
  private var blocks: [UnsafeMutableRawPointer] = []

  func text(_ string: String) -> rpcurl_text {
    var string = string
    return string.withUTF8 { copy(UnsafeRawBufferPointer($0)) }
  }

  func text(_ bytes: [UInt8]) -> rpcurl_text {
    bytes.withUnsafeBytes { copy($0) }
  }

  /// Plain structures one after another.
  func array<Element: BitwiseCopyable>(_ elements: [Element]) -> UnsafePointer<Element> {
    let block = allocate(byteCount: elements.count * MemoryLayout<Element>.stride)
      .bindMemory(to: Element.self, capacity: elements.count)
    for (index, element) in elements.enumerated() { (block + index).initialize(to: element) }
    return UnsafePointer(block)
  }

  private func copy(_ bytes: UnsafeRawBufferPointer) -> rpcurl_text {
    // One byte more, a zero, is kind to plugins that print what they are given.
    let block = allocate(byteCount: bytes.count + 1)
    block.copyMemory(from: bytes.baseAddress ?? UnsafeRawPointer(block), byteCount: bytes.count)
    block.storeBytes(of: 0, toByteOffset: bytes.count, as: UInt8.self)
    return rpcurl_text(data: UnsafePointer(block.assumingMemoryBound(to: CChar.self)), size: bytes.count)
  }

  private static let headBytes = 16

  /// Memory behind a head of zeros: a plugin that frees it by mistake is stopped by the C library there and then, in
  /// the callback that is to blame.
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
