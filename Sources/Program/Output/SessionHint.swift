import RPCurlProtobuf

/// Hints that name commands of sessions in place of options and commands of the command line.
package enum SessionHint {
  private static let forms = [
    ("run \"rpcurl list", "run \"list"),
    ("use http:// in the URL, or --plaintext with HOST:PORT", "write target http://HOST:PORT"),
    ("with --plugin", "with plugin load"), ("write --plugin ", "write plugin load "),
    ("write --script ", "write use script,run="), ("use --use ", "use "), ("use --", "use options --"),
  ]

  /// A hint as it applies to a session.
  package static func of(_ hint: String) -> String {
    forms.reduce(hint) { $0.replacing($1.0, with: $1.1) }
  }
}
