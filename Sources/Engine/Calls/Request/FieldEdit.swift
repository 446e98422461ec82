import RPCurlBase
import RPCurlLanguage
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf

/// A field that each request message gets (`--set`, `--set-file`).
package struct FieldEdit: Equatable {
  /// A new value.
  private enum Content: Equatable {
    /// Text of `--set`.
    case text(String)
    /// Text of `--set` whose templates are replaced, and the text with its values.
    case template(FieldTemplate, text: String)
    /// The content of the file of `--set-file`.
    case bytes([UInt8])
  }

  /// The largest file for one message, which is protobuf's limit.
  private static let limitBytes = Int(Int32.max)

  /// How the key of a map can have values.
  private static let keyHint = #"with --expand, keys of -d have values: -d '{"labels":{"${KEY}":"a"}}'"#

  private let place: Place
  private var content: Content

  /// Reads the arguments of `--set` and `--set-file`.
  ///
  /// - Parameters:
  ///   - arguments: The arguments, in the order given.
  ///   - expansion: Replaces templates in the text of `--set`; nil if they are text.
  ///   - waitLimit: How long to wait for data from a pipe; nil for no limit.
  /// - Throws: `Failure` if one is not of the form `PATH=VALUE`, or if a file cannot be read.
  package static func read(
    _ arguments: [Argument], _ expansion: TextExpansion?, waitLimit: Duration?
  ) throws(Failure) -> [FieldEdit] {
    var edits: [FieldEdit] = []
    for argument in arguments {
      let place = try Place(argument)
      if expansion != nil {
        do throws(LanguageError) {
          try FieldPath.refuseValues(in: place.key, hint: keyHint)
        } catch {
          throw Failure(.input, place.option, error)
        }
      }
      let content: Content
      if argument.id == .setFile {
        do throws(SystemError) {
          content = .bytes(try FileContents.read(place.value, limitBytes: limitBytes, waitLimit: waitLimit))
        } catch {
          throw Failure(.input, "\(place.name)=\(place.value)", error)
        }
      } else if let values = expansion?.values(isTyped: true) {
        do throws(LanguageError) {
          let template = try FieldTemplate(parsing: place.value)
          for expression in template.expressions { try values.check(expression) }
          content = .template(template, text: place.value)
        } catch {
          throw Failure(.input, place.name, error)
        }
      } else {
        content = .text(place.value)
      }
      edits.append(FieldEdit(place: place, content: content))
    }
    return edits
  }

  /// An argument, split at the equals sign.
  package struct Place: Equatable {
    /// The option, for errors.
    fileprivate let option: String
    /// The option and the path, for errors.
    fileprivate var name: String { "\(option) \(key)" }
    fileprivate let path: FieldPath
    /// The text of the value, or the name of the file.
    fileprivate let value: String
    /// The path as it is written.
    fileprivate let key: String

    package init(_ argument: Argument) throws(Failure) {
      option = argument.id == .setFile ? "--set-file" : "--set"
      let form = argument.id == .setFile ? "PATH=FILE" : "PATH=VALUE"
      let text = argument.text ?? ""
      guard let (path, value) = FieldPath.split(text, at: "=") else {
        throw Failure(.usage, "\(option) \(text)", "not of the form \(form)")
      }
      self.value = value
      key = path
      do throws(FieldPathError) {
        self.path = try FieldPath(path)
      } catch {
        throw Failure(
          .usage, "\(option) \(path)", error.message, hint: "use a path such as user.addresses[0].city")
      }
      if self.path.isWhole { throw Failure(.usage, name, "not a field", hint: "-d gives the whole message") }
    }

    /// Throws unless messages of a type have the field.
    package func check(_ type: MessageType) throws(Failure) {
      do throws(FieldPathError) { _ = try path.leaf(in: type) } catch { throw failure(error) }
    }

    /// The path with `[]` in place of an index of a list.
    private func appending(_ field: String, _ index: Int64) -> FieldPath {
      var steps = path.steps
      let place = steps.indices.dropFirst().first {
        steps[$0] == .subscripted(.integer(index))
          && FieldPath(steps: Array(steps[..<$0])).description.hasSuffix(field)
      }
      if let place { steps[place] = .each }
      return FieldPath(steps: steps)
    }

    fileprivate func failure(_ error: FieldPathError) -> Failure {
      reason(error).lacking(error.missingName)
    }

    private func reason(_ error: FieldPathError) -> Failure {
      switch error {
      case .unknownField: Failure(.schema, name, error.message, hint: error.hint)
      case .indexOutOfRange(let field, let index, _):
        Failure(.input, name, error.message, hint: "\(appending(field, index))=VALUE appends an element")
      case .notAList(let field):
        Failure(.input, name, error.message, hint: "\(field).KEY or \(field)[\"KEY\"] is an entry of a map")
      default: Failure(.input, name, error.message, hint: error.hint)
      }
    }
  }

  /// Replaces templates in the text of `--set`.
  ///
  /// - Parameters:
  ///   - expansion: Replaces them.
  ///   - piece: The message's piece of the file of `--chunk`; nil without one.
  ///   - type: The type of the message.
  mutating func expand(
    _ expansion: TextExpansion, _ piece: FilePiece?, in type: MessageType
  ) throws(Failure) {
    guard case .template(let template, _) = content,
      let values = expansion.values(isTyped: true, piece: piece)
    else { return }
    do throws(LanguageError) {
      let text = try template.text(values, isText: (try? place.path.kind(in: type)) == .string)
      content = .template(template, text: text)
    } catch {
      throw Failure(.input, place.name, error)
    }
  }

  /// Whether its text calls a function.
  func calls(_ function: Function) -> Bool {
    guard case .template(let template, _) = content else { return false }
    return template.expressions.contains { $0.calls(function) }
  }

  /// Sets the field of a message, and notes what is probably not meant.
  ///
  /// - Throws: `Failure` if the field cannot have the value.
  func apply(to message: inout Message, _ form: RequestForm) throws(Failure) {
    do throws(FieldPathError) {
      switch content {
      case .bytes(let bytes): try message.set(.bytes(bytes), at: place.path)
      case .text(let text), .template(_, let text):
        var options = JSONDecodingOptions()
        options.refusesText = form.notes?.refusesText ?? false
        do throws(FieldPathError) {
          try message.setText(text, at: place.path, options: options)
        } catch {
          guard case .json(let cause) = error, let notes = form.notes,
            notes.noteText(cause, of: place.name, form, or: "--set-file \(place.key)=FILE")
          else { throw error }
          options.refusesText = false
          try message.setText(text, at: place.path, options: options)
        }
        if case .text = content, form.acceptsFiles {
          if let template = Template.reference(in: text) {
            form.notes?.note(unexpanded: template)
          } else if let template = Template.reference(in: place.key) {
            form.notes?.note(unexpanded: template, hint: Self.keyHint)
          }
        }
      }
    } catch {
      throw failure(error, of: message, form)
    }
  }

  /// The failure of a value, with the option that the value needs.
  private func failure(_ error: FieldPathError, of message: Message, _ form: RequestForm) -> Failure {
    let failure = place.failure(error)
    guard case .text(let text) = content, case .json(let cause) = error else { return failure }
    if let template = Template.reference(in: text) {
      return failure.changed { $0.hint = "add --expand to replace \(template)" }
    }
    if case .invalidBase64 = cause.reason, text.hasPrefix("@") {
      return failure.changed { $0.hint = "use --set-file \(place.key)=\(text.dropFirst())" }
    }
    // A number that is not finite, or text in a google.protobuf.Value.
    var other = message
    let quoted = JSONValue.quoted(text)
    guard cause.hint == nil, (try? other.setJSON(Array(quoted.utf8), at: place.path)) != nil else {
      return failure
    }
    return failure.changed { $0.hint = "write \(place.key)='\(quoted)'" }
  }
}

/// The file that is sent in pieces (`--set-file` with `--chunk`).
package struct ChunkedFile: Equatable {
  /// The largest piece: a server accepts few messages beyond 4 MiB.
  private static let mostBytes = 64 << 20

  package let file: String
  /// The field of each piece, and its largest size.
  let path: FieldPath
  let bytes: Int
  /// Whether the fields of `--set` use `last()`.
  var marksLast = false

  /// Resolves the options; nil without `--chunk`.
  ///
  /// - Throws: `Failure` if they do not fit the method.
  package init?(_ options: Invocation, _ method: MethodDescriptor, isBatch: Bool) throws(Failure) {
    guard let bytes = options.bytes(.chunk) else { return nil }
    let files = options.edits.filter { $0.id == .setFile }
    guard files.count == 1, let file = files.first else {
      throw Failure(.usage, "--chunk", "requires one --set-file PATH=FILE, but \(files.count) are given")
    }
    guard (1...Self.mostBytes).contains(bytes) else {
      throw Failure(.usage, "--chunk \(bytes)", "not a size from 1 to \(Self.mostBytes) bytes")
    }
    guard method.clientStreaming, !isBatch else {
      throw Failure(
        .usage, "--chunk", "\(method.name) accepts one message, not a stream",
        hint: "without --chunk, the whole file is sent in one message")
    }
    let place = try FieldEdit.Place(file)
    guard !place.path.hasEach else { throw Failure(.usage, place.name, "cannot be combined with --chunk") }
    do throws(FieldPathError) {
      let field = try method.input.field(at: place.path)
      guard field.kind == .bytes || field.kind == .string else {
        throw .wrongType(field: "\(place.path)", expected: "bytes or a string for --chunk")
      }
    } catch {
      throw place.failure(error)
    }
    self.file = place.value
    path = place.path
    self.bytes = bytes
  }
}
