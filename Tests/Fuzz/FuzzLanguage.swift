import RPCurlLanguage
import RPCurlLanguageSupport
import RPCurlProtobuf

/// The bytes of an input as random numbers, and zeros after them.
private struct InputNumbers: RandomNumberGenerator {
  var bytes: UnsafeBufferPointer<UInt8>.SubSequence

  mutating func next() -> UInt64 { bytes.popFirst().map(UInt64.init) ?? 0 }
}

/// Makes a path, a template, a condition or a regular expression of the input, perhaps a wrong one, and checks what holds for
/// each of them.
func fuzzLanguage(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  var bytes = UnsafeBufferPointer(start: start, count: count)[...]
  guard let kind = bytes.popFirst() else { return 0 }
  var random = RandomText(InputNumbers(bytes: bytes))
  let isValid = kind & 4 == 0
  let made =
    switch kind % 4 {
    case 0: (random.path(), LanguageProperty.path)
    case 1: (random.template(), LanguageProperty.template)
    case 2: (random.condition(), LanguageProperty.condition)
    default: (random.pattern(), LanguageProperty.pattern)
    }
  if let failure = made.1(isValid ? made.0 : random.mutated(made.0), isValid) { fatalError(failure) }
  return 0
}
