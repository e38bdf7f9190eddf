// The alternating sums over all graphs (exact/graph_sums.py and exact/completions.py) on a device. What each kernel does
// is written in engines/cuda/structure.py.
//
// Defined by engines/cuda/structure.py: NODES (more than ROWS), FAMILIES, ROWS, WARPS, NOTHING, and what widefloat.cuh
// needs. The ROWS lowest nodes are the rows of a table: sixteen neighbours, one line of the cache. A block of threads
// takes all sets with the same upper nodes; its threads share out the sets of upper nodes that are added: five nodes
// number the lanes of a warp, the others the chunks.

#define ROW_SETS (1 << ROWS)
#define UPPER (NODES - ROWS)
#define THREADS (32 * WARPS)
// No factor of a sum is larger than this power of two: it is on a scale that no term exceeds.
#define LARGEST_SHIFT 64
#define PARTS (2 + ROWS + 5)               // total, magnitude, row nodes, lane nodes

static_assert(ROWS == 4 && WARPS % 4 == 0, "completions_of_sets deals sixteen row sets out to four kinds of warps");

typedef unsigned long long mask_t;

__device__ __forceinline__ double power(int exponent)
{
    exponent = min(max(exponent, SMALLEST_SHIFT), LARGEST_SHIFT);
    return __hiloint2double((exponent + 1023) << 20, 0);
}

__device__ __forceinline__ int exponent_of(wide value) { return (int)(value >> FRACTION_BITS); }

__device__ __forceinline__ mask_t squeezed(mask_t set, int node)
{
    mask_t below = ((mask_t)1 << node) - 1;
    return (set & below) | ((set >> 1) & ~below);
}

// What all threads of a block know of its sets: alpha of every node outside as a double in [1, 2) and an exponent, and
// the products of (-alpha) over sets of row nodes and of lane nodes.
struct Shared {
    int outside[UPPER + 1], count, lane_bits;
    double alpha[ROW_SETS][NODES];
    int alpha_exponent[ROW_SETS][NODES];
    double row[ROW_SETS][ROW_SETS];
    int row_exponent[ROW_SETS][ROW_SETS];
    double lane[ROW_SETS][32];
    int lane_exponent[ROW_SETS][32];
    double chunk[WARPS][ROW_SETS];
    int chunk_exponent[WARPS][ROW_SETS];
};

__device__ __forceinline__ void prepare(Shared &s, const wide *alpha, mask_t upper)
{
    int thread = threadIdx.x;
    if (thread == 0) {
        s.count = 0;
        for (int node = 0; node < UPPER; node++)
            if (!((upper >> node) & 1)) s.outside[s.count++] = ROWS + node;
        s.lane_bits = min(s.count, 5);
    }
    for (int pair = thread; pair < ROW_SETS * NODES; pair += THREADS) {
        int row = pair / NODES, node = pair % NODES;
        mask_t set = upper << ROWS | row;
        if ((set >> node) & 1) continue;
        wide value = alpha[((mask_t)node << (NODES - 1)) + squeezed(set, node)];
        s.alpha[row][node] = fraction_of(value);
        s.alpha_exponent[row][node] = exponent_of(value);
    }
    __syncthreads();
    for (int pair = thread; pair < ROW_SETS * ROW_SETS; pair += THREADS) {
        int row = pair / ROW_SETS, added = pair % ROW_SETS, exponent = 0;
        double product = 1.0;
        if (row & added) continue;
        for (int node = 0; node < ROWS; node++)
            if ((added >> node) & 1) {
                product *= -s.alpha[row][node];
                exponent += s.alpha_exponent[row][node];
            }
        s.row[row][added] = product;
        s.row_exponent[row][added] = exponent;
    }
    for (int pair = thread; pair < ROW_SETS * 32; pair += THREADS) {
        int row = pair / 32, lane = pair % 32, exponent = 0;
        double product = 1.0;
        for (int position = 0; position < s.lane_bits; position++)
            if ((lane >> position) & 1) {
                product *= -s.alpha[row][s.outside[position]];
                exponent += s.alpha_exponent[row][s.outside[position]];
            }
        s.lane[row][lane] = product;
        s.lane_exponent[row][lane] = exponent;
    }
    __syncthreads();
}

// The upper nodes that a lane adds, and for its warp the products over those of its chunk.
__device__ __forceinline__ mask_t added_by(Shared &s, int warp, int lane, int chunk)
{
    mask_t added = 0;
    for (int position = 0; position < s.lane_bits; position++)
        if ((lane >> position) & 1) added |= (mask_t)1 << (s.outside[position] - ROWS);
    for (int rest = chunk; rest; rest &= rest - 1)
        added |= (mask_t)1 << (s.outside[s.lane_bits + __ffs(rest) - 1] - ROWS);
    __syncwarp();
    if (lane < ROW_SETS) {
        double product = 1.0;
        int exponent = 0;
        for (int rest = chunk; rest; rest &= rest - 1) {
            int node = s.outside[s.lane_bits + __ffs(rest) - 1];
            product *= -s.alpha[lane][node];
            exponent += s.alpha_exponent[lane][node];
        }
        s.chunk[warp][lane] = product;
        s.chunk_exponent[warp][lane] = exponent;
    }
    __syncwarp();
    return added;
}

// A(S): every set gives to all sets that hold it, on the scale of their order-modular sums. `uppers` lists the sets of
// upper nodes that have as many.
extern "C" __global__ void __launch_bounds__(THREADS)
    sums_over_graphs(const wide *alpha, const wide *sums, double *graphs, const int *uppers)
{
    __shared__ Shared s;
    __shared__ double own[ROW_SETS];
    __shared__ int target[ROW_SETS], exponent[ROW_SETS];
    mask_t upper = uppers[blockIdx.x];
    int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
    prepare(s, alpha, upper);
    if (thread < ROW_SETS) {
        own[thread] = upper == 0 && thread == 0 ? 1.0 : graphs[upper << ROWS | thread];
        target[thread] = exponent_of(sums[upper << ROWS | thread]);
    }
    __syncthreads();
    if (warp == 0) {
        for (int size = 0; size <= ROWS; size++) {
            if (lane < ROW_SETS && __popc(lane) == size) {
                double total = own[lane];
                for (int row = 0; row < lane; row++)
                    if ((row & ~lane) == 0)
                        total += own[row] * s.row[row][lane ^ row] *
                                 power(exponent[row] + s.row_exponent[row][lane ^ row] - target[lane]);
                graphs[upper << ROWS | lane] = total;
                // From here on `own` is minus the fraction of what the set gives, and `exponent` its exponent.
                int shift = 0;
                own[lane] = total > 0.0 ? -frexp(total, &shift) : 0.0;
                exponent[lane] = shift + target[lane];
            }
            __syncwarp();
        }
    }
    __syncthreads();
    int chunks = 1 << (s.count - s.lane_bits);
    for (int chunk = warp; chunk < chunks; chunk += WARPS) {
        mask_t added = added_by(s, warp, lane, chunk);
        if (lane >= 1 << s.lane_bits || added == 0) continue;
        double factor[ROW_SETS];
        int shift[ROW_SETS];
#pragma unroll
        for (int row = 0; row < ROW_SETS; row++) {
            factor[row] = own[row] * s.lane[row][lane] * s.chunk[warp][row];
            shift[row] = exponent[row] + s.lane_exponent[row][lane] + s.chunk_exponent[warp][row];
        }
        mask_t base = (upper | added) << ROWS;
#pragma unroll
        for (int reached = 0; reached < ROW_SETS; reached++) {
            int scale = exponent_of(sums[base | reached]);
            double total = 0.0;
#pragma unroll
            for (int row = 0; row < ROW_SETS; row++)
                if ((row & ~reached) == 0)
                    total += factor[row] * s.row[row][reached ^ row] *
                             power(shift[row] + s.row_exponent[row][reached ^ row] - scale);
            if (total != 0.0) atomicAdd(graphs + (base | reached), total);
        }
    }
}

struct Sums {
    double total, magnitude, chunk, rows[ROWS];
};

__device__ __forceinline__ double warp_sum(double value)
{
    for (int step = 16; step; step /= 2) value += __shfl_xor_sync(0xffffffff, value, step);
    return value;
}

template <int ROW>
__device__ __forceinline__ void add_terms(const Shared &s, const double (&values)[ROW_SETS],
                                          const int (&exponents)[ROW_SETS], int scale, int warp, int lane, int chunk,
                                          Sums &sums)
{
    int shift = s.lane_exponent[ROW][lane] + s.chunk_exponent[warp][ROW] - scale;
    double product = s.lane[ROW][lane] * s.chunk[warp][ROW], total = 0.0, magnitude = 0.0, rows[ROWS] = {};
#pragma unroll
    for (int added = 0; added < ROW_SETS; added++)
        if ((added & ROW) == 0) {
            double term = values[ROW | added] * power(exponents[ROW | added] + s.row_exponent[ROW][added] + shift);
            term *= s.row[ROW][added];
            total += term;
            magnitude += fabs(term);
#pragma unroll
            for (int node = 0; node < ROWS; node++)
                if ((added >> node) & 1) rows[node] += term;
        }
    total *= product;
    sums.total += total;
    sums.magnitude += fabs(product) * magnitude;
#pragma unroll
    for (int node = 0; node < ROWS; node++)
        if (!((ROW >> node) & 1)) sums.rows[node] += product * rows[node];
    double whole = warp_sum(total);
    if ((chunk >> lane) & 1) sums.chunk += whole;
}

__device__ __forceinline__ void hand_over(const Sums &sums, int lane, double *parts, double *chunks)
{
    double part = warp_sum(sums.total);
    if (lane == 0) parts[0] = part;
    part = warp_sum(sums.magnitude);
    if (lane == 0) parts[1] = part;
    for (int node = 0; node < ROWS; node++) {
        part = warp_sum(sums.rows[node]);
        if (lane == 0) parts[2 + node] = part;
    }
    for (int bit = 0; bit < 5; bit++) {
        part = warp_sum((lane >> bit) & 1 ? sums.total : 0.0);
        if (lane == 0) parts[2 + ROWS + bit] = part;
    }
    chunks[lane] = sums.chunk;
}

// Two warps share one part of the row sets, each with every other chunk.
template <int... ROW>
__device__ __forceinline__ void add_chunks(Shared &s, const double *completions, const int *completion_exponents,
                                           mask_t upper, const int *scales, double (*parts)[ROW_SETS][PARTS],
                                           double (*chunk_parts)[ROW_SETS][32])
{
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, half = warp / 4;
    Sums sums[sizeof...(ROW)] = {};
    int chunks = 1 << (s.count - s.lane_bits);
    for (int chunk = half; chunk < chunks; chunk += 2) {
        mask_t added = added_by(s, warp, lane, chunk);
        double values[ROW_SETS];
        int exponents[ROW_SETS];
        bool idle = lane >= 1 << s.lane_bits || added == 0;
        const double2 *from = (const double2 *)(completions + ((upper | added) << ROWS));
        const int4 *exponents_from = (const int4 *)(completion_exponents + ((upper | added) << ROWS));
#pragma unroll
        for (int j = 0; j < ROW_SETS / 2; j++) {
            double2 pair = idle ? make_double2(0.0, 0.0) : from[j];
            values[2 * j] = pair.x;
            values[2 * j + 1] = pair.y;
        }
#pragma unroll
        for (int j = 0; j < ROW_SETS / 4; j++) {
            int4 four = idle ? make_int4(0, 0, 0, 0) : exponents_from[j];
            exponents[4 * j] = four.x;
            exponents[4 * j + 1] = four.y;
            exponents[4 * j + 2] = four.z;
            exponents[4 * j + 3] = four.w;
        }
        int k = 0;
        (add_terms<ROW>(s, values, exponents, scales[ROW], warp, lane, chunk, sums[k++]), ...);
    }
    int k = 0;
    (hand_over(sums[k++], lane, parts[half][ROW], chunk_parts[half][ROW]), ...);
}

__device__ __forceinline__ wide as_wide(double value, int exponent)
{
    if (!(value >= 2.2250738585072014e-308)) return ZERO;
    int own;
    double fraction = frexp(value, &own);
    exponent += own - 1;
    if (exponent <= (int)(ZERO_LIMIT >> FRACTION_BITS)) return ZERO;
    return ((wide)exponent << FRACTION_BITS) + llrint((2.0 * fraction - 1.0) * (double)(1LL << FRACTION_BITS));
}

// B(U) of all sets with the upper nodes that `uppers` lists, and G_i(U) of every node outside. Sets of weight zero have
// the value 0 and the exponent NOTHING.
extern "C" __global__ void __launch_bounds__(THREADS)
    completions_of_sets(const wide *alpha, const wide *sums, const double *graphs, double *completions,
                        int *completion_exponents, wide *given, double *errors, const int *uppers)
{
    __shared__ Shared s;
    __shared__ double parts[2][ROW_SETS][PARTS], chunk_parts[2][ROW_SETS][32];
    __shared__ int scales[ROW_SETS], own_exponent[ROW_SETS], final_scale[ROW_SETS];
    __shared__ double own[ROW_SETS], own_rows[ROW_SETS][ROWS], own_magnitude[ROW_SETS];
    const mask_t everything = ((mask_t)1 << NODES) - 1;
    mask_t upper = uppers[blockIdx.x];
    int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
    prepare(s, alpha, upper);
    if (thread < ROW_SETS) scales[thread] = NOTHING;
    __syncthreads();
    for (int pair = thread; pair < ROW_SETS * s.count; pair += THREADS) {
        int row = pair % ROW_SETS, node = s.outside[pair / ROW_SETS];
        mask_t reached = (upper << ROWS | row) | (mask_t)1 << node;
        atomicMax(&scales[row], s.alpha_exponent[row][node] + completion_exponents[reached]);
    }
    __syncthreads();
    switch (warp % 4) {
    case 0: add_chunks<0, 15, 14>(s, completions, completion_exponents, upper, scales, parts, chunk_parts); break;
    case 1: add_chunks<1, 2, 13, 11>(s, completions, completion_exponents, upper, scales, parts, chunk_parts); break;
    case 2: add_chunks<4, 8, 7>(s, completions, completion_exponents, upper, scales, parts, chunk_parts); break;
    default: add_chunks<3, 5, 6, 9, 10, 12>(s, completions, completion_exponents, upper, scales, parts, chunk_parts);
    }
    __syncthreads();
    for (int part = thread; part < ROW_SETS * PARTS; part += THREADS)
        parts[0][part / PARTS][part % PARTS] += parts[1][part / PARTS][part % PARTS];
    for (int part = thread; part < ROW_SETS * 32; part += THREADS)
        chunk_parts[0][part / 32][part % 32] += chunk_parts[1][part / 32][part % 32];
    __syncthreads();
    // What is left are the terms that add row nodes alone, from the largest row sets down.
    if (warp == 0) {
        for (int size = ROWS; size >= 0; size--) {
            if (lane < ROW_SETS && __popc(lane) == size) {
                mask_t set = upper << ROWS | lane;
                int scale = scales[lane];
                for (int node = 0; node < ROWS; node++)
                    if (!((lane >> node) & 1))
                        scale = max(scale, s.alpha_exponent[lane][node] + own_exponent[lane | 1 << node]);
                double moved = power(scales[lane] - scale);
                double total = parts[0][lane][0] * moved, magnitude = parts[0][lane][1] * moved, rows[ROWS];
                for (int node = 0; node < ROWS; node++) rows[node] = parts[0][lane][2 + node] * moved;
                for (int added = 1; added < ROW_SETS; added++)
                    if ((added & lane) == 0) {
                        double term = s.row[lane][added] * own[lane | added] *
                                      power(own_exponent[lane | added] + s.row_exponent[lane][added] - scale);
                        total += term;
                        magnitude += fabs(term);
                        for (int node = 0; node < ROWS; node++)
                            if ((added >> node) & 1) rows[node] += term;
                    }
                if (set == everything) {
                    own[lane] = 1.0;
                    own_exponent[lane] = 0;
                } else if (scale <= NOTHING / 2 || !(-total > 0.0)) {
                    own[lane] = 0.0;
                    own_exponent[lane] = NOTHING;
                } else {
                    int exponent;
                    own[lane] = 2.0 * frexp(-total, &exponent);
                    own_exponent[lane] = exponent - 1 + scale;
                }
                final_scale[lane] = scale;
                own_magnitude[lane] = magnitude;
                for (int node = 0; node < ROWS; node++) own_rows[lane][node] = rows[node];
                completions[set] = own[lane];
                completion_exponents[set] = own_exponent[lane];
            }
            __syncwarp();
        }
        if (lane < ROW_SETS) {
            mask_t set = upper << ROWS | lane;
            double unit = graphs[set] * power(exponent_of(sums[set]) + final_scale[lane] - exponent_of(sums[everything]));
            own_magnitude[lane] *= set == everything ? 0.0 : max(unit, 0.0);
        }
        __syncwarp();
        if (lane == 0) {
            double error = 0.0;
            for (int row = 0; row < ROW_SETS; row++) error += own_magnitude[row];
            errors[upper] = error;
        }
    }
    __syncthreads();
    for (int pair = thread; pair < ROW_SETS * (s.count + ROWS); pair += THREADS) {
        int row = pair % ROW_SETS, position = pair / ROW_SETS;
        int node = position < s.count ? s.outside[position] : position - s.count;
        if (position >= s.count && (row >> node) & 1) continue;
        mask_t set = upper << ROWS | row;
        double share;
        int scale = final_scale[row];
        if (position >= s.count) share = -own_rows[row][node];
        else {
            share = position < s.lane_bits ? -parts[0][row][2 + ROWS + position]
                                           : -chunk_parts[0][row][position - s.lane_bits];
            scale = scales[row];
        }
        wide value = ZERO;
        if (share > 0.0 && graphs[set] > 0.0 && scale > NOTHING / 2)
            value = as_wide(graphs[set] * share / s.alpha[row][node],
                            exponent_of(sums[set]) + scale - s.alpha_exponent[row][node]);
        given[((mask_t)node << (NODES - 1)) + squeezed(set, node)] = value;
    }
}
