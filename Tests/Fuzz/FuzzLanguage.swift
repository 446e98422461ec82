import Language
import Protobuf

/// The bytes of an input as random numbers, and zeros after them.
private struct InputNumbers: RandomNumberGenerator {
  var bytes: UnsafeBufferPointer<UInt8>.SubSequence

  mutating func next() -> UInt64 { bytes.popFirst().map(UInt64.init) ?? 0 }
}

/// Makes a path, a template, a condition or a regular expression of the input, and checks what holds for each of them.
func fuzzLanguage(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  var bytes = UnsafeBufferPointer(start: start, count: count)[...]
  guard let kind = bytes.popFirst() else { return 0 }
  var text = RandomText(InputNumbers(bytes: bytes))
  let failure =
    switch kind % 4 {
    case 0: LanguageProperty.path(text.path())
    case 1: LanguageProperty.template(text.template())
    case 2: LanguageProperty.condition(text.condition())
    default: LanguageProperty.pattern(text.pattern())
    }
  if let failure { fatalError(failure) }
  return 0
}
