/// Immutable bytes of a schema at a fixed address: a mapped file, or a copy of an array. `[any thread]`
public final class SchemaBytes: @unchecked Sendable {
  /// The bytes; valid as long as this object.
  package let bytes: UnsafeRawBufferPointer
  private let release: (UnsafeRawBufferPointer) -> Void

  /// Takes ownership of memory that must not change until `release` is called with it.
  package init(
    owning bytes: UnsafeRawBufferPointer, release: @escaping @Sendable (UnsafeRawBufferPointer) -> Void
  ) {
    self.bytes = bytes
    self.release = release
  }

  /// Keeps `bytes`: the storage of an array stays where it is while nothing changes it.
  ///
  /// - Parameter bytes: A serialized `FileDescriptorSet`.
  public convenience init(_ bytes: [UInt8]) {
    self.init(owning: bytes.withUnsafeBytes { $0 }) { _ in withExtendedLifetime(bytes) {} }
  }

  /// The first `count` bytes of `whole`, which is retained.
  package convenience init(_ whole: SchemaBytes, count: Int) {
    self.init(owning: UnsafeRawBufferPointer(rebasing: whole.bytes.prefix(count))) { _ in
      withExtendedLifetime(whole) {}
    }
  }

  deinit { release(bytes) }
}
