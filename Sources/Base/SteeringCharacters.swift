extension Unicode.Scalar {
  /// Whether it controls a terminal, or the order of displayed text: C0, DEL, C1, line separators, and the
  /// marks, embeddings, overrides and isolates of bidirectional text.
  package var steersReader: Bool {
    switch value {
    case 0x00...0x1F, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x206F: true
    default: false
    }
  }
}
