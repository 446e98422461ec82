import RPCurlEngine
import RPCurlProgram

/// The commands that print a part of the schema.
enum SchemaCommands {
  /// Runs a command with a session's schema.
  static func run(
    _ invocation: Invocation, on console: Console, _ query: () throws -> SchemaQuery
  ) throws {
    switch invocation.command {
    case .list: try ListCommand(invocation).run(on: console, query())
    case .describe: try DescribeCommand(invocation).run(on: console, query())
    case .template: try TemplateCommand(invocation).run(on: console, query())
    case .export: try ExportCommand(invocation).run(on: console, query)
    default: break
    }
  }
}
