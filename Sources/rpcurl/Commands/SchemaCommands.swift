import Calls
import CommandLine

/// The commands that print a part of the schema.
enum SchemaCommands {
  /// Runs a command with a session's schema.
  static func run(_ invocation: Invocation, _ query: () throws -> SchemaQuery) throws {
    switch invocation.command {
    case .list: try ListCommand(invocation).run(query())
    case .describe: try DescribeCommand(invocation).run(query())
    case .template: try TemplateCommand(invocation).run(query())
    case .export: try ExportCommand(invocation).run(query)
    default: break
    }
  }
}
