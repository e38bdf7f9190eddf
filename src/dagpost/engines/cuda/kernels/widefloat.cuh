// Wide floats on a device: the same numbers, and the same roundings, as dagpost/widefloat.py, which explains them.

typedef long long wide;

#define FRACTION_BITS 40
#define FRACTION ((1LL << FRACTION_BITS) - 1)
#define DOUBLE_ONE (1023LL << 52)
#define ROUND ((1LL << 11) - DOUBLE_ONE)
#define NEGLIGIBLE (-(64LL << FRACTION_BITS))
#define ONE 0LL
#define ZERO (-(1LL << 62))
#define ZERO_LIMIT (-(1LL << 62) + (1LL << 60))

__device__ __forceinline__ wide add(wide first, wide second)
{
    wide large = max(first, second);
    wide small = min(first, second);
    wide exponent = large & ~FRACTION;
    double large_double = __longlong_as_double(((large - exponent) << 12) | DOUBLE_ONE);
    double small_double = __longlong_as_double((max(small - exponent, NEGLIGIBLE) << 12) + DOUBLE_ONE);
    wide rounding = ROUND - (large & 1);
    return exponent + ((__double_as_longlong(large_double + small_double) + rounding) >> 12);
}

__device__ __forceinline__ wide multiply(wide first, wide second)
{
    wide first_exponent = first & ~FRACTION;
    wide second_exponent = second & ~FRACTION;
    double first_double = __longlong_as_double(((first - first_exponent) << 12) | DOUBLE_ONE);
    double second_double = __longlong_as_double(((second - second_exponent) << 12) | DOUBLE_ONE);
    // One rounding here, as on the host: no fused multiply-add may take the product further.
    wide product = (__double_as_longlong(__dmul_rn(first_double, second_double)) + ROUND) >> 12;
    return max(first_exponent + second_exponent + product, ZERO);
}

// Quotient as a double; what is smaller than 2^-1000 becomes 0.
__device__ __forceinline__ double ratio(wide numerator, wide denominator)
{
    long long exponent = (numerator >> FRACTION_BITS) - (denominator >> FRACTION_BITS);
    if (exponent < -1000) return 0.0;
    double above = __longlong_as_double(((numerator & FRACTION) << 12) | DOUBLE_ONE);
    double below = __longlong_as_double(((denominator & FRACTION) << 12) | DOUBLE_ONE);
    return scalbn(above / below, (int)exponent);
}
