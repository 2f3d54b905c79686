/* What forward.c and logit_stats.c need of a C library, so that they compile without one: for
   WebAssembly there is none. Natively the same functions are used. */

#ifndef SBD_ARITHMETIC_H
#define SBD_ARITHMETIC_H

#include <stdint.h>

typedef intptr_t Index; /* counts and places; as wide as a pointer, which is how callers lay them out */

static const float LEAST = -87; /* e^x below is no normal fp32 any more and counts as 0 */
static const float MOST = 88;   /* e^x above is no finite fp32 any more */

/* e^r for |r| <= ln(2) / 2 by a polynomial (Cephes); of numbers or of vectors of them. */
#define POWER_OF_REST(p, r) \
    p = r * 1.9875691500e-4f + 1.3981999507e-3f; \
    p = p * r + 8.3334519073e-3f; \
    p = p * r + 4.1665795894e-2f; \
    p = p * r + 1.6666665459e-1f; \
    p = p * r + 5.0000001201e-1f; \
    p = p * r * r + r + 1

/* e^x to 1e-6 of itself; beyond LEAST and MOST the value there. */
static inline __attribute__((always_inline)) float exponential(float x) {
    x = x < LEAST ? LEAST : x > MOST ? MOST : x;
    int32_t n = (int32_t)(x * 1.44269504f + (x < 0 ? -0.5f : 0.5f));
    float r = x - (float)n * 0.693359375f + (float)n * 2.12194440e-4f, p;
    POWER_OF_REST(p, r);
    union { int32_t bits; float value; } power = {(n + 127) << 23};
    return p * power.value;
}

/* e^x in fp64 for x <= 0, 0 from -700 on. */
static inline double exponential_fp64(double x) {
    if (!(x > -700)) return 0;
    int64_t n = (int64_t)(x * 1.4426950408889634 - 0.5);
    double r = x - (double)n * 6.93147180369123816490e-1 - (double)n * 1.90821492927058770002e-10;
    double p = 1;
    for (int i = 14; i > 0; i--) p = 1 + p * r / i;
    union { int64_t bits; double value; } power = {(n + 1023) << 52};
    return p * power.value;
}

/* ln(1 + x) in fp64 for finite x >= 0, exact also where 1 + x rounds. */
static inline double logarithm_of_1_plus(double x) {
    double y = 1 + x;
    if (y == 1) return x;
    union { double value; int64_t bits; } split = {y};
    int64_t n = (split.bits >> 52) - 1023;
    split.bits = (split.bits & 0xfffffffffffffLL) | (1023LL << 52);
    double m = split.value;
    if (m > 1.4142135623730951) m /= 2, n++;
    double s = (m - 1) / (m + 1), square = s * s, sum = 0;
    for (int i = 23; i > 0; i -= 2) sum = sum * square + 1.0 / i;
    return (2 * s * sum + (double)n * 0.6931471805599453) * (x / (y - 1));
}

#endif
