import Interceptors

/// Shown by everything here, and by interceptors that write for people.
typealias TerminalText = Interceptors.TerminalText
