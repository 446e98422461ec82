// What imports this target has the C library of the machine. No other file names it.
#if canImport(Glibc)
  @_exported import Glibc
#elseif canImport(Musl)
  @_exported import Musl
#elseif canImport(Darwin)
  @_exported import Darwin
#endif

// The names of glibc for what the others name in another way.
#if canImport(Musl)
  extension sigaction {
    package var __sigaction_handler: __Unnamed_union___sa_handler {
      get { __sa_handler }
      set { __sa_handler = newValue }
    }
  }
#elseif canImport(Darwin)
  extension sigaction {
    package var __sigaction_handler: Darwin.__sigaction_u {
      get { __sigaction_u }
      set { __sigaction_u = newValue }
    }
  }

  extension __sigaction_u {
    package var sa_handler: (@convention(c) (Int32) -> Void)? {
      get { __sa_handler }
      set { __sa_handler = newValue }
    }
  }

  extension stat {
    package var st_atim: timespec { st_atimespec }
    package var st_mtim: timespec { st_mtimespec }
    package var st_ctim: timespec { st_ctimespec }
  }
#endif
