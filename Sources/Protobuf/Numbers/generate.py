#!/usr/bin/env python3
"""Makes PowersOfTenData.swift: the powers of ten with 128 significant bits, rounded up."""

FIRST, LAST = -342, 324


def significand(exponent: int) -> int:
    """10^exponent as an integer of 128 bits, times a power of two, rounded up."""
    if exponent >= 0:
        power = 10**exponent
        shift = power.bit_length() - 128
        return power << -shift if shift <= 0 else -(-power >> shift)
    power = 10**-exponent
    shift = power.bit_length() + 127
    value = -(-(1 << shift) // power)
    return value if value.bit_length() == 128 else -(-(1 << (shift + 1)) // power)


print("// Made by generate.py. Do not edit.")
print("// swift-format-ignore-file")
print()
print("extension PowersOfTen {")
print(f"  static let first = {FIRST}")
print("  /// The high and the low half of each.")
print("  static let words: [UInt64] = [")
for exponent in range(FIRST, LAST + 1):
    value = significand(exponent)
    assert value.bit_length() == 128
    print(f"    0x{value >> 64:016x}, 0x{value & (1 << 64) - 1:016x},")
print("  ]")
print("}")
