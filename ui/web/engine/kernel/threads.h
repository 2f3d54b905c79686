/* Products of the model's matrices shared out between threads, where WebAssembly has some: helpers
   wait in help() for panels to compute, each claimed by one thread, so every sum is the same
   whoever makes it. One thread calls forward(). Elsewhere shared() is product(). */

#ifdef __wasm_atomics__

enum {
    LEAST_WORK = 1 << 18, /* multiplications worth sharing; one row, which memory bounds, is not */
    SPINS = 100000,       /* looks at a number, some 0.1 ms, before a thread sleeps until it is another */
    NAP = 100000          /* nanoseconds */
};

typedef struct {
    Index rows, inner, columns;
    const float *a;
    Index a_step;
    Matrix b;
    float *c;
    Index c_step;
    int adds;
    Index claim; /* columns that a thread takes at once */
} Job;

static Job job; /* written only while no claim is left or held */
static int32_t unclaimed, finished, sleeping, helped;
static Index num_helpers;

static int32_t value_of(int32_t *number) {
    return __atomic_load_n(number, __ATOMIC_SEQ_CST);
}

/* Computes one claim of the job; 0 if none is left. */
static int take_claim(void) {
    int32_t last = __atomic_fetch_sub(&unclaimed, 1, __ATOMIC_SEQ_CST);
    if (last <= 0) return 0;
    Index first = (last - 1) * job.claim;
    Index columns = job.columns - first < job.claim ? job.columns - first : job.claim;
    Matrix b = job.b;
    b.start += first / COLUMNS * b.between;
    product(job.rows, job.inner, columns, job.a, job.a_step, b, job.c + first, job.c_step, job.adds);
    __atomic_fetch_add(&finished, 1, __ATOMIC_SEQ_CST);
    return 1;
}

/* What a helper does for good: computes claims, and sleeps after a while without any. */
void help(void) {
    for (int spins = 0;;) {
        int32_t seen = value_of(&unclaimed);
        if (seen > 0) {
            if (take_claim()) __atomic_fetch_add(&helped, 1, __ATOMIC_SEQ_CST);
            spins = 0;
        } else if (++spins > SPINS) {
            __atomic_fetch_add(&sleeping, 1, __ATOMIC_SEQ_CST);
            __builtin_wasm_memory_atomic_wait32(&unclaimed, seen, -1);
            __atomic_fetch_sub(&sleeping, 1, __ATOMIC_SEQ_CST);
            spins = 0;
        }
    }
}

/* As many threads as are in help(), or will be. */
void set_num_helpers(Index count) {
    num_helpers = count;
}

/* How many claims helpers computed. */
int num_helped(void) {
    return value_of(&helped);
}

/* c (rows, columns) = or += a (rows, inner) @ b (inner, columns), b one of the model's */
static void shared(Index rows, Index inner, Index columns, const float *a, Index a_step, Matrix b,
        float *c, Index c_step, int adds) {
    if (!num_helpers || rows < ROWS || rows * inner * columns < LEAST_WORK) {
        product(rows, inner, columns, a, a_step, b, c, c_step, adds);
        return;
    }
    Index claim = rows < 2 * ROWS ? 4 * COLUMNS : 2 * COLUMNS;
    int32_t count = (columns + claim - 1) / claim;
    job = (Job){rows, inner, columns, a, a_step, b, c, c_step, adds, claim};
    __atomic_store_n(&finished, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&unclaimed, count, __ATOMIC_SEQ_CST);
    if (value_of(&sleeping)) __builtin_wasm_memory_atomic_notify((int32_t *)&unclaimed, -1);
    while (take_claim());
    int32_t seen;
    for (int spins = 0; (seen = value_of(&finished)) < count; spins++)
        if (spins > SPINS) __builtin_wasm_memory_atomic_wait32(&finished, seen, NAP);
}

#else

static void shared(Index rows, Index inner, Index columns, const float *a, Index a_step, Matrix b,
        float *c, Index c_step, int adds) {
    product(rows, inner, columns, a, a_step, b, c, c_step, adds);
}

#endif
