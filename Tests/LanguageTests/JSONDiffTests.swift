import RPCurlBase
import RPCurlProtobuf
import Testing

@testable import RPCurlLanguage

@Suite struct JSONDiffTests {
  private func value(_ text: String) throws -> JSONValue { try JSONValue(parsing: Array(text.utf8)) }

  private func diff(
    _ expected: String, _ got: String, _ comparison: JSONComparison = JSONComparison(.exact), context: Int = 3
  ) throws -> String? {
    try JSONDiff.text(value(expected), value(got), comparison, context: context)
  }

  @Test func membersThatDiffer() throws {
    #expect(
      try diff(#"{"a":1,"b":{"c":2},"d":4}"#, #"{"a":1,"b":{"c":3,"e":5}}"#) == """
          {
            "a": 1,
            "b": {
        -     "c": 2,
        +     "c": 3,
        +     "e": 5
            },
        -   "d": 4
          }
        """)
  }

  @Test func elementsThatWereInsertedAndRemoved() throws {
    #expect(
      try diff("[1,2,3,4]", "[0,1,3,4,5]") == """
          [
        +   0,
            1,
        -   2,
            3,
            4,
        +   5
          ]
        """)
  }

  @Test func elementsThatChanged() throws {
    #expect(
      try diff(#"[{"a":1,"b":2},3]"#, #"[{"a":1,"b":9},3]"#) == """
          [
            {
              "a": 1,
        -     "b": 2
        +     "b": 9
            },
            3
          ]
        """)
  }

  @Test func valuesOfOtherTypes() throws {
    #expect(
      try diff(#"{"a":[1]}"#, #"{"a":{"b":1}}"#) == """
          {
        -   "a": [
        -     1
        -   ]
        +   "a": {
        +     "b": 1
        +   }
          }
        """)
    #expect(try diff("1", "2") == "- 1\n+ 2")
    #expect(try diff("1", "1.0") == nil)
  }

  /// A value of several lines, and neighbours, are one part of the line.
  @Test func differenceOnOneLine() throws {
    let mismatch = try Mismatch(
      value(#"{"a":1,"b":[1,{"c":2,"d":3}],"e":0}"#), got: value(#"{"a":1,"b":[1],"e":{"f":[],"g":4}}"#))
    #expect(
      mismatch.description.hasSuffix(#" (- {"c": 2, "d": 3}, - "e": 0, + "e": {"f": [], "g": 4})"#),
      "\(mismatch)")
  }

  @Test func distantLinesAreOmitted() throws {
    let expected = "[" + (0..<20).map { "\($0)" }.joined(separator: ",") + "]"
    let got = "[" + (0..<20).map { "\($0 == 8 ? 80 : $0 == 19 ? 190 : $0)" }.joined(separator: ",") + "]"
    #expect(
      try diff(expected, got) == """
          …
            5,
            6,
            7,
        -   8,
        +   80,
            9,
            10,
            11,
          …
            16,
            17,
            18,
        -   19
        +   190
          ]
        """)
  }

  @Test func valuesWithinTheToleranceAreEqual() throws {
    let comparison = JSONComparison(ComparisonRules(tolerance: .absolute(0.5)))
    #expect(
      try diff(#"{"a":1,"b":1}"#, #"{"a":1.2,"b":2}"#, comparison) == """
          {
            "a": 1.2,
        -   "b": 1
        +   "b": 2
          }
        """)
  }

  @Test func elementsWithoutOrder() throws {
    let comparison = JSONComparison(ComparisonRules(isUnordered: true))
    #expect(
      try diff("[1,2,3,4]", "[4,9,1,8]", comparison) == """
          [
            1,
        -   2,
        -   3,
            4,
        +   9,
        +   8
          ]
        """)
    #expect(
      try diff(#"[{"a":1,"b":2},3]"#, #"[3,{"a":1,"b":9}]"#, comparison) == """
          [
            {
              "a": 1,
        -     "b": 2
        +     "b": 9
            },
            3
          ]
        """)
  }

  @Test func partsShowOnlyWhatIsExpected() throws {
    let comparison = JSONComparison(.exact, .part)
    #expect(
      try diff(#"{"a":1,"b":{"c":2},"n":null}"#, #"{"z":0,"a":1,"b":{"c":3,"d":4}}"#, comparison) == """
          {
            "a": 1,
            "b": {
        -     "c": 2
        +     "c": 3
            },
            "n": null
          }
        """)
    #expect(
      try diff("[5,2]", "[1,2,3]", comparison) == """
          [
        -   5,
            2,
        +   1,
        +   3
          ]
        """)
  }

  @Test func emptyListOfAPart() throws {
    #expect(
      try diff(#"{"a":[]}"#, #"{"a":[1],"b":2}"#, JSONComparison(.exact, .part)) == """
          {
        -   "a": []
        +   "a": [
        +     1
        +   ]
          }
        """)
  }

  @Test func longDiffsEnd() throws {
    let element = #""\#(String(repeating: "x", count: 100))""#
    let expected = "[" + Array(repeating: element, count: 1000).joined(separator: ",") + "]"
    let found = try #require(try diff(expected, "[]"))
    #expect(found.utf8.count < 4096 + 200)
  }

  /// Elements that differ only at their ends are not compared with each other without limit.
  @Test func largeElementsAreComparedInOrder() throws {
    let text = String(repeating: "x", count: 20_000)
    let expected = JSONValue.array((0..<60).map { .string("\(text)\($0)") })
    let got = JSONValue.array((0..<60).map { .string("\(text)\($0 + 100)") })
    let found = try JSONDiff.text(expected, got, JSONComparison(.exact), limitBytes: .max)
    #expect(found?.split(separator: "\n" as Character).count == 122)
  }

  // MARK: Random values

  private func random(_ generator: inout SeededGenerator, depth: Int) -> JSONValue {
    switch Int.random(in: 0..<(depth > 3 ? 5 : 8), using: &generator) {
    case 0: .null
    case 1: .bool(Bool.random(using: &generator))
    case 2, 3: .number(["0", "1", "1.0", "1.5", "-2", "3"][Int.random(in: 0..<6, using: &generator)])
    case 4: .string(["", "a", "b", "]", "{", "a,"][Int.random(in: 0..<6, using: &generator)])
    case 5, 6:
      .array((0..<Int.random(in: 0...4, using: &generator)).map { _ in random(&generator, depth: depth + 1) })
    default:
      .object(
        ["a", "b", "c", "d"].shuffled(using: &generator).prefix(Int.random(in: 0...4, using: &generator)).map
        {
          JSONValue.Member(name: $0, value: random(&generator, depth: depth + 1))
        })
    }
  }

  /// A value with some parts changed.
  private func changed(_ value: JSONValue, _ generator: inout SeededGenerator) -> JSONValue {
    if Int.random(in: 0..<8, using: &generator) == 0 { return random(&generator, depth: 2) }
    switch value {
    case .array(var elements):
      if !elements.isEmpty, Bool.random(using: &generator) {
        let index = elements.indices.randomElement(using: &generator) ?? 0
        elements[index] = changed(elements[index], &generator)
      }
      if Int.random(in: 0..<4, using: &generator) == 0 { elements.shuffle(using: &generator) }
      if Int.random(in: 0..<4, using: &generator) == 0 { elements.append(random(&generator, depth: 2)) }
      return .array(elements)
    case .object(let members):
      var changed: [JSONValue.Member] = []
      for member in members {
        let value = self.changed(member.value, &generator)
        changed.append(JSONValue.Member(name: member.name, value: value))
      }
      return .object(changed.shuffled(using: &generator))
    default: return value
    }
  }

  /// The lines of one side as a value again. Commas are those of both sides together.
  private func side(_ diff: String, without mark: String) throws -> JSONValue {
    let lines = diff.split(separator: "\n" as Character).filter { !$0.hasPrefix(mark) }.map { line in
      let line = line.dropFirst(2).drop { $0 == " " }
      return String(line.hasSuffix(",") ? line.dropLast() : line)
    }
    var text = ""
    for (index, line) in lines.enumerated() {
      text += line
      guard index + 1 < lines.count, !line.hasSuffix("["), !line.hasSuffix("{") else { continue }
      if let next = lines[index + 1].first, next != "]", next != "}" { text += "," }
    }
    return try value(text)
  }

  @Test func bothSidesCanBeRestored() throws {
    var generator = SeededGenerator(seed: 7)
    var differences = 0
    for _ in 0..<3000 {
      let expected = random(&generator, depth: 0)
      let got = changed(expected, &generator)
      var comparison = JSONComparison(.exact)
      let isEqual = try comparison.holds(expected, got)
      let text = try JSONDiff.text(expected, got, comparison, context: .max, limitBytes: .max)
      #expect((text == nil) == isEqual, "\(expected.text) \(got.text)")
      guard let text else { continue }
      differences += 1
      #expect(try comparison.holds(side(text, without: "+ "), expected), "\(expected.text)\n\(text)")
      #expect(try comparison.holds(side(text, without: "- "), got), "\(got.text)\n\(text)")
    }
    #expect(differences > 500)
  }

  @Test(arguments: [
    ComparisonRules(isUnordered: true), ComparisonRules(tolerance: .absolute(0.5)),
    ComparisonRules(isUnordered: true, tolerance: .relative(0.5)),
  ])
  func diffsExistExactlyForValuesThatDiffer(_ rules: ComparisonRules) throws {
    var generator = SeededGenerator(seed: 11)
    for extent in [JSONComparison.Extent.all, .part] {
      for _ in 0..<500 {
        let expected = random(&generator, depth: 0)
        let got = changed(expected, &generator)
        var comparison = JSONComparison(rules, extent)
        let isEqual = try comparison.holds(expected, got)
        let text = try JSONDiff.text(expected, got, comparison)
        #expect((text == nil) == isEqual, "\(expected.text) \(got.text)")
        if let text {
          let marks = text.split(separator: "\n" as Character).map { $0.prefix(2) }
          #expect(marks.contains("- ") || marks.contains("+ "), "\(text)")
        }
        #expect(try comparison.holds(expected, expected))
      }
    }
  }
}
