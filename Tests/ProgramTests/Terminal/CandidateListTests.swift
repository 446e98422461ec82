import Testing

@testable import RPCurlProgram

struct CandidateListTests {
  private func rows(_ count: Int, columns: Int, limit: Int, note: String = "") -> [String] {
    let candidates = (0..<count).map { Completion.Candidate(label: "name\($0)", text: "", note: note) }
    return CandidateList.rows(candidates, columns: columns, limit: limit, width: \.count)
  }

  @Test func listsInColumns() {
    #expect(rows(5, columns: 80, limit: 9) == ["name0  name1  name2  name3  name4"])
    #expect(rows(5, columns: 20, limit: 9) == ["name0  name3", "name1  name4", "name2"])
    #expect(rows(3, columns: 4, limit: 9) == ["na…", "na…", "na…"])
    #expect(rows(2, columns: 40, limit: 9, note: "int32") == ["name0  int32", "name1  int32"])
    #expect(
      rows(2, columns: 20, limit: 9, note: "a long explanation") == [
        "name0  a long expl…", "name1  a long expl…",
      ])
  }

  @Test func limitsRows() {
    let rows = rows(100, columns: 20, limit: 4)
    #expect(rows == ["name0   name3", "name1   name4", "name2   name5", "… and 94 more"])
  }
}
