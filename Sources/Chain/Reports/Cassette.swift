/// The file format of cassettes: one JSON object per line.
///
/// The first line is `{"cassette":"rpcurl","version":1}`. Each other line is an event of a call, in
/// chronological order; numbers identify concurrent calls.
package enum Cassette {
  /// The version of the format.
  package static let version = 1
  /// The first line, without its line feed. A cassette without calls has only this.
  package static let firstLine = #"{"cassette":"rpcurl","version":1}"#
}
