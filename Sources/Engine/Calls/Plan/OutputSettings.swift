import RPCurlProgram
import RPCurlProtobuf

/// How a call is shown. A session can change it while a call is open.
package struct OutputSettings {
  package let format: OutputFormat
  package let jsonEncoding: JSONEncodingOptions
  /// Whether unknown fields are part of text and binary output.
  package let unknownFields: UnknownFields
  /// The number of `-v`: 1 prints metadata, 2 also connections and message sizes.
  package let verbosity: Int
  package let showsSecrets: Bool
  package let showsTiming: Bool
  /// Whether JSON is coloured.
  package let usesColor: Bool

  /// Reads the options.
  ///
  /// - Parameters:
  ///   - options: The options of the call.
  ///   - isTerminal: Whether the response is printed on a terminal.
  ///   - environment: Returns the value of an environment variable.
  /// - Throws: `Failure` if an option is invalid.
  init(
    _ options: Invocation, isTerminal: Bool, _ environment: @escaping (String) -> String?
  ) throws(Failure) {
    format = try options.format(isTerminal: isTerminal)
    jsonEncoding = options.jsonEncoding
    unknownFields = options.choice(.unknownFields) ?? .show
    verbosity = options.verbosity
    showsSecrets = options.has(.showSecrets)
    showsTiming = options.has(.timing)
    usesColor = options.colors(isTerminal: isTerminal, environment).areOn
  }
}
