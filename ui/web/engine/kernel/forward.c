/* One forward pass of a Llama-shaped model over one text, in fp32 on one thread.

   The same sums as sbd_core/models/backends/llama/forward.py in one call. Matrices lie row by row
   unless they are packed; `step` is the distance between rows. Knows no masks but causal tokens and
   blocks behind some of them. Compiled to WebAssembly by scripts/build_wasm.py; compiled
   natively, for comparison, its tile is that of the processor's vectors. */

#include "arithmetic.h"

enum { AHEAD = 16, ALIGNED = 32 }; /* scores lie in rows of a multiple of ALIGNED */
#ifdef __wasm__
enum { ROWS = 4, COLUMNS = 8 }; /* two vectors of a row: more sums than registers are slower */
#elif defined(__AVX512F__)
enum { ROWS = 8, COLUMNS = 32 };
#elif defined(__AVX__)
enum { ROWS = 4, COLUMNS = 16 };
#else
enum { ROWS = 4, COLUMNS = 8 };
#endif
enum { LANES = COLUMNS / 2 };
#ifdef __clang__
#define UNROLLED _Pragma("clang loop unroll(full)")
#else
#define UNROLLED _Pragma("GCC unroll 8")
#endif
typedef float Wide __attribute__((vector_size(4 * LANES), aligned(4)));
#ifdef __wasm_relaxed_simd__ /* a multiplication and an addition in one instruction */
#define PLUS_PRODUCT(sum, number, vector) \
    __builtin_wasm_relaxed_madd_f32x4((Wide){number, number, number, number}, vector, sum)
#else
#define PLUS_PRODUCT(sum, number, vector) ((sum) + (number) * (vector))
#endif

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
    const float *start;
    Index step, between; /* distances of the rows of a panel of COLUMNS columns, and of panels */
    int is_packed;       /* one panel after the other, then the columns left over, row by row */
} Matrix;

typedef struct {
    Index position, seen, first, stop; /* sees the keys before `seen`, and first .. stop - 1 */
} Row;

/* Row by row. */
static Matrix as_it_lies(const float *b, Index step) {
    return (Matrix){b, step, COLUMNS, 0};
}

/* A matrix of the model: natively where PyTorch has it; in WebAssembly packed by
   ui/web/engine/checkpoint/weights.js, so that it is read in the order in which it lies. */
static Matrix weights(const float *b, Index inner, Index columns) {
#ifdef __wasm__
    return (Matrix){b, COLUMNS, COLUMNS * inner, 1};
#else
    return as_it_lies(b, columns);
#endif
}

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
            left[r] = PLUS_PRODUCT(left[r], a[r * a_step + i], one);
            right[r] = PLUS_PRODUCT(right[r], a[r * a_step + i], other);
        }
    }
    UNROLLED for (int r = 0; r < rows; r++) {
        *(Wide *)(c + r * c_step) = left[r];
        *(Wide *)(c + r * c_step + LANES) = right[r];
    }
}

/* tile() of one row: sums of every fourth product apart, as each waits for the one before. */
static void tile_of_one(Index inner, const float *a, const float *b, Index b_step, float *c, int adds) {
    Wide left[4] = {0}, right[4] = {0};
    Index i = 0;
    if (adds) left[0] = *(Wide *)c, right[0] = *(Wide *)(c + LANES);
    for (; i + 4 <= inner; i += 4, b += 4 * b_step)
        UNROLLED for (int part = 0; part < 4; part++) {
            left[part] = PLUS_PRODUCT(left[part], a[i + part], *(const Wide *)(b + part * b_step));
            right[part] = PLUS_PRODUCT(right[part], a[i + part], *(const Wide *)(b + part * b_step + LANES));
        }
    for (; i < inner; i++, b += b_step) {
        left[0] = PLUS_PRODUCT(left[0], a[i], *(const Wide *)b);
        right[0] = PLUS_PRODUCT(right[0], a[i], *(const Wide *)(b + LANES));
    }
    *(Wide *)c = left[0] + left[1] + (left[2] + left[3]);
    *(Wide *)(c + LANES) = right[0] + right[1] + (right[2] + right[3]);
}

/* c (1, columns) = or += a (1, inner) @ b (inner, columns), b in the order it lies in memory */
static void product_of_one(Index inner, Index columns, const float *x, const float *w, Index b_step,
        float *restrict to, int adds) {
    if (!adds) __builtin_memset(to, 0, columns * sizeof(float));
    Index i = 0;
    for (; i + 8 <= inner; i += 8, x += 8, w += 8 * b_step)
        for (Index j = 0; j < columns; j++)
            to[j] += x[0] * w[j] + x[1] * w[b_step + j] + x[2] * w[2 * b_step + j]
                     + x[3] * w[3 * b_step + j] + x[4] * w[4 * b_step + j]
                     + x[5] * w[5 * b_step + j] + x[6] * w[6 * b_step + j]
                     + x[7] * w[7 * b_step + j];
    for (; i < inner; i++, x++, w += b_step)
        for (Index j = 0; j < columns; j++) to[j] += *x * w[j];
}

/* c (rows, columns) = or += a (rows, inner) @ b (inner, columns) */
static void product(Index rows, Index inner, Index columns, const float *a, Index a_step,
        Matrix b, float *c, Index c_step, int adds) {
    Index whole = rows > 1 || b.is_packed ? columns / COLUMNS * COLUMNS : 0;
    const float *panel = b.start;
    for (Index j = 0; j < whole; j += COLUMNS, panel += b.between) {
        for (Index r = 0; r < rows;) {
            const float *from = a + r * a_step;
            float *to = c + r * c_step + j;
            Index left = rows - r;
            if (left >= ROWS) tile(ROWS, inner, from, a_step, panel, b.step, to, c_step, adds), r += ROWS;
            else if (ROWS > 4 && left >= 4) tile(4, inner, from, a_step, panel, b.step, to, c_step, adds), r += 4;
            else if (left >= 2) tile(2, inner, from, a_step, panel, b.step, to, c_step, adds), r += 2;
            else if (b.is_packed) tile_of_one(inner, from, panel, b.step, to, adds), r += 1;
            else tile(1, inner, from, a_step, panel, b.step, to, c_step, adds), r += 1;
        }
    }
    for (Index r = 0; r < rows && whole < columns; r++)
        product_of_one(inner, columns - whole, a + r * a_step, panel, b.is_packed ? columns - whole : b.step,
                       c + r * c_step + whole, adds);
}

#include "threads.h"

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
        product(rows, size, padded, queries, step, as_it_lies(key, capacity), scores, padded, 0);
        for (Index r = 0; r < rows; r++)
            softmax(scores + r * padded, placed(which, r), stop);
        product(rows, stop, size, scores, padded, as_it_lies(value, size), queries, step, 0);
    }
}

/* A token's embedding: a column of the head where they are one matrix. */
static void embed(const Model *m, Index id, float *to) {
    Matrix head = weights(m->head, m->hidden, m->vocabulary);
    const float *from = m->embedding + id * m->between_tokens;
    Index step = m->between_values, whole = m->vocabulary / COLUMNS * COLUMNS;
    if (head.is_packed && m->embedding == m->head) {
        step = id < whole ? COLUMNS : m->vocabulary - whole;
        from = id < whole ? m->head + id / COLUMNS * head.between + id % COLUMNS
                          : m->head + whole * m->hidden + id - whole;
    }
    for (Index i = 0; i < m->hidden; i++) to[i] = from[i * step];
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
    for (Index r = 0; r < rows; r++) embed(m, ids[r], x + r * hidden);
    for (Index i = 0; i < m->num_layers; i++) {
        const Layer *w = layers + i;
        normed(rows, hidden, x, w->attention_norm, m->eps, y);
        shared(rows, hidden, heads_width, y, hidden, weights(w->query_key_value, hidden, heads_width), z, heads_width, 0);
        attend(m, cache, i, &which, cosines, sines, z, scores);
        shared(rows, mixed, hidden, z, heads_width, weights(w->out, mixed, hidden), x, hidden, 1);
        normed(rows, hidden, x, w->feed_forward_norm, m->eps, y);
        shared(rows, hidden, 2 * width, y, hidden, weights(w->gate_up, hidden, 2 * width), z, 2 * width, 0);
        for (Index r = 0; r < rows; r++)
            for (Index j = 0; j < width; j++) {
                float gate = z[r * 2 * width + j];
                z[r * 2 * width + j] = gate / (1 + exponential(-gate)) * z[r * 2 * width + width + j];
            }
        shared(rows, width, hidden, z, 2 * width, weights(w->down, width, hidden), x, hidden, 1);
    }
    normed(num_wanted, hidden, x + (rows - num_wanted) * hidden, m->norm, m->eps, y);
    shared(num_wanted, hidden, m->vocabulary, y, hidden, weights(m->head, hidden, m->vocabulary), logits, m->vocabulary, 0);
}

/* e^x of `count` numbers in place: what the tests hold against e^x itself. */
void exponentials(Index count, float *x) {
    for (Index i = 0; i < count; i++) x[i] = exponential(x[i]);
}
