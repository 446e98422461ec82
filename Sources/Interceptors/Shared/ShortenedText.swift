extension String {
  /// The text, cut to a readable length.
  var shortened: String {
    let limit = 300
    return count > limit ? "\(prefix(limit))… (\(utf8.count) bytes)" : self
  }
}
