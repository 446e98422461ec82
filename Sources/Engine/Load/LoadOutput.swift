import RPCurlBase
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtocols
import RPCurlReports

/// The file of `--raw`: each latency on a line. A regular file is replaced at the end.
final class RawLatencies {
  private static let blockBytes = 1 << 16

  private let path: String
  private let waitLimit: Duration?
  private let descriptor: Int32
  /// The file that replaces the one of the path; nil if that is written directly, and at the end.
  private var replacement: ReplacementFile?
  private let isDirect: Bool
  private var buffer: [UInt8] = []
  private var problem: SystemError?

  /// Creates the file.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - waitLimit: How long to wait for the reader of a pipe; nil for no limit.
  /// - Throws: `Failure` if it cannot be created.
  init(_ path: String, waitLimit: Duration?) throws(Failure) {
    self.path = path
    self.waitLimit = waitLimit
    do throws(SystemError) {
      replacement = try ReplacementFile.make(replacing: path)
      if let replacement {
        descriptor = replacement.descriptor
      } else {
        descriptor = try FileContents.openForWriting(path, mode: 0o666, waitLimit: waitLimit)
      }
      isDirect = replacement == nil
    } catch {
      throw Interrupt.failure ?? Failure(.internalError, "--raw \(path)", error)
    }
  }

  deinit {
    replacement?.discard()
    if isDirect { _ = FileContents.closeWriter(descriptor) }
  }

  /// Adds a latency.
  func add(_ latency: Duration) {
    buffer += Array("\(latency.nanoseconds)\n".utf8)
    if buffer.count >= Self.blockBytes { write() }
  }

  /// Writes what is left, and completes the file. Returns why the file could not be written; nil if it was.
  func finish() -> Failure? {
    write()
    if problem == nil, let replacement {
      self.replacement = nil
      if !replacement.replace() { problem = .last }
    }
    return problem.map { Failure(.internalError, "--raw \(path)", $0) }
  }

  private func write() {
    if problem == nil { problem = FileContents.write(buffer, to: descriptor, waitLimit: waitLimit) }
    buffer.removeAll(keepingCapacity: true)
  }
}

/// Writes the reports of a run.
struct LoadReports {
  let report: LoadReport
  let results: [LoadThreshold.Result]
  let console: Console
  /// How long to wait for the reader of a pipe; nil for no limit.
  let waitLimit: Duration?

  /// Writes the reports to files, and then prints that of standard output, whose end may end the process. Returns why files could
  /// not be written.
  func write(_ options: LoadOptions) -> [Failure] {
    let problems = [
      options.htmlPath.flatMap { write(LoadPage(report, results).html, to: $0, "--html") },
      options.logPath.flatMap { write(HistogramLog.text(report), to: $0, "--hdr") },
    ]
    switch options.format {
    case .text: console.output.print(report.text(results))
    case .json: console.output.print(String(decoding: report.json(results), as: UTF8.self))
    case .csv: console.output.print(report.csv())
    }
    return problems.compactMap(\.self)
  }

  private func write(_ text: String, to path: String, _ option: String) -> Failure? {
    FileContents.replace(path, with: Array(text.utf8), newMode: nil, waitLimit: waitLimit).map {
      Interrupt.failure ?? Failure(.internalError, "\(option) \(path)", $0)
    }
  }
}
