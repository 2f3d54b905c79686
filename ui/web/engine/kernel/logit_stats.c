/* What rows of logits say, in one reading of each: see LogitStats in sbd_core/sampling.py.

   Compiled without -ffast-math: NaN and infinity mean something here. Natively and to WebAssembly. */

#include "arithmetic.h"

enum { LANES = 16, CHUNK = 64 };
typedef float Lanes __attribute__((vector_size(4 * LANES), aligned(4)));
typedef int32_t Whole __attribute__((vector_size(4 * LANES), aligned(4)));

/* e^x for LEAST <= x <= 0, lane by lane. */
static inline __attribute__((always_inline)) Lanes powers_of_e(Lanes x) {
    const float to_whole = 12582912; /* 1.5 * 2^23: adding it rounds */
    Lanes n = (x * 1.44269504f + to_whole) - to_whole;
    Lanes r = x - n * 0.693359375f + n * 2.12194440e-4f, p;
    POWER_OF_REST(p, r);
    return p * (Lanes)((__builtin_convertvector(n, Whole) + 127) << 23);
}

/* Adds e^d and d e^d of d = x - top, lane by lane. */
static inline __attribute__((always_inline)) void add(Lanes x, float top, Lanes *sum, Lanes *product) {
    Lanes d = x - top;
    Whole counts = d > LEAST;
    d = (Lanes)((Whole)d & counts);
    Lanes power = (Lanes)((Whole)powers_of_e(d) & counts);
    *sum += power;
    *product += d * power;
}

/* sum of e^d and of d e^d over a row */
static void powers(const float *x, Index size, float top, double *sum, double *product) {
    Lanes sums = {0}, products = {0}, rest;
    Index i = 0;
    for (; i + LANES <= size; i += LANES) add(*(const Lanes *)(x + i), top, &sums, &products);
    for (Index lane = 0; lane < LANES; lane++) rest[lane] = i + lane < size ? x[i + lane] : -__builtin_inff();
    add(rest, top, &sums, &products);
    *sum = *product = 0;
    for (Index lane = 0; lane < LANES; lane++) *sum += sums[lane], *product += products[lane];
}

/* The num_best largest, best first, the first of equals first; 0 for a row that is no row of
   logits: NaN, +inf, or nothing above -inf. */
static int largest(const float *x, Index size, Index num_best, Index *ids, float *best) {
    Index count = 0;
    for (Index start = 0; start < size; start += CHUNK) {
        Index stop = start + CHUNK < size ? start + CHUNK : size;
        if (count == num_best) {
            float floor = best[num_best - 1];
            int any = 0;
            for (Index i = start; i < stop; i++) any |= !(x[i] <= floor);
            if (!any) continue;
        }
        for (Index i = start; i < stop; i++) {
            if (count == num_best && x[i] <= best[num_best - 1]) continue;
            if (!(x[i] < __builtin_inff())) return 0;
            Index place = count < num_best ? count++ : num_best - 1;
            for (; place > 0 && x[i] > best[place - 1]; place--)
                best[place] = best[place - 1], ids[place] = ids[place - 1];
            best[place] = x[i], ids[place] = i;
        }
    }
    return best[0] > -__builtin_inff();
}

/* logits (rows, vocabulary); of each row: ids of its num_best best tokens (rows, num_best), and
   in numbers their shares (rows, num_best), then the entropies, then the margins (rows).
   forbidden: a token to make impossible, or -1. num_best: at least 2 unless the vocabulary is
   smaller. Gives back whether every row is fine. */
int logit_stats(float *logits, Index rows, Index vocabulary, Index forbidden, Index num_best,
        Index *ids, float *numbers) {
    float *shares = numbers, *entropies = numbers + rows * num_best, *margins = entropies + rows;
    for (Index r = 0; r < rows; r++, logits += vocabulary, ids += num_best, shares += num_best) {
        if (forbidden >= 0) {
            if (!(logits[forbidden] < __builtin_inff())) return 0;
            logits[forbidden] = -__builtin_inff();
        }
        if (!largest(logits, vocabulary, num_best, ids, shares)) return 0;
        double others, product; /* without the best, whose e^0 would drown them */
        float top = shares[0];
        logits[ids[0]] = -__builtin_inff();
        powers(logits, vocabulary, top, &others, &product);
        logits[ids[0]] = top;
        entropies[r] = logarithm_of_1_plus(others) - product / (1 + others);
        for (Index i = 0; i < num_best; i++) shares[i] = exponential_fp64(shares[i] - top) / (1 + others);
        margins[r] = shares[0] - (num_best > 1 ? shares[1] : 0);
    }
    return 1;
}
