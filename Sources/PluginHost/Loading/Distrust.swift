import RPCurlPlatform

extension FileFacts {
  /// Why users other than root and this one could change it; `nil` if they could not.
  ///
  /// In a sticky directory such as /tmp, others can create files but not replace this user's.
  var distrust: Distrust? {
    if owner != 0 && owner != geteuid() { return .owner(owner) }
    // A link's permissions have no effect: only its owner and its directory decide where it leads.
    if kind == .link || isDirectory && isSticky { return nil }
    if permissions & S_IWOTH != 0 { return .everybody }
    if permissions & S_IWGRP != 0 { return .group }
    return nil
  }
}

/// Why other users may control a file, a directory or a link.
package enum Distrust: Sendable, Equatable {
  /// Its owner is a user other than root and this one.
  case owner(UInt32)
  /// It is writable by everyone.
  case everybody
  /// It is writable by its group.
  case group

  /// The reason, as a phrase after the file's name.
  var words: String {
    switch self {
    case .owner(let owner): "belongs to another user (\(owner))"
    case .everybody: "is writable by everyone"
    case .group: "is writable by its group"
    }
  }
}

/// The message for `errno`, such as `no such file or directory`.
func currentError() -> String {
  let text = String(cString: strerror(errno))
  return text.prefix(1).lowercased() + text.dropFirst()
}
