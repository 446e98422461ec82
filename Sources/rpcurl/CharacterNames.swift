/// Replaces the Swift runtime's `Unicode.Scalar.Properties.name`: no character has a name.
///
/// The release is linked with this function (`--wrap`) because the runtime's table of all character names has half a
/// megabyte. rpcurl uses no character names.
///
/// - Returns: The number of bytes written to `buffer`; 0 for a character without a name.
@_cdecl("__wrap__swift_stdlib_getScalarName")
func characterName(_ scalar: UInt32, _ buffer: UnsafeMutablePointer<UInt8>?, _ capacity: Int) -> Int { 0 }
