import RPCurlCSystem

/// Fisher's exact test of two shares: whether the first is greater than the second by more than chance.
package enum FisherTest {
  /// A share: a number of elements, of all.
  package typealias Share = (part: Int64, all: Int64)

  /// The probability that the first share is as much greater as it is, or more, if the elements of both had the same chance; 1
  /// if it is not greater.
  ///
  /// - Parameters:
  ///   - first: The share that may be greater. All elements of both shares are fewer than 2^53.
  ///   - second: The share with which it is compared.
  package static func probability(of first: Share, above second: Share) -> Double {
    let (one, two) = (Double(first.all), Double(second.all))
    guard first.all > 0, second.all > 0, Double(first.part) * two > Double(second.part) * one else {
      return 1
    }
    let marked = Double(first.part) + Double(second.part)
    // The hypergeometric distribution, from the part on. It is above the mean, so that the terms become smaller.
    var part = Double(first.part)
    var term = exp(choices(one, part) + choices(two, marked - part) - choices(one + two, marked))
    var sum = term
    while part < min(marked, one), term > sum * 1e-17 {
      term *= (one - part) * (marked - part) / ((part + 1) * (two - marked + part + 1))
      sum += term
      part += 1
    }
    return min(sum, 1)
  }

  /// The logarithm of the number of ways to choose a part of all elements.
  private static func choices(_ all: Double, _ part: Double) -> Double {
    factorial(all) - factorial(part) - factorial(all - part)
  }

  private static func factorial(_ number: Double) -> Double {
    var sign: Int32 = 0
    return lgamma_r(number + 1, &sign)
  }
}
