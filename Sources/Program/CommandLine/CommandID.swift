/// The commands, in the order of their definitions in `CommandTable`.
package enum CommandID: UInt8, CaseIterable, Sendable {
  case call, session, run, list, describe, template, export, convert, health, check
  case pluginsList, pluginsCheck, pluginsNew
  case version
  case trust
  case diff, load, test, completion
  case proxy, serve
}

/// A set of commands.
package struct CommandSet: OptionSet, Sendable {
  /// A bit for each command.
  package let rawValue: UInt32

  /// A set of the commands whose bits are set.
  package init(rawValue: UInt32) { self.rawValue = rawValue }

  /// The set of one command.
  package init(_ id: CommandID) { rawValue = 1 << UInt32(id.rawValue) }

  static var call: CommandSet { CommandSet(rawValue: 0x001) }
  static var list: CommandSet { CommandSet(rawValue: 0x008) }
  static var template: CommandSet { CommandSet(rawValue: 0x020) }
  static var export: CommandSet { CommandSet(rawValue: 0x040) }
  static var convert: CommandSet { CommandSet(rawValue: 0x080) }
  static var health: CommandSet { CommandSet(rawValue: 0x100) }
  static var pluginsCheck: CommandSet { CommandSet(rawValue: 0x800) }
  static var pluginsNew: CommandSet { CommandSet(rawValue: 0x1000) }
  static var trust: CommandSet { CommandSet(rawValue: 0x4000) }
  static var diff: CommandSet { CommandSet(rawValue: 0x8000) }
  static var load: CommandSet { CommandSet(rawValue: 0x10000) }
  static var test: CommandSet { CommandSet(rawValue: 0x20000) }
  /// `load` and `test`.
  static var loadAndTest: CommandSet { CommandSet(rawValue: 0x30000) }
  /// `call`, `session` and `run`.
  static var calls: CommandSet { CommandSet(rawValue: 0x007) }
  /// The commands whose calls pass a chain: `calls`, `load`, `test` and `listening`.
  static var callers: CommandSet { CommandSet(rawValue: 0x1B0007) }
  /// `calls`, `load` and `test`.
  static var callsLoadAndTest: CommandSet { CommandSet(rawValue: 0x30007) }
  /// `calls`, `load`, `test` and `convert`.
  static var callersAndConvert: CommandSet { CommandSet(rawValue: 0x30087) }
  /// `calls`, `load` and `listening`.
  static var callsLoadAndListening: CommandSet { CommandSet(rawValue: 0x190007) }
  /// `calls` and `listening`.
  static var callsAndListening: CommandSet { CommandSet(rawValue: 0x180007) }
  /// The commands that wait for a server: `calls`, `health`, `load` and `test`.
  static var waiting: CommandSet { CommandSet(rawValue: 0x30107) }
  /// `call`, `run` and `test`.
  static var callRunAndTest: CommandSet { CommandSet(rawValue: 0x20005) }
  /// `call` and `load`.
  static var callAndLoad: CommandSet { CommandSet(rawValue: 0x10001) }
  /// `call` and `test`.
  static var callAndTest: CommandSet { CommandSet(rawValue: 0x20001) }
  /// `call`, `load` and `test`.
  static var callLoadAndTest: CommandSet { CommandSet(rawValue: 0x30001) }
  /// `calls`, `convert` and `listening`.
  static var callsAndConvert: CommandSet { CommandSet(rawValue: 0x180087) }
  /// `call` and `convert`.
  static var callAndConvert: CommandSet { CommandSet(rawValue: 0x081) }
  /// `call` and `export`.
  static var callAndExport: CommandSet { CommandSet(rawValue: 0x041) }
  /// `list`, `describe`, `check`, `version` and `plugins list`.
  static var listings: CommandSet { CommandSet(rawValue: 0x2618) }
  /// The commands that connect to a server: `fetching`, `health` and `check`.
  static var remote: CommandSet { CommandSet(rawValue: 0xB83FF) }
  /// `remote` and `serve`.
  static var remoteAndServe: CommandSet { CommandSet(rawValue: 0x1B83FF) }
  static var serve: CommandSet { CommandSet(rawValue: 0x100000) }
  /// `proxy` and `serve`.
  static var listening: CommandSet { CommandSet(rawValue: 0x180000) }
  /// The commands that may ask a server for its schema: `calls`, `load`, `test`, `list`, `describe`, `template`, `export`,
  /// `convert` and `proxy`.
  static var reflecting: CommandSet { CommandSet(rawValue: 0xB00FF) }
  /// The commands that may fetch a schema from a server: `reflecting` and `diff`.
  static var fetching: CommandSet { CommandSet(rawValue: 0xB80FF) }
  /// The commands that use a schema: `reflecting`, `check`, `plugins check` and `serve`.
  static var schemas: CommandSet { CommandSet(rawValue: 0x1B0AFF) }
  /// The commands that compile `.proto` files: `schemas` and `diff`.
  static var compiling: CommandSet { CommandSet(rawValue: 0x1B8AFF) }
  static var all: CommandSet { CommandSet(rawValue: 0x1FFFFF) }
}
