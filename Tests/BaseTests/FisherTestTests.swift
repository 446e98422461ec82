import RPCurlBase
import Testing

struct FisherTestTests {
  /// The values are those of `scipy.stats.fisher_exact` with `alternative='greater'`.
  @Test(
    arguments: [
      (30, 1000, 10, 1000, 0.001_004_166_780_915_004_7), (5, 100, 0, 100, 0.029_691_605_234_293_292),
      (1, 1, 0, 1, 0.5), (120, 10_000, 100, 10_000, 0.098_803_989_340_323_78),
      (700, 1000, 300, 1000, 1.760_392_760_747_393_2e-73),
      (60_000, 1_000_000, 59_000, 1_000_000, 0.001_412_471_094_799_499_8),
      (3, 20, 1, 2000, 3.303_339_700_098_846_4e-06),
    ] as [(Int64, Int64, Int64, Int64, Double)])
  func isTheOneOfSciPy(part: Int64, all: Int64, oldPart: Int64, oldAll: Int64, expected: Double) {
    let probability = FisherTest.probability(of: (part, all), above: (oldPart, oldAll))
    #expect(abs(probability / expected - 1) < 1e-6, "\(probability)")
  }

  @Test(
    arguments: [
      (0, 10, 0, 10), (1, 10, 1, 10), (1, 10, 5, 10), (0, 0, 1, 1), (1, 1, 0, 0),
    ] as [(Int64, Int64, Int64, Int64)])
  func isOneIfTheShareIsNotGreater(part: Int64, all: Int64, oldPart: Int64, oldAll: Int64) {
    #expect(FisherTest.probability(of: (part, all), above: (oldPart, oldAll)) == 1)
  }

  @Test func isFastForManyElements() {
    let many: Int64 = 1_000_000_000_000
    #expect(FisherTest.probability(of: (many / 2 + 1, many), above: (many / 2, many)) < 0.6)
    #expect(FisherTest.probability(of: (many, many), above: (0, many)) == 0)
  }
}
