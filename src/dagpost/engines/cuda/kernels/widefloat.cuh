// Wide floats on a device: the same numbers, and the same roundings, as dagpost/_tools/wide_floats.py, which explains
// them.
//
// Defined by engines/cuda/layout.py: FRACTION_BITS, WIDE_NEGLIGIBLE, WIDE_ZERO, WIDE_ZERO_LIMIT, SMALLEST_SHIFT.

typedef long long wide;

// The fraction bits that a double has more.
#define SPARE_BITS (52 - FRACTION_BITS)
#define FRACTION ((1LL << FRACTION_BITS) - 1)
#define DOUBLE_ONE (1023LL << 52)
#define ROUND ((1LL << (SPARE_BITS - 1)) - DOUBLE_ONE)
#define NEGLIGIBLE ((wide)WIDE_NEGLIGIBLE)
#define ONE ((wide)0)
#define ZERO ((wide)WIDE_ZERO)
#define ZERO_LIMIT ((wide)WIDE_ZERO_LIMIT)

__device__ __forceinline__ wide add(wide first, wide second)
{
    wide large = max(first, second);
    wide small = min(first, second);
    wide exponent = large & ~FRACTION;
    double large_double = __longlong_as_double(((large - exponent) << SPARE_BITS) | DOUBLE_ONE);
    double small_double = __longlong_as_double((max(small - exponent, NEGLIGIBLE) << SPARE_BITS) + DOUBLE_ONE);
    wide rounding = ROUND - (large & 1);
    return exponent + ((__double_as_longlong(large_double + small_double) + rounding) >> SPARE_BITS);
}

__device__ __forceinline__ wide multiply(wide first, wide second)
{
    wide first_exponent = first & ~FRACTION;
    wide second_exponent = second & ~FRACTION;
    double first_double = __longlong_as_double(((first - first_exponent) << SPARE_BITS) | DOUBLE_ONE);
    double second_double = __longlong_as_double(((second - second_exponent) << SPARE_BITS) | DOUBLE_ONE);
    // One rounding here, as on the host: no fused multiply-add may take the product further.
    wide product = (__double_as_longlong(__dmul_rn(first_double, second_double)) + ROUND) >> SPARE_BITS;
    return max(first_exponent + second_exponent + product, ZERO);
}

// The number in [1, 2) that a wide float is, times a power of two.
__device__ __forceinline__ double fraction_of(wide value)
{
    return __longlong_as_double(((value & FRACTION) << SPARE_BITS) | DOUBLE_ONE);
}

// Quotient as a double; what is smaller than 2^SMALLEST_SHIFT becomes 0.
__device__ __forceinline__ double ratio(wide numerator, wide denominator)
{
    long long exponent = (numerator >> FRACTION_BITS) - (denominator >> FRACTION_BITS);
    if (exponent < SMALLEST_SHIFT) return 0.0;
    return scalbn(fraction_of(numerator) / fraction_of(denominator), (int)exponent);
}
