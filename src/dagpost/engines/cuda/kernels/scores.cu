// Sums over the occupied cells of the contingency table of every set of columns (scores/counting.py, scores/cells.py).
// One block of threads for each set: it counts its rows in shared memory, cell by cell, and sums the terms of the counts.
//
// Defined by engines/cuda/scores.py: THREADS, NODES, MAX_SIZE (of a set), COPIES (of the counters, so that threads that
// hit the same cell wait less).

__constant__ int binomial[(NODES + 1) * (MAX_SIZE + 1)];       // [element][size]
__constant__ int arities[NODES];

__device__ double stirling(double value)
{
    double inverse = 1.0 / value, square = inverse * inverse;
    return inverse * (1.0 / 12 - square * (1.0 / 360 - square * (1.0 / 1260 - square * (1.0 / 1680))));
}

// log Gamma(parameter + count) - log Gamma(parameter), as scores/cells.py works it out.
__device__ double log_rising(double parameter, double count)
{
    if (parameter < 16.0) return lgamma(parameter + count) - lgamma(parameter);
    double upper = parameter + count;
    return (parameter - 0.5) * log1p(count / parameter) + count * (log(upper) - 1.0) + stirling(upper) -
           stirling(parameter);
}

__device__ double block_sum(double value)
{
    __shared__ double partial[THREADS];
    __syncthreads();
    partial[threadIdx.x] = value;
    for (int half = THREADS / 2; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    }
    __syncthreads();
    return partial[0];
}

// `parameters` has one number for A and one for each variant of B; with `strength` above 0 there is one parameter,
// `strength` over the number of configurations. `totals` has a row for A and one for each variant.
extern "C" __global__ void __launch_bounds__(THREADS)
    sum_cells(const unsigned short *codes, const unsigned int *weights, int rows, const double *parameters,
              const double *penalties, int variants, int own_rows, double strength, int entropy, int size, int first,
              int rank_start, long long sets, double *totals)
{
    extern __shared__ unsigned int counters[];
    __shared__ int members[MAX_SIZE + 1];
    __shared__ int cells;
    if (threadIdx.x == 0) {
        int rank = rank_start + blockIdx.x, element = NODES;
        cells = 1;
        for (int position = size; position > 0; position--) {
            do element--;
            while (binomial[element * (MAX_SIZE + 1) + position] > rank);
            rank -= binomial[element * (MAX_SIZE + 1) + position];
            members[position - 1] = element;
            cells *= arities[element];
        }
    }
    __syncthreads();
    for (int cell = threadIdx.x; cell < cells * COPIES; cell += THREADS) counters[cell] = 0;
    __syncthreads();
    unsigned int *own = counters + (threadIdx.x / (THREADS / COPIES)) * cells;
    for (int row = threadIdx.x; row < rows; row += THREADS) {
        int cell = 0;
        for (int position = 0; position < size; position++)
            cell = cell * arities[members[position]] + codes[(long long)members[position] * rows + row];
        atomicAdd(own + cell, weights[row]);
    }
    __syncthreads();
    for (int cell = threadIdx.x; cell < cells; cell += THREADS)
        for (int copy = 1; copy < COPIES; copy++) counters[cell] += counters[cell + copy * cells];
    for (int variant = -1; variant < (size < MAX_SIZE ? variants : 0); variant++) {
        if (variant >= 0 && !own_rows) {
            if (threadIdx.x == 0)
                totals[(variant + 1) * sets + first + blockIdx.x] =
                    totals[first + blockIdx.x] + penalties[variant] * cells;
            continue;
        }
        double parameter = strength > 0.0 ? strength / cells : parameters[variant + 1], total = 0.0;
        for (int cell = threadIdx.x; cell < cells; cell += THREADS)
            if (counters[cell]) {
                double count = counters[cell];
                total += entropy ? count * log(count) : log_rising(parameter, count);
            }
        total = block_sum(total);
        if (threadIdx.x == 0)
            totals[(variant + 1) * sets + first + blockIdx.x] =
                total + (variant >= 0 ? penalties[variant] * cells : 0.0);
    }
}
