// Which arms may be among the best, where all were multiplied: they are left for `last`. Sums that parts of the columns have are put
// together here. What is too much for the lists is evaluated by `last`, every arm of it.
extern "C" __global__ void __launch_bounds__(THREADS, 2) screen(const __grid_constant__ Params p) {
    FOLLOWS;
    extern __shared__ __align__(16) char shared[];
    Merge& sm = *reinterpret_cast<Merge*>(shared);
    QUERY_OF_BLOCK;
    if (__syncthreads_or(fresh(work->state) != WHOLE)) return;
    bool usable = fresh(work->reason) != BEYOND_RANGE;
    if (usable && p.parts > 1) {
        for (int i = blockIdx.x * THREADS + threadIdx.x; i < p.n; i += p.grid * THREADS) {
            const int row = row_at(p, i);
            if (p.grid_of_row) {
                list_arm(p, work, query, i, between_of_total(p, work, row, __ldcg(p.totals + (size_t)query * p.n + i)));
                continue;
            }
            float sum = 0.0f;
            #pragma unroll 8
            for (int part = 0; part < p.parts; part++) sum += __ldcg(p.products + ((size_t)query * p.parts + part) * p.n + i);
            list_arm(p, work, query, i, between_of_sum(p, work, row, sum));
        }
        if (!last_to_arrive(&work->arrived[5], p.grid, &sm.flag)) return;
    } else if (blockIdx.x) return;
    int taken = 0;
    usable = usable && sift(p, work, query, &taken, sm);
    if (threadIdx.x) return;
    work->found = 0;                                            // those that were evaluated before are on the list, too
    work->stage = 0;
    if (!usable) return;
    work->count[3] = taken;
    work->state = RACING;
    work->reason = p.batch ? MULTIPLIED : SKIMMED;
    work->rows += p.n;
}
