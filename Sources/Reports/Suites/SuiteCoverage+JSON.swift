import RPCurlLanguage
import RPCurlProtobuf

extension SuiteCoverage {
  /// Adds the members `methods`, `enums` and `oneofs` to an object: the counts by group and name.
  func add(to object: inout JSONObject) {
    object.add("methods", raw: methods.json)
    object.add("enums", raw: enums.json)
    object.add("oneofs", raw: oneofs.json)
  }

  /// Reads these members.
  init(_ object: EventReader) throws(LanguageError) {
    methods = try object.groups("methods")
    enums = try object.groups("enums")
    oneofs = try object.groups("oneofs")
  }

  /// The document of `--coverage json`: the totals, then the counts.
  var document: String {
    var summary = JSONObject()
    for (noun, share) in shares {
      var object = JSONObject()
      object.add("used", share.used)
      object.add("of", share.of)
      summary.add(noun.replacing(" ", with: "_"), raw: object.object)
    }
    var object = JSONObject()
    object.add("summary", raw: summary.object)
    object.add("statuses", raw: Groups.json(statuses))
    add(to: &object)
    return "\(object.object)\n"
  }
}

extension SuiteCoverage.Groups {
  fileprivate var json: String {
    var object = JSONObject()
    for name in names { object.add(name, raw: Self.json(items[name] ?? [])) }
    return object.object
  }

  fileprivate static func json(_ items: [SuiteCoverage.Item]) -> String {
    var object = JSONObject()
    for item in items { object.add(item.name, item.count) }
    return object.object
  }
}

extension EventReader {
  fileprivate func groups(_ key: String) throws(LanguageError) -> SuiteCoverage.Groups {
    var groups = SuiteCoverage.Groups()
    for (name, object) in try objectIfPresent(key)?.objects() ?? [] {
      groups.add(name)
      for item in try object.counts() { groups.add(item.count, item.name, of: name) }
    }
    return groups
  }
}
