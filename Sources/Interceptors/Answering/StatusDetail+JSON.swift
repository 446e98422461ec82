import Protobuf
import RPCProtocols

extension StatusDetail {
  /// Reads a detail from JSON with an `@type`, as `google.protobuf.Any` has it.
  ///
  /// - Parameters:
  ///   - json: The detail.
  ///   - type: A type of the schema that knows the detail's; `nil` for the well-known ones.
  init(_ json: JSONValue, schemaOf type: MessageType?) throws(FormatError) {
    do {
      guard let any = try type?.relative(named: Self.any) ?? Self.wellKnown.messageType(named: Self.any)
      else {
        throw FormatError(reason: "the schema does not know \(Self.any)")
      }
      let message = try Message(any, json: Array(json.text.utf8))
      guard case .string(let url)? = try message.value(at: FieldPath("type_url")),
        case .bytes(let bytes)? = try message.value(at: FieldPath("value")), !url.isEmpty
      else { throw FormatError(reason: "a detail needs “@type”") }
      let name = url.lastIndex(of: "/").map { url[url.index(after: $0)...] } ?? url[...]
      self.init(typeName: String(name), value: bytes)
    } catch let error as FormatError {
      throw error
    } catch let error as JSONError {
      throw FormatError(reason: error.withoutPlace)
    } catch {
      throw FormatError(reason: "\(error)")
    }
  }

  private static let any = "google.protobuf.Any"

  private static let wellKnown: DescriptorPool = {
    let pool = DescriptorPool()
    // A set that is part of the program; without it, details of a call without a schema are told to be unknown.
    try? pool.add(WellKnownSchemas.set, source: WellKnownSchemas.sourceName)
    return pool
  }()
}
