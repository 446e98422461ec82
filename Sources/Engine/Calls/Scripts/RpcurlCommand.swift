import RPCurlProgram
import RPCurlProtobuf

/// A call as a command of rpcurl, with all settings on the command line.
struct RpcurlCommand {
  private let call: WrittenCall

  /// Variables of the environment with a meaning for libcurl and for plugins.
  private static let variables = [
    "http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY",
    "RPCURL_LIBCURL", "RPCURL_PLUGIN_PATH",
  ]

  init(_ call: WrittenCall) {
    self.call = call
  }

  /// The script.
  ///
  /// - Parameter environment: Returns the value of an environment variable.
  mutating func write(_ environment: (String) -> String?) -> String {
    // The options of a configuration file are part of the command.
    let verb: [ShellText] = call.command == .load ? ["load"] : []
    var script = CallScript(["rpcurl"] + verb + ["--config", "/dev/null"])
    let target = call.settings.target
    for argument in call.arguments where argument.id != .plaintext {
      if argument.text == nil {
        script.add(ShellText(WrittenCall.flag(argument)))
      } else {
        script.add(ShellText(OptionTable[argument.id].name), call.value(argument))
      }
    }
    if !call.isGiven(.protocolName), environment("RPCURL_PROTOCOL")?.isEmpty == false {
      script.add("--protocol", ShellText(call.settings.protocolName.rawValue))
    }
    if target.unixSocket != nil, !call.isTLS { script.add("--plaintext") }
    script.add(ShellText(target.name))
    script.add(ShellText(call.name.service.isEmpty ? call.name.method : "\(call.name)"))
    let set = Self.variables.filter { environment($0)?.isEmpty == false }
    if !set.isEmpty {
      script.add(comment: "Also in use, from the environment: \(set.joined(separator: ", "))")
    }
    return call.finish(script)
  }
}
