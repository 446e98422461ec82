import RPCurlBase

extension SystemError {
  /// Makes the error of a number of the system.
  package init(number: Int32) {
    self.init(String(cString: strerror(number)), number == ENOENT ? .missing : nil)
  }

  /// The error of `errno`.
  package static var last: SystemError { SystemError(number: errno) }
}
