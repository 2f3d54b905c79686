/* What rows of logits say, in one reading of each: see LogitStats in sbd_core/sampling.py.

   Compiled without -ffast-math: NaN and infinity mean something here. */

#include <math.h>
#include <stdint.h>

enum { LANES = 16, CHUNK = 64 };
typedef float Lanes __attribute__((vector_size(4 * LANES), aligned(4)));
typedef int32_t Whole __attribute__((vector_size(4 * LANES), aligned(4)));

static const float LEAST = -87; /* e^x below is no normal fp32 any more and counts as 0 */

/* e^x for LEAST <= x <= 0: 2^n e^r, the second factor by a polynomial (Cephes). */
static inline __attribute__((always_inline)) Lanes exponential(Lanes x) {
    const float to_whole = 12582912; /* 1.5 * 2^23: adding it rounds */
    Lanes n = (x * 1.44269504f + to_whole) - to_whole;
    Lanes r = x - n * 0.693359375f + n * 2.12194440e-4f;
    Lanes p = r * 1.9875691500e-4f + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1;
    return p * (Lanes)((__builtin_convertvector(n, Whole) + 127) << 23);
}

/* Adds e^d and d e^d of d = x - top, lane by lane. */
static inline __attribute__((always_inline)) void add(Lanes x, float top, Lanes *sum, Lanes *product) {
    Lanes d = x - top;
    Whole counts = d > LEAST;
    d = (Lanes)((Whole)d & counts);
    Lanes power = (Lanes)((Whole)exponential(d) & counts);
    *sum += power;
    *product += d * power;
}

/* sum of e^d and of d e^d over a row */
static void powers(const float *x, int64_t size, float top, double *sum, double *product) {
    Lanes sums = {0}, products = {0}, rest;
    int64_t i = 0;
    for (; i + LANES <= size; i += LANES) add(*(const Lanes *)(x + i), top, &sums, &products);
    for (int64_t lane = 0; lane < LANES; lane++) rest[lane] = i + lane < size ? x[i + lane] : -INFINITY;
    add(rest, top, &sums, &products);
    *sum = *product = 0;
    for (int64_t lane = 0; lane < LANES; lane++) *sum += sums[lane], *product += products[lane];
}

/* The num_best largest, best first, the first of equals first; 0 for a row that is no row of
   logits: NaN, +inf, or nothing above -inf. */
static int largest(const float *x, int64_t size, int64_t num_best, int64_t *ids, float *best) {
    int64_t count = 0;
    for (int64_t start = 0; start < size; start += CHUNK) {
        int64_t stop = start + CHUNK < size ? start + CHUNK : size;
        if (count == num_best) {
            float floor = best[num_best - 1];
            int any = 0;
            for (int64_t i = start; i < stop; i++) any |= !(x[i] <= floor);
            if (!any) continue;
        }
        for (int64_t i = start; i < stop; i++) {
            if (count == num_best && x[i] <= best[num_best - 1]) continue;
            if (!(x[i] < INFINITY)) return 0;
            int64_t place = count < num_best ? count++ : num_best - 1;
            for (; place > 0 && x[i] > best[place - 1]; place--)
                best[place] = best[place - 1], ids[place] = ids[place - 1];
            best[place] = x[i], ids[place] = i;
        }
    }
    return best[0] > -INFINITY;
}

/* logits (rows, vocabulary); of each row: ids of its num_best best tokens (rows, num_best), and
   in numbers their shares (rows, num_best), then the entropies, then the margins (rows).
   forbidden: a token to make impossible, or -1. num_best: at least 2 unless the vocabulary is
   smaller. Gives back whether every row is fine. */
int logit_stats(float *logits, int64_t rows, int64_t vocabulary, int64_t forbidden, int64_t num_best,
        int64_t *ids, float *numbers) {
    float *shares = numbers, *entropies = numbers + rows * num_best, *margins = entropies + rows;
    for (int64_t r = 0; r < rows; r++, logits += vocabulary, ids += num_best, shares += num_best) {
        if (forbidden >= 0) {
            if (!(logits[forbidden] < INFINITY)) return 0;
            logits[forbidden] = -INFINITY;
        }
        if (!largest(logits, vocabulary, num_best, ids, shares)) return 0;
        double others, product; /* without the best, whose e^0 would drown them */
        float top = shares[0];
        logits[ids[0]] = -INFINITY;
        powers(logits, vocabulary, top, &others, &product);
        logits[ids[0]] = top;
        entropies[r] = log1p(others) - product / (1 + others);
        for (int64_t i = 0; i < num_best; i++) shares[i] = exp(shares[i] - top) / (1 + others);
        margins[r] = shares[0] - (num_best > 1 ? shares[1] : 0);
    }
    return 1;
}
