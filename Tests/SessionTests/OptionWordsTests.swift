import Testing

@testable import rpcurl

struct OptionWordsTests {
  @Test func takesOptionsWithTheirValues() {
    var words = OptionWords(["-k", "-H", "a: 1", "--header=b: 2", "--codec", "json", "-H", "c: 3"])
    #expect(words.take(["-H", "--header"]) == ["a: 1", "b: 2", "c: 3"])
    #expect(words.words == ["-k", "--codec", "json"])
    #expect(words.take(["--none"]) == [])
    #expect(words.take(["--codec"]) == ["json"])
    #expect(words.words == ["-k"])
  }

  @Test func keepsValuesThatLookLikeOptions() {
    var words = OptionWords(["-H", "-H", "x"])
    #expect(words.take(["-H"]) == ["-H"])
    #expect(words.words == ["x"])
  }

  @Test func knowsNames() {
    let words = OptionWords(["--use", "log", "--plugin=x", "-k"])
    #expect(words.names(["--use", "--plugin", "--config"]) == ["--use", "--plugin"])
  }

  @Test(arguments: [
    (["-v"], 1, []), (["-vv"], 2, []), (["--verbose", "-v"], 2, []), (["-kv", "-sSvv"], 3, ["-k", "-sS"]),
    (["-k", "--version", "-values", "v"], 0, ["-k", "--version", "-values", "v"]), ([], 0, []),
    (["-"], 0, ["-"]),
  ])
  func countsFlags(words: [String], count: Int, rest: [String]) {
    var words = OptionWords(words)
    #expect(words.takeFlag("--verbose", short: "v") == count)
    #expect(words.words == rest)
  }

  @Test func takesOptionsBehindFlags() {
    var words = OptionWords(["-vkH", "a: 1", "-vA=x"])
    #expect(words.take(["-H"]) == ["a: 1"])
    #expect(words.words == ["-vk", "-v", "-A=x"])
  }

  @Test func takesFlagsWithoutALetter() {
    var words = OptionWords(["--timing", "-v", "--timing"])
    #expect(words.takeFlag("--timing") == 2)
    #expect(words.words == ["-v"])
  }
}
