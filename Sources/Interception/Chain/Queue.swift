/// A first-in, first-out queue.
package struct Queue<Element> {
  private var elements: [Element?] = []
  private var head = 0

  /// Makes a queue of elements in their order.
  package init(_ elements: [Element] = []) {
    for element in elements { append(element) }
  }

  /// Whether there is no element.
  package var isEmpty: Bool { head == elements.count }
  /// The number of elements.
  var count: Int { elements.count - head }
  /// The first element; nil if the queue is empty.
  package var first: Element? { isEmpty ? nil : elements[head] }
  /// The elements in order.
  package var all: [Element] { elements[head...].compactMap(\.self) }

  /// Adds an element after the others.
  package mutating func append(_ element: Element) {
    elements.append(element)
  }

  /// Puts an element before the others.
  mutating func prepend(_ element: Element) {
    if head > 0 {
      head -= 1
      elements[head] = element
    } else {
      elements.insert(element, at: 0)
    }
  }

  /// Removes the first element; returns nil if the queue is empty.
  package mutating func popFirst() -> Element? {
    guard head < elements.count else { return nil }
    let element = elements[head]
    elements[head] = nil
    head += 1
    if head == elements.count {
      elements.removeAll(keepingCapacity: true)
      head = 0
    } else if head > 32, head * 2 > elements.count {
      elements.removeFirst(head)
      head = 0
    }
    return element
  }

  /// Removes all elements.
  package mutating func removeAll() {
    elements.removeAll()
    head = 0
  }

  mutating func removeAll(where isRemoved: (Element) -> Bool) {
    elements.removeFirst(head)
    head = 0
    elements.removeAll { $0.map(isRemoved) ?? true }
  }
}
