import RPCurlChain
import RPCurlCPlugins
import RPCurlProtocols

// The status at the end of a call, and its details.
extension HostFunctions {
  func setStatus(_ token: rpcurl_token, _ code: Int32, _ message: rpcurl_text) throws {
    var new = try error(code, message)
    try withEnd(token) { end in
      if let old = end.error, old.code == new?.code { new?.details = old.details }
      end.error = new
    }
  }

  // MARK: - Details

  func detailAdd(_ token: rpcurl_token, _ detail: UnsafePointer<rpcurl_detail>?) throws {
    let new = try Self.details(detail, 1)
    try withEnd(token) { end in
      guard end.error != nil else { throw ABIFailure(RPCURL_ENOENT, "the status ok has no details") }
      end.error?.details += new
    }
  }

  func detailsClear(_ token: rpcurl_token) throws -> Int {
    try withEnd(token) { end in
      let count = end.error?.details.count ?? 0
      end.error?.details = []
      return count
    }
  }

  /// Copies details from a plugin.
  static func details(
    _ details: UnsafePointer<rpcurl_detail>?, _ count: Int
  ) throws(ABIFailure) -> [StatusDetail] {
    var found: [StatusDetail] = []
    for detail in try elements(details, count, "details") {
      let name = try detail.type_name.string()
      guard !name.isEmpty, !name.contains("/") else {
        throw .invalid("\"\(name)\" is not a full type name")
      }
      found.append(StatusDetail(typeName: name, value: try detail.value.bytes()))
    }
    return found
  }

  private func withEnd<Result>(
    _ token: rpcurl_token, _ body: (inout ResponseEnd) throws -> Result
  ) throws -> Result {
    try value(token) { value, _ in
      guard case .responseEnd(var end) = value else { throw ABIFailure.wrongStage() }
      // Keeps one reference to the storage, so that a change does not copy it.
      value = .requestEnd
      defer { value = .responseEnd(end) }
      return try body(&end)
    }
  }
}

extension rpcurl_status {
  init?(_ value: CallEvent<MessageValue>, _ arena: Arena) {
    guard case .responseEnd(let end) = value else { return nil }
    self.init(end, arena)
  }
}

extension rpcurl_detail {
  init(_ detail: StatusDetail, _ arena: Arena) {
    self.init(
      struct_size: MemoryLayout<rpcurl_detail>.size, type_name: arena.text(detail.typeName),
      value: arena.text(detail.value))
  }
}
