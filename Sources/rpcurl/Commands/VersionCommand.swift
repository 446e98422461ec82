import ArgumentParser
import RPCClient
import RPCProtocols
import Transport

/// `rpcurl version`: what this is, and what the libraries found can do.
struct VersionCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "version", abstract: "Print the version, and what the libraries found here can do.",
    usage: "rpcurl version [OPTIONS]")

  @OptionGroup(title: "Errors") var diagnostics: DiagnosticOptions

  func run() throws {
    var lines = ["rpcurl \(Version.current)"]
    do {
      let library = try TransportLibrary()
      lines.append(library.version)
      lines.append("HTTP: \(library.httpVersions.joined(separator: ", "))")
      lines.append("features: \(library.features.joined(separator: ", "))")
    } catch {
      lines.append("no libcurl: \(error.message)")
    }
    let compressions =
      [Compression.identity] + Compression.readable.filter { $0.whyUnwritable == nil }.map(\.rawValue)
    lines.append("compression: \(compressions.joined(separator: ", "))")
    StandardOutput.write(Array((lines.joined(separator: "\n") + "\n").utf8))
    StandardOutput.flush()
  }
}
