import RPCurlProtobuf

/// The cause of a failure of protoc, without the errors that follow from it.
struct ProtocReport: Equatable {
  enum Cause: Equatable {
    /// A file of `--proto` that does not exist.
    case missingFile(String)
    /// A file of `--proto` that is in no directory of `-I`.
    case outside(String)
    /// Imports that do not exist, and the place of the first: `FILE:LINE:COLUMN`.
    case missingImports([String], place: String)
    /// Any other error; the place is empty if protoc names none.
    case error(String, place: String)
  }

  let cause: Cause
  /// The number of other errors, except those that follow from missing imports.
  let others: Int

  /// Reads what protoc printed.
  init(_ lines: [String]) {
    let lines = lines.filter { !$0.hasPrefix("[libprotobuf WARNING ") && !$0.contains(": warning: ") }
    var missing: [String] = []
    var file: String?
    var errors: [(place: String, message: String)] = []
    for line in lines {
      if let name = Self.middle(of: line, "", ": File not found.") {
        if !missing.contains(name) { missing.append(name) }
      } else if let name = Self.middle(
        of: line, "Could not make proto path relative: ", ": No such file or directory")
      {
        file = file ?? name
      } else if case let (place, message) = Self.parts(line), !message.isEmpty {
        errors.append((place, message))
      }
    }
    let imports = errors.compactMap { error in
      Self.middle(of: error.message, "Import \"", "\" was not found or had errors.").map { (error.place, $0) }
    }
    let place = imports.first { missing.contains($0.1) }?.0
    errors.removeAll { $0.message.hasPrefix("Import \"") && $0.message.hasSuffix("had errors.") }
    if let file = file ?? (place == nil ? missing.first : nil) {
      (cause, others) = (.missingFile(file), 0)
    } else if let place {
      (cause, others) = (.missingImports(missing, place: place), 0)
    } else if let first = errors.first, first.message.hasPrefix("File does not reside within any path ") {
      (cause, others) = (.outside(first.place), 0)
    } else if let first = errors.first {
      (cause, others) = (.error(Self.sentence(first.message), place: first.place), errors.count - 1)
    } else {
      (cause, others) = (.error(lines.first ?? "no output", place: "protoc"), 0)
    }
  }

  /// The text between a prefix and a suffix; nil if `line` does not have both.
  private static func middle(of line: String, _ prefix: String, _ suffix: String) -> String? {
    guard line.hasPrefix(prefix), line.hasSuffix(suffix),
      line.utf8.count > prefix.utf8.count + suffix.utf8.count
    else { return nil }
    return String(line.dropFirst(prefix.count).dropLast(suffix.count))
  }

  /// The place and the message of `FILE:LINE:COLUMN: MESSAGE`; the place is empty if the line has another form.
  private static func parts(_ line: String) -> (place: String, message: String) {
    guard let separator = line.firstRange(of: ": ") else { return ("", line) }
    let place = line[..<separator.lowerBound]
    let numbers = place.split(separator: Character(":")).suffix(2)
    let isPlace = numbers.count == 2 && numbers.allSatisfy { Int($0) != nil }
    // Errors about a whole file have no line: "FILE: MESSAGE".
    guard isPlace || place.hasSuffix(".proto") else { return ("", line) }
    return (String(place), String(line[separator.upperBound...]))
  }

  /// The message without its full stop.
  private static func sentence(_ message: String) -> String {
    message.hasSuffix(".") && !message.dropLast().contains(". ") ? String(message.dropLast()) : message
  }
}
