/// Stands for the program's signals, which no target takes over.
enum Interrupt {
  static let descriptor: Int32 = -1
  static let reason = "interrupted"
}
