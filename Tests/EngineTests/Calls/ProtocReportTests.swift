import RPCurlCommandSupport
import Testing

@testable import RPCurlEngine

struct ProtocReportTests {
  private func report(_ text: String) -> ProtocReport {
    ProtocReport(text.split(separator: "\n").map(String.init))
  }

  @Test func namesMissingImports() {
    let report = report(
      """
      google/api/annotations.proto: File not found.
      api/v1/types.proto: File not found.
      svc.proto:3:1: Import "google/api/annotations.proto" was not found or had errors.
      svc.proto:4:1: Import "api/v1/types.proto" was not found or had errors.
      svc.proto:5:23: "GetRequest" is not defined.
      svc.proto:5:44: "GetRequest" is not defined.
      """)
    let names = ["google/api/annotations.proto", "api/v1/types.proto"]
    #expect(report.cause == .missingImports(names, place: "svc.proto:3:1"))
  }

  @Test func namesImportOfImport() {
    let report = report(
      """
      c.proto: File not found.
      b.proto:2:1: Import "c.proto" was not found or had errors.
      a.proto:3:1: Import "b.proto" was not found or had errors.
      """)
    #expect(report.cause == .missingImports(["c.proto"], place: "b.proto:2:1"))
  }

  @Test func namesFirstErrorOfImport() {
    let report = report(
      """
      b.proto:4:3: Expected ";".
      b.proto:5:3: "X" is not defined.
      a.proto:3:1: Import "b.proto" was not found or had errors.
      a.proto:9:3: "Y" seems to be defined in "y.proto", which is not imported by "a.proto".  To use it here, please add the necessary import.
      """)
    #expect(report.cause == .error("Expected \";\"", place: "b.proto:4:3"))
    #expect(report.others == 2)
  }

  @Test func omitsWarningsOfTheLibrary() {
    let report = report(
      """
      [libprotobuf WARNING google/protobuf/compiler/parser.cc:646] No syntax specified for the proto file: a.proto.
      a.proto:1:19: Missing field number.
      """)
    #expect(report.cause == .error("Missing field number", place: "a.proto:1:19"))
    #expect(report.others == 0)
  }

  @Test func omitsWarningsAboutDirectories() {
    let report = report("none: warning: directory does not exist.\na.proto:1:19: Missing field number.")
    #expect(report.cause == .error("Missing field number", place: "a.proto:1:19"))
    #expect(report.others == 0)
  }

  @Test func namesFileOutsideOfDirectories() {
    let message = "File does not reside within any path specified using --proto_path (or -I).  You must"
    let report = report("none: warning: directory does not exist.\nx/a.proto: \(message) specify one.")
    #expect(report.cause == .outside("x/a.proto"))
    let failure = ProtoSources(files: ["x/a.proto"], importPaths: ["/", "/none"]).failure(report)
    #expect(failure.message?.why == "is in no directory of -I")
    #expect(failure.message?.hint == "/none is not a directory; add -I x")
  }

  @Test func namesMissingFile() {
    let missing = "Could not make proto path relative: x/y.proto: No such file or directory"
    #expect(report(missing).cause == .missingFile("x/y.proto"))
    #expect(report("y.proto: File not found.").cause == .missingFile("y.proto"))
  }

  @Test func readsErrorsOfOtherForms() {
    #expect(
      report("a.proto:1:1: warning: Import b.proto is unused.\na.proto: This file imports itself.").cause
        == .error("This file imports itself", place: "a.proto"))
    #expect(report("Missing value for flag: -I").cause == .error("Missing value for flag: -I", place: ""))
    #expect(report("").cause == .error("no output", place: "protoc"))
  }
}

struct ImportSearchTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path }

  init() throws {
    directory = try #require(TemporaryDirectory())
    for name in ["a", "a/b", "third", "third/google", ".hidden", ".hidden/google"] {
      directory.makeDirectory(name)
    }
  }

  @Test func searchesBelowAndAbove() {
    directory.write("third/google/x.proto", [])
    directory.write("a/y.proto", [])
    directory.write(".hidden/google/z.proto", [])
    let search = ImportSearch(
      for: ["google/x.proto", "y.proto", "google/z.proto", "../a/y.proto"], from: ["\(path)/a"])
    #expect(search.found == ["google/x.proto": "\(path)/third", "y.proto": "\(path)/a"])
  }

  @Test func staysInRepository() {
    directory.write("third/google/x.proto", [])
    directory.makeDirectory("a/.git")
    #expect(ImportSearch(for: ["google/x.proto"], from: ["\(path)/a/b"]).found.isEmpty)
  }

  @Test func readsLimitedNumberOfEntries() {
    for index in 0..<50 { directory.makeDirectory("a/b/\(index)") }
    // The limit is reached within `b`, in any order of its entries, so that the directories in it are not read.
    directory.makeDirectory("a/b/49/c")
    directory.write("a/b/49/c/x.proto", [])
    #expect(ImportSearch(for: ["x.proto"], from: ["\(path)/a/b"], entryLimit: 10).found.isEmpty)
    #expect(ImportSearch(for: ["x.proto"], from: ["\(path)/a/b"]).found == ["x.proto": "\(path)/a/b/49/c"])
  }
}
