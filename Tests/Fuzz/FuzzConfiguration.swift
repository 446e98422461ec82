import CommandLine
import Glibc

/// A file of this run alone, in a directory that only the user can write, as the trust in configuration files requires.
private let path = ".build/fuzz/configuration-\(getpid())"

private func read(_ start: UnsafePointer<UInt8>, _ count: Int) -> ConfigurationFile? {
  let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
  precondition(descriptor >= 0 && write(descriptor, start, count) == count)
  close(descriptor)
  defer { unlink(path) }
  return try? ConfigurationFile(path, isDemanded: true)
}

/// Reads configuration files.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  guard let file = read(start, count) else {
    precondition(count > 0, "an empty file is trusted and valid")
    return 0
  }
  for profile in [nil] + file.profileNames.map(Optional.some) {
    let lines = file.lines(profile: profile)
    precondition((lines.own != nil) == (profile != nil), "a profile of the file is found")
    for line in lines.common + (lines.own ?? []) {
      precondition(
        line.number > 0 && !line.name.isEmpty && line.value != "", "an option, and at most a value")
    }
    var invocation = Parser.parse(["http://host", "pkg.Service/Method"])
    invocation.configure([
      ConfigurationLayer(path: path, profile: nil, lines: lines.common),
      ConfigurationLayer(path: path, profile: profile, lines: lines.own ?? []),
    ])
    for argument in invocation.arguments { precondition(argument.origin.place != nil, "it is of the file") }
  }
  return 0
}
