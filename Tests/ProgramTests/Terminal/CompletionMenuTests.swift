import Testing

@testable import RPCurlProgram

struct CompletionMenuTests {
  private func menu(_ count: Int, note: String = "") -> CompletionMenu {
    CompletionMenu(
      Completion(
        replaced: "n",
        candidates: (0..<count).map {
          Completion.Candidate(label: "name\($0)", text: "name\($0) ", note: note)
        }))
  }

  private func window(_ columns: Int = 80, _ rows: Int = 9) -> CompletionMenu.Window {
    CompletionMenu.Window(columns: columns, rows: rows, width: \.count)
  }

  private func rows(
    _ menu: CompletionMenu, _ columns: Int = 80, _ rows: Int = 9, isStyled: Bool = false
  ) -> [String] {
    menu.rows(in: window(columns, rows), isStyled: isStyled)
  }

  @Test func listsInColumns() {
    #expect(rows(menu(5)) == [" name0  name1  name2  name3  name4"])
    #expect(rows(menu(5), 22) == [" name0  name2  name4", " name1  name3"])
    #expect(rows(menu(3), 6) == [" na…", " na…", " na…"])
    #expect(rows(menu(0)) == [])
    #expect(rows(menu(3), 80, 0) == [])
  }

  @Test func describesEach() {
    #expect(rows(menu(2, note: "int32"), 40) == [" name0  int32", " name1  int32"])
    #expect(
      rows(menu(2, note: "a long explanation"), 21) == [" name0  a long expl…", " name1  a long expl…"])
    #expect(
      rows(menu(1, note: "int32"), isStyled: true) == [" name0 \u{1B}[2m int32\u{1B}[0m"])
  }

  @Test func marksTheSelected() {
    var menu = menu(3)
    #expect(!menu.isSelected && menu.inserted == "n")
    menu.perform(.next, in: window())
    menu.perform(.next, in: window())
    #expect(menu.isSelected && menu.inserted == "name1 ")
    #expect(rows(menu) == [" name0 >name1  name2"])
    #expect(rows(menu, isStyled: true) == [" name0 \u{1B}[7m name1 \u{1B}[0m name2"])
    menu.perform(.cancel, in: window())
    #expect(menu.inserted == "n")
  }

  @Test(
    arguments: [
      ([.next, .next, .next, .next], 0), ([.previous], 2), ([.next, .previous], 2), ([.accept, .next], 0),
      ([.right], 0), ([.left], 0), ([.next, .left], 0), ([.next, .right], 2), ([.next, .right, .right], 2),
      ([.next, .next, .right], 1), ([.next, .right, .left], 0),
    ] as [([CompletionMenu.Action], Int)])
  func movesAround(actions: [CompletionMenu.Action], selected: Int) {
    // name0  name2
    // name1
    var menu = menu(3)
    let window = window(16)
    #expect(menu.rows(in: window, isStyled: false) == [" name0  name2", " name1"])
    for action in actions { menu.perform(action, in: window) }
    #expect(menu.inserted == "name\(selected) ")
  }

  @Test func showsThePageOfTheSelected() {
    var menu = menu(20, note: "int32")
    #expect(rows(menu, 18, 4) == [" name0   name3", " name1   name4", " name2   name5", " … and 14 more"])
    for _ in 0..<9 { menu.perform(.next, in: window(18, 4)) }
    #expect(rows(menu, 18, 4) == [" name6   name9", " name7   name10", ">name8   name11", " 9 of 20  int32"])
    menu.perform(.previous, in: window(18, 4))
    for _ in 0..<12 { menu.perform(.next, in: window(18, 4)) }
    #expect(rows(menu, 18, 4) == [" name18", ">name19", " 20 of 20  int32"])
  }

  @Test func keysHaveActions() {
    func action(_ key: String, isSelected: Bool = false) -> CompletionMenu.Action? {
      CompletionMenu.Action(Array(key.unicodeScalars), isSelected: isSelected)
    }
    #expect(action("\t") == .next)
    #expect(action("\u{1B}[Z") == .previous)
    #expect(action("\u{1B}OA") == .previous)
    #expect(action("\u{1B}[C") == .right)
    #expect(action("\u{7}") == .cancel)
    #expect(action("\r", isSelected: true) == .accept)
    #expect(action("\r") == nil)
    #expect(action("x", isSelected: true) == nil)
  }
}
