/* One forward pass of a Llama-shaped model over one text, in fp32 on one thread.

   The same sums as llama/forward.py in one call, on the same weights and cache. Matrices
   lie row by row; `step` is the distance between rows. Knows no masks but
   causal tokens and blocks behind some of them. Compiled natively and to WebAssembly. */

#include "arithmetic.h"

enum { AHEAD = 16, ALIGNED = 32 }; /* scores lie in rows of a multiple of ALIGNED */
#ifdef __wasm__
enum { ROWS = 4, COLUMNS = 8 }; /* two vectors of a row: more sums than registers are slower */
#else
enum { ROWS = 8, COLUMNS = 32 };
#endif
enum { LANES = COLUMNS / 2 };
#ifdef __clang__
#define UNROLLED _Pragma("clang loop unroll(full)")
#else
#define UNROLLED _Pragma("GCC unroll 8")
#endif
typedef float Wide __attribute__((vector_size(4 * LANES), aligned(4)));

typedef struct {
    const float *attention_norm, *query_key_value, *out, *feed_forward_norm, *gate_up, *down;
} Layer;

typedef struct {
    const float *embedding, *norm, *head;
    Index num_layers, hidden, num_heads, num_kv_heads, head_size, width, vocabulary;
    Index between_tokens, between_values; /* of the embedding */
    float eps;
} Model;

typedef struct {
    float *keys, *values; /* of one slot: (layers, heads, size, capacity), (layers, heads, capacity, size) */
    Index capacity, between_layers;
} Cache;

typedef struct {
    const Index *blocks; /* (num_blocks, 2): causal tokens seen, size; the sizes make up the rows */
    Index start, count, num_causal;
} Rows;

typedef struct {
    Index position, seen, first, stop; /* sees the keys before `seen`, and first .. stop - 1 */
} Row;

/* c (rows, COLUMNS) = or += a (rows, inner) @ b (inner, COLUMNS) */
static inline __attribute__((always_inline)) void tile(const int rows, Index inner,
        const float *a, Index a_step, const float *b, Index b_step, float *c, Index c_step,
        int adds) {
    Wide left[ROWS], right[ROWS];
    UNROLLED for (int r = 0; r < rows; r++) {
        left[r] = adds ? *(Wide *)(c + r * c_step) : (Wide){0};
        right[r] = adds ? *(Wide *)(c + r * c_step + LANES) : (Wide){0};
    }
    for (Index i = 0; i < inner; i++, b += b_step) {
        Wide one = *(const Wide *)b, other = *(const Wide *)(b + LANES);
        __builtin_prefetch(b + AHEAD * b_step);
        __builtin_prefetch(b + AHEAD * b_step + LANES);
        UNROLLED for (int r = 0; r < rows; r++) {
            left[r] += a[r * a_step + i] * one;
            right[r] += a[r * a_step + i] * other;
        }
    }
    UNROLLED for (int r = 0; r < rows; r++) {
        *(Wide *)(c + r * c_step) = left[r];
        *(Wide *)(c + r * c_step + LANES) = right[r];
    }
}

/* c (rows, columns) = or += a (rows, inner) @ b (inner, columns) */
static void product(Index rows, Index inner, Index columns, const float *a, Index a_step,
        const float *b, Index b_step, float *c, Index c_step, int adds) {
    Index whole = rows > 1 ? columns / COLUMNS * COLUMNS : 0;
    for (Index j = 0; j < whole; j += COLUMNS) {
        for (Index r = 0; r < rows;) {
            const float *from = a + r * a_step;
            float *to = c + r * c_step + j;
            Index left = rows - r;
            if (left >= ROWS) tile(ROWS, inner, from, a_step, b + j, b_step, to, c_step, adds), r += ROWS;
            else if (ROWS > 4 && left >= 4) tile(4, inner, from, a_step, b + j, b_step, to, c_step, adds), r += 4;
            else if (left >= 2) tile(2, inner, from, a_step, b + j, b_step, to, c_step, adds), r += 2;
            else tile(1, inner, from, a_step, b + j, b_step, to, c_step, adds), r += 1;
        }
    }
    for (Index r = 0; r < rows && whole < columns; r++) { /* b in the order it lies in memory */
        float *restrict to = c + r * c_step;
        if (!adds) __builtin_memset(to + whole, 0, (columns - whole) * sizeof(float));
        Index i = 0;
        for (; i + 8 <= inner; i += 8) {
            const float *x = a + r * a_step + i, *w = b + i * b_step;
            for (Index j = whole; j < columns; j++)
                to[j] += x[0] * w[j] + x[1] * w[b_step + j] + x[2] * w[2 * b_step + j]
                         + x[3] * w[3 * b_step + j] + x[4] * w[4 * b_step + j]
                         + x[5] * w[5 * b_step + j] + x[6] * w[6 * b_step + j]
                         + x[7] * w[7 * b_step + j];
        }
        for (; i < inner; i++)
            for (Index j = whole; j < columns; j++)
                to[j] += a[r * a_step + i] * b[i * b_step + j];
    }
}

/* Lane by lane, as its order of additions is kept: one after the other would be slow. */
static float sum_of_squares(Index size, const float *x) {
    Wide sums = {0};
    float sum = 0;
    Index i = 0;
    for (; i + LANES <= size; i += LANES) sums += *(const Wide *)(x + i) * *(const Wide *)(x + i);
    for (; i < size; i++) sum += x[i] * x[i];
    for (Index lane = 0; lane < LANES; lane++) sum += sums[lane];
    return sum;
}

static float sum_of(Index size, const float *x) {
    Wide sums = {0};
    float sum = 0;
    Index i = 0;
    for (; i + LANES <= size; i += LANES) sums += *(const Wide *)(x + i);
    for (; i < size; i++) sum += x[i];
    for (Index lane = 0; lane < LANES; lane++) sum += sums[lane];
    return sum;
}

static void normed(Index rows, Index size, const float *x, const float *scale, float eps,
        float *to) {
    for (Index r = 0; r < rows; r++, x += size, to += size) {
        float inverse = 1 / __builtin_sqrtf(eps * eps + sum_of_squares(size, x));
        for (Index i = 0; i < size; i++) to[i] = x[i] * inverse * scale[i];
    }
}

/* Turns one head by the table's row of its position and kind, and lays it down `step` apart. */
static void turned(Index half, const float *x, const float *cosines, const float *sines,
        float *to, Index step) {
    for (Index i = 0; i < half; i++) {
        float first = x[i], second = x[half + i];
        to[i * step] = first * cosines[i] + second * sines[i];
        to[(half + i) * step] = second * cosines[half + i] + first * sines[half + i];
    }
}

/* Of the scores before `seen` and those of the row's own block, the others to 0. */
static void softmax(float *x, Row row, Index stop) {
    float largest = row.seen ? x[0] : x[row.first];
    for (Index j = 1; j < row.seen; j++) largest = x[j] > largest ? x[j] : largest;
    for (Index j = row.first; j < row.stop; j++) largest = x[j] > largest ? x[j] : largest;
    for (Index j = 0; j < row.seen; j++) x[j] = exponential(x[j] - largest);
    for (Index j = row.first; j < row.stop; j++) x[j] = exponential(x[j] - largest);
    float sum = sum_of(row.seen, x) + sum_of(row.stop - row.first, x + row.first);
    float inverse = 1 / sum;
    for (Index j = 0; j < row.seen; j++) x[j] *= inverse;
    for (Index j = row.first; j < row.stop; j++) x[j] *= inverse;
    __builtin_memset(x + row.seen, 0, (row.first - row.seen) * sizeof(float));
    __builtin_memset(x + row.stop, 0, (stop - row.stop) * sizeof(float));
}

/* Where row r stands: causal tokens first, then the blocks. */
static Row placed(const Rows *rows, Index r) {
    Index start = rows->start, first = rows->num_causal, seen, size;
    if (r < first) return (Row){start + r, start + r + 1, start + r + 1, start + r + 1};
    for (const Index *block = rows->blocks;; block += 2, first += size) {
        seen = block[0], size = block[1];
        if (r < first + size) break;
    }
    Index position = start + seen + r - first, stop = start + first + size;
    if (seen == first) return (Row){position, stop, stop, stop}; /* nothing between: one range */
    return (Row){position, start + seen, start + first, stop};
}

/* heads (rows, query, key and value heads, size): queries are turned and scaled in place, keys
   and values go into the cache at `start`; the mixed values replace the queries. */
static void attend(const Model *m, const Cache *cache, Index layer, const Rows *which,
        const float *cosines, const float *sines, float *heads, float *scores) {
    Index start = which->start, rows = which->count;
    Index size = m->head_size, capacity = cache->capacity, stop = start + rows;
    Index step = (m->num_heads + 2 * m->num_kv_heads) * size, group = m->num_heads / m->num_kv_heads;
    Index padded = (stop + ALIGNED - 1) / ALIGNED * ALIGNED;
    float *keys = cache->keys + layer * cache->between_layers;
    float *values = cache->values + layer * cache->between_layers;
    for (Index r = 0; r < rows; r++) {
        Index position = placed(which, r).position;
        const float *c = cosines + position * 3 * size, *s = sines + position * 3 * size;
        float *row = heads + r * step, *key = row + m->num_heads * size;
        for (Index h = 0; h < m->num_heads; h++)
            turned(size / 2, row + h * size, c, s, row + h * size, 1);
        for (Index h = 0; h < m->num_kv_heads; h++) {
            turned(size / 2, key + h * size, c + size, s + size, keys + h * size * capacity + start + r, capacity);
            __builtin_memcpy(values + (h * capacity + start + r) * size, key + (m->num_kv_heads + h) * size,
                   size * sizeof(float));
        }
    }
    for (Index h = 0; h < m->num_heads; h++) {
        const float *key = keys + h / group * size * capacity, *value = values + h / group * capacity * size;
        float *queries = heads + h * size;
        product(rows, size, padded, queries, step, key, capacity, scores, padded, 0);
        for (Index r = 0; r < rows; r++)
            softmax(scores + r * padded, placed(which, r), stop);
        product(rows, stop, size, scores, padded, value, size, queries, step, 0);
    }
}

/* logits (num_wanted, vocabulary) of the last rows. space: see forward.py. */
void forward(const Model *m, const Layer *layers, const Cache *cache, const float *cosines,
        const float *sines, const Index *ids, Index start, Index rows, Index num_causal,
        Index num_wanted, const Index *blocks, float *space, float *logits) {
    Rows which = {blocks, start, rows, num_causal};
    Index hidden = m->hidden, width = m->width, size = m->head_size;
    Index heads_width = (m->num_heads + 2 * m->num_kv_heads) * size, mixed = m->num_heads * size;
    float *x = space, *y = x + rows * hidden, *z = y + rows * hidden;
    float *scores = z + rows * (heads_width > 2 * width ? heads_width : 2 * width);
    for (Index r = 0; r < rows; r++)
        for (Index i = 0; i < hidden; i++)
            x[r * hidden + i] = m->embedding[ids[r] * m->between_tokens + i * m->between_values];
    for (Index i = 0; i < m->num_layers; i++) {
        const Layer *w = layers + i;
        normed(rows, hidden, x, w->attention_norm, m->eps, y);
        product(rows, hidden, heads_width, y, hidden, w->query_key_value, heads_width, z, heads_width, 0);
        attend(m, cache, i, &which, cosines, sines, z, scores);
        product(rows, mixed, hidden, z, heads_width, w->out, hidden, x, hidden, 1);
        normed(rows, hidden, x, w->feed_forward_norm, m->eps, y);
        product(rows, hidden, 2 * width, y, hidden, w->gate_up, 2 * width, z, 2 * width, 0);
        for (Index r = 0; r < rows; r++)
            for (Index j = 0; j < width; j++) {
                float gate = z[r * 2 * width + j];
                z[r * 2 * width + j] = gate / (1 + exponential(-gate)) * z[r * 2 * width + width + j];
            }
        product(rows, width, hidden, z, 2 * width, w->down, hidden, x, hidden, 1);
    }
    normed(num_wanted, hidden, x + (rows - num_wanted) * hidden, m->norm, m->eps, y);
    product(num_wanted, hidden, m->vocabulary, y, hidden, m->head, m->vocabulary, logits, m->vocabulary, 0);
}

/* e^x of `count` numbers in place: what the tests hold against e^x itself. */
void exponentials(Index count, float *x) {
    for (Index i = 0; i < count; i++) x[i] = exponential(x[i]);
}
