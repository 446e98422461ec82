/// The name of a character, for the standard library's `Unicode.Scalar.Properties.name`: none.
///
/// The release is linked with this instead of the function of the Swift runtime (`--wrap`), whose table of the names of all
/// characters is half a megabyte. Nothing here asks for names of characters.
///
/// - Returns: the count of bytes written to `buffer`; 0 for a character without a name.
@_cdecl("__wrap__swift_stdlib_getScalarName")
func characterName(_ scalar: UInt32, _ buffer: UnsafeMutablePointer<UInt8>?, _ capacity: Int) -> Int { 0 }
