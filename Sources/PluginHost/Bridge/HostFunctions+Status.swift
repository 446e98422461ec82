import CPluginABI
import Interception
import RPCProtocols

// The status at the end of a call, and its details.
extension HostFunctions {
  static func getStatus(
    _ host: Host?, _ token: rpcurl_token, _ status: UnsafeMutablePointer<rpcurl_status>?
  ) -> Int32 {
    fill(host, token, status) { value, arena in
      if case .responseEnd(let end) = value { rpcurl_status(end, arena) } else { nil }
    }
  }

  static func setStatus(
    _ host: Host?, _ token: rpcurl_token, _ code: Int32, _ message: rpcurl_text
  ) -> Int32 {
    call(host) { instance throws(ABIFailure) in
      var new = try error(code, message, instance)
      try withEnd(instance, token) { end in
        if let old = end.error, old.code == new?.code { new?.details = old.details }
        end.error = new
      }
    }
  }

  // MARK: - Details

  static func detailAdd(
    _ host: Host?, _ token: rpcurl_token, _ detail: UnsafePointer<rpcurl_detail>?
  ) -> Int32 {
    call(host) { instance throws(ABIFailure) in
      let new = try details(detail, 1)
      try withEnd(instance, token) { end throws(ABIFailure) in
        guard end.error != nil else { throw ABIFailure(RPCURL_ENOENT, "the status ok has no details") }
        end.error?.details += new
      }
    }
  }

  static func detailsClear(_ host: Host?, _ token: rpcurl_token) -> Int64 {
    count(host) { instance throws(ABIFailure) in
      try withEnd(instance, token) { end in
        let count = end.error?.details.count ?? 0
        end.error?.details = []
        return count
      }
    }
  }

  /// Copies details from a plugin.
  static func details(
    _ details: UnsafePointer<rpcurl_detail>?, _ count: Int
  ) throws(ABIFailure) -> [StatusDetail] {
    var found: [StatusDetail] = []
    for detail in try elements(details, count, "details") {
      let name = try detail.type_name.string()
      guard !name.isEmpty, !name.contains("/") else { throw invalid("\"\(name)\" is not a full type name") }
      found.append(StatusDetail(typeName: name, value: try detail.value.bytes()))
    }
    return found
  }

  private static func withEnd<Result>(
    _ instance: PluginInstance, _ token: rpcurl_token,
    _ body: (inout ResponseEnd) throws(ABIFailure) -> Result
  ) throws(ABIFailure) -> Result {
    try value(instance, token) { value, _ throws(ABIFailure) in
      guard case .responseEnd(var end) = value else { throw wrongStage() }
      // Keeps one reference to the storage, so that a change does not copy it.
      value = .requestEnd
      defer { value = .responseEnd(end) }
      return try body(&end)
    }
  }
}

extension rpcurl_detail {
  init(_ detail: StatusDetail, _ arena: Arena) {
    self.init(
      struct_size: MemoryLayout<rpcurl_detail>.size, type_name: arena.text(detail.typeName),
      value: arena.text(detail.value))
  }
}
