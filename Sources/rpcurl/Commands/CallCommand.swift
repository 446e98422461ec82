import RPCurlEngine
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtocols

/// `rpcurl [call]`: calls a method.
struct CallCommand {
  private let arguments: Invocation
  private let repetition: Repetition?

  init(_ invocation: Invocation) throws(Failure) {
    arguments = invocation
    repetition = try Repetition(invocation)
  }

  func run(on console: Console) throws {
    let clients = ClientSource(console, arguments)
    let environment = EnvironmentVariables.value
    if let format = arguments.format, format == .text || format == .binary {
      try arguments.checkJSON(output: format.rawValue)
    }
    let explains = arguments.has(.explain)
    let program = arguments.program
    let resolved = try CallPlan.resolve(
      arguments, clients: clients, environment: environment, isDry: explains,
      readsData: program?.readsData(arguments) ?? !explains)
    if let program {
      defer { resolved.chain.unload() }
      return console.output.print(
        try program.script(arguments, resolved, console.error, environment: environment))
    }
    guard let plan = resolved.plan, !explains else {
      return try Explanation(arguments, resolved).show(on: console.output)
    }
    console.output.holdsText = plan.settings.output.format != .binary && plan.settings.filter?.isRaw != true
    guard let output = arguments.last(.output), let path = output.text, path != "-" else {
      return try run(plan, clients)
    }
    let isWhole = !plan.isSequence && plan.settings.output.format != .events
    let option = output.origin.place.map { "\($0): -o" } ?? "-o"
    let file = try ResponseFile(
      redirecting: console.output, to: path, isWhole: isWhole,
      inputs: plan.sources.compactMap { if case .stream(let path, _) = $0 { path } else { nil } },
      option: option, waitLimit: plan.settings.timeout)
    do {
      try run(plan, clients)
    } catch {
      file.discard()
      throw error
    }
    try file.commit()
  }

  private func run(_ plan: CallPlan, _ clients: ClientSource) throws {
    let readsInput = plan.sources.contains { if case .stream("-", _) = $0 { true } else { false } }
    guard repetition == nil || !readsInput else {
      throw Failure(
        .usage, "--repeat", "standard input can be read once", hint: "write the data to a file: -d @FILE")
    }
    try plan.withChain(clients) { client in
      // Calls are numbered over all times.
      var count = 0
      let calls = { (number: Int) in
        if let batch = plan.batch {
          let calls = try BatchCalls(plan, batch, after: count, clients: clients)
          defer { count = calls.count }
          try calls.run()
        } else {
          try SingleCall(plan, number: repetition.map { _ in number }, clients: clients).run()
        }
      }
      try repetition?.run(client, clients.console, calls) ?? calls(1)
    }
  }
}
