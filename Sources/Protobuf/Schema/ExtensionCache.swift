import Synchronization

/// The extensions of a message type found so far: a list that grows at its head, read without a lock.
///
/// Finding an extension in the pool takes a lock and a dictionary.
final class ExtensionCache: Sendable {
  private struct Node {
    let field: FieldPointer
    let next: UnsafePointer<Node>?
    let length: Int
  }

  /// A longer list would be slower than the pool.
  private static let limit = 32

  private let head = Atomic<UInt>(0)

  private var first: UnsafePointer<Node>? { UnsafePointer(bitPattern: head.load(ordering: .acquiring)) }

  deinit {
    var node = first
    while let current = node {
      node = current.pointee.next
      current.deallocate()
    }
  }

  func find(_ number: UInt32) -> FieldPointer? {
    var node = first
    while let current = node {
      if current.pointee.field.pointee.number == number { return current.pointee.field }
      node = current.pointee.next
    }
    return nil
  }

  /// Finds an extension by its name in brackets.
  func find(named name: UnsafeRawBufferPointer) -> FieldPointer? {
    var node = first
    while let current = node {
      if sameBytes(current.pointee.field.pointee.jsonKey.name, name) { return current.pointee.field }
      node = current.pointee.next
    }
    return nil
  }

  /// Adds an extension, which must live as long as this object; two threads may add the same one.
  func add(_ field: FieldPointer) {
    let node = UnsafeMutablePointer<Node>.allocate(capacity: 1)
    while true {
      let next = first
      let length = (next?.pointee.length ?? 0) + 1
      guard length <= ExtensionCache.limit else { return node.deallocate() }
      node.initialize(to: Node(field: field, next: next, length: length))
      let (isStored, _) = head.compareExchange(
        expected: UInt(bitPattern: next), desired: UInt(bitPattern: node), ordering: .acquiringAndReleasing)
      if isStored { return }
    }
  }
}
