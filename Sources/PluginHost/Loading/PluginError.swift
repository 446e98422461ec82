import RPCurlChain
import RPCurlPlatform

/// Why a plugin cannot be used.
package enum PluginError: Error, Sendable, Equatable {
  /// No file with this name is on the search path.
  case notFound(name: String, searched: [String], ignored: [String])
  /// The file cannot be read.
  case unreadable(path: String, reason: String)
  /// A user other than root and this one could have written the plugin: `culprit` is its file or a directory.
  case untrusted(path: String, culprit: String, reason: Distrust)
  /// A user other than root and this one controls a link in the path of the plugin.
  case untrustedLink(path: String, link: String, reason: Distrust)
  /// The file is not a shared object for Linux.
  case notSharedObject(path: String, reason: String)
  /// The file is for another machine.
  case otherMachine(path: String, found: String, expected: String)
  /// The file has no ABI version note, so it is not a plugin.
  case noVersionNote(path: String)
  /// The plugin was built against another major version of the ABI.
  case otherVersion(path: String, plugin: String, host: String)
  /// The plugin requires a later minor version of the ABI.
  case requiresNewerHost(path: String, required: String, host: String)
  /// The dynamic loader rejects the file.
  case notLoadable(path: String, reason: String)
  /// The file changed while it was loaded.
  case replaced(path: String)
  /// The file lacks the entry symbol.
  case noEntry(path: String, symbol: String)
  /// The plugin's description is invalid.
  case malformed(path: String, reason: String)
  /// The plugin must see every stage, and this host has stages that it does not support.
  case wouldNotSeeAll(path: String)
  /// The plugin rejects a key of its configuration.
  case configurationRejected(plugin: String, key: String, reason: String, keys: [String])
  /// A setting that the chain interprets is invalid.
  case commonSetting(plugin: String, ConfigurationError)
  /// The plugin's setup failed.
  case setupFailed(plugin: String, step: String, reason: String)
}

extension PluginError: CustomStringConvertible {
  /// One line with the plugin and the reason.
  package var description: String {
    switch self {
    case .notFound(let name, let searched, _):
      "plugin \(name): not found in \(searched.isEmpty ? "an empty search path" : searched.joined(separator: ", "))"
    case .unreadable(let path, let reason): "plugin \(path): \(reason)"
    case .untrusted(let path, let culprit, let reason):
      culprit == path
        ? "plugin \(path): the file \(reason.words)"
        : "plugin \(path): the directory \(culprit) \(reason.words)"
    case .untrustedLink(let path, let link, let reason): "plugin \(path): the link \(link) \(reason.words)"
    case .notSharedObject(let path, let reason): "plugin \(path): not a shared object: \(reason)"
    case .otherMachine(let path, let found, let expected):
      "plugin \(path): built for \(found), but this is \(expected)"
    case .noVersionNote(let path): "plugin \(path): not an rpcurl plugin: it has no ABI version note"
    case .otherVersion(let path, let plugin, let host):
      "plugin \(path): built against version \(plugin) of the plugin ABI, but this rpcurl has \(host)"
    case .requiresNewerHost(let path, let required, let host):
      "plugin \(path): requires version \(required) of the plugin ABI, but this rpcurl has \(host)"
    case .notLoadable(let path, let reason): "plugin \(path): cannot be loaded: \(reason)"
    case .replaced(let path): "plugin \(path): the file was replaced while it was loaded"
    case .noEntry(let path, let symbol): "plugin \(path): missing symbol \(symbol)"
    case .malformed(let path, let reason): "plugin \(path): \(reason)"
    case .wouldNotSeeAll(let path):
      "plugin \(path): it must see every stage of a call, but this rpcurl has stages that it does not support"
    case .configurationRejected(let plugin, let key, let reason, _): "plugin \(plugin): \(key): \(reason)"
    case .commonSetting(let plugin, let error):
      "plugin \(plugin): \(error.key.map { "\($0): " } ?? "")\(error.reason)"
    case .setupFailed(let plugin, let step, let reason): "plugin \(plugin): \(step) failed: \(reason)"
    }
  }

  /// A suggestion, if there is one.
  package var hint: String? {
    switch self {
    case .notFound(_, _, let ignored) where !ignored.isEmpty:
      "use absolute directories in RPCURL_PLUGIN_PATH: \(ignored.joined(separator: ", ")) is ignored"
    case .notFound: "give the path with a slash, as in ./NAME.so, or add its directory to RPCURL_PLUGIN_PATH"
    case .untrusted(_, let culprit, .owner):
      "if you trust it, become its owner: chown \(geteuid()) '\(culprit)'"
    case .untrusted(_, let culprit, _): "make it writable only by you: chmod go-w '\(culprit)'"
    case .untrustedLink(_, let link, _):
      "if you trust where it leads, become its owner: chown -h \(geteuid()) '\(link)'"
    case .otherMachine, .otherVersion, .wouldNotSeeAll:
      "rebuild the plugin on this machine, against the installed header"
    case .requiresNewerHost: "install a newer rpcurl"
    case .noVersionNote, .noEntry: "the source of a plugin contains RPCURL_PLUGIN(name) once, at file scope"
    case .configurationRejected(let plugin, _, _, let keys):
      keys.isEmpty ? nil : "valid keys of \(plugin): \(keys.joined(separator: ", "))"
    case .commonSetting(_, let error): error.hint
    case .unreadable, .notSharedObject, .notLoadable, .replaced, .malformed, .setupFailed: nil
    }
  }
}
