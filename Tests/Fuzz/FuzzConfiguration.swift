import Glibc

/// Reads configuration files.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  // A file that is only in memory, and has a path all the same.
  let descriptor = memfd_create("configuration", 0)
  precondition(descriptor >= 0 && write(descriptor, start, count) == count)
  defer { close(descriptor) }
  guard let file = try? ConfigurationFile("/proc/self/fd/\(descriptor)", isDemanded: true) else { return 0 }
  for profile in [nil] + file.profileNames.map(Optional.some) {
    guard let lines = try? file.lines(profile: profile) else { fatalError("a profile of the file is found") }
    for line in lines.common + lines.own {
      precondition(line.number > 0 && (1...2).contains(line.words.count), "an option, and at most a value")
    }
  }
  return 0
}
