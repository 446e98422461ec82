import RPCurlLanguage
import RPCurlProtobuf

extension StatusDetail {
  /// Reads a detail from JSON with an `@type`, like `google.protobuf.Any`.
  ///
  /// - Parameters:
  ///   - json: The detail.
  ///   - type: A type whose schema defines the detail's type; `nil` for the well-known types only.
  package init(_ json: JSONValue, schemaOf type: MessageType?) throws(LanguageError) {
    do {
      guard let any = try type?.relative(named: Self.any) ?? Self.wellKnown.messageType(named: Self.any)
      else {
        throw LanguageError("the schema has no \(Self.any)")
      }
      let message = try Message(any, json: Array(json.text.utf8))
      guard case .string(let url)? = try message.value(at: FieldPath("type_url")), !url.isEmpty,
        let content = try any.field(named: "value").map(message.contents)
      else { throw LanguageError("a detail requires \"@type\"") }
      let bytes = if case .value(.bytes(let bytes)) = content { bytes } else { [UInt8]() }
      self.init(typeName: AnyOutline.typeName(url), value: bytes)
    } catch let error as LanguageError {
      throw error
    } catch let error as MessageParseError {
      throw LanguageError(error.withoutPlace)
    } catch {
      throw LanguageError("\(error)")
    }
  }

  private static let any = "google.protobuf.Any"

  private static let wellKnown: DescriptorPool = {
    let pool = DescriptorPool()
    // A built-in set. If it fails, details without a schema are reported as unknown types.
    try? pool.add(WellKnownSchemas.set, source: WellKnownSchemas.sourceName)
    return pool
  }()
}
