import RPCurlBase
import RPCurlCall
import RPCurlEngine
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlTransport

/// `rpcurl version`: prints the version of rpcurl and the features of libcurl and the compression libraries.
struct VersionCommand {
  private let format: SchemaFormat

  init(_ invocation: Invocation) {
    format = invocation.choice(.textFormat) ?? .text
  }

  func run(on output: StandardOutput) {
    let library = Result { () throws(TransportError) in try TransportLibrary() }
    let compressions =
      [Compression.identity] + Compression.allCases.filter(\.isWritable).map(\.rawValue)
    let text =
      switch format {
      case .text: Self.text(library, compressions)
      case .json: Self.json(library, compressions)
      }
    output.print(text + "\n")
  }

  private static func text(
    _ library: Result<TransportLibrary, TransportError>, _ compressions: [String]
  ) -> String {
    var lines = ["rpcurl \(Version.current)"]
    switch library {
    case .success(let library):
      let source =
        switch library.source {
        case .builtIn: "built in"
        case .system: "the system's"
        case .named(let path): "\(path) (RPCURL_LIBCURL)"
        }
      lines += [
        library.version, "HTTP: \(library.httpVersions.joined(separator: ", "))",
        "features: \(library.features.joined(separator: ", "))",
        "libcurl: \(TerminalText.escape(source))",
      ]
    case .failure(let error):
      lines.append("libcurl: not available: \(TerminalText.escape(error.message))")
    }
    lines.append("compression: \(compressions.joined(separator: ", "))")
    return lines.joined(separator: "\n")
  }

  private static func json(
    _ library: Result<TransportLibrary, TransportError>, _ compressions: [String]
  ) -> String {
    var libcurl = JSONObject()
    switch TransportLibrary.Source.current {
    case .builtIn: libcurl.add("source", "built-in")
    case .system: libcurl.add("source", "system")
    case .named(let path):
      libcurl.add("source", "named")
      libcurl.add("path", path)
    }
    switch library {
    case .success(let library):
      libcurl.add("version", library.number)
      libcurl.add("libraries", library.version)
      libcurl.add("httpVersions", raw: array(library.httpVersions))
      libcurl.add("features", raw: array(library.features))
    case .failure(let error):
      libcurl.add("error", error.message)
    }
    var object = JSONObject()
    object.add("version", Version.current)
    object.add("libcurl", raw: libcurl.object)
    object.add("compressions", raw: array(compressions))
    return object.object
  }

  private static func array(_ values: [String]) -> String {
    "[\(values.map { JSONValue.quoted($0) }.joined(separator: ","))]"
  }
}
