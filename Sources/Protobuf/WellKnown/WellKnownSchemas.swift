/// The schemas that every program may meet without having been given them: the well-known types of
/// `google.protobuf` and the status and error details of `google.rpc`.
///
/// Add them to a pool last, so that what the user's own sources define wins:
/// ```swift
/// try pool.add(WellKnownSchemas.set, source: WellKnownSchemas.sourceName)
/// ```
public enum WellKnownSchemas {
  /// The name under which errors mention the set.
  public static let sourceName = "built-in schemas"

  /// The descriptor set.
  public static let set = SchemaBytes(Base64.decode(Array(encoded.utf8)) ?? [])

  /// The types of options, `google.protobuf.FileOptions` and its like: what is needed to show options by name where no
  /// source holds `google/protobuf/descriptor.proto`.
  public static let optionTypes = SchemaBytes(Base64.decode(Array(encodedOptions.utf8)) ?? [])
}
