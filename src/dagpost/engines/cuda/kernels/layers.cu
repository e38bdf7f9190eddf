// Independent graphs by source layers (sampling/layers.py) on a device; engines/cuda/layers.py says how the kernels work
// together. A group is a set of placed nodes with its last layer; a branch is what the samples of a group have decided
// so far about the next layer, with the tensor that is left to decide on.
//
// Defined by engines/cuda/layers.py: NODES, FOLDED_NODES, LEAST_EXPONENT, and what widefloat.cuh needs.

typedef unsigned long long mask_t;

__device__ __forceinline__ mask_t squeezed(mask_t set, int node)
{
    mask_t below = ((mask_t)1 << node) - 1;
    return (set & below) | ((set >> 1) & ~below);
}

// For the nodes outside each group's set, lowest first: alpha there as a double in [1, 2) and an exponent, and alpha
// before the last layer on the same scale.
extern "C" __global__ void describe_groups(const wide *alpha, const mask_t *placed, const mask_t *last, int groups,
                                           int left, int *outside, double *now, double *before, int *exponents)
{
    int group = blockIdx.x * blockDim.x + threadIdx.x;
    if (group >= groups) return;
    mask_t set = placed[group], layer = last[group];
    int position = group * left;
    for (int node = 0; node < NODES; node++) {
        if ((set >> node) & 1) continue;
        const wide *own = alpha + ((mask_t)node << (NODES - 1));
        wide value = own[squeezed(set, node)], earlier = own[squeezed(set & ~layer, node)];
        int exponent = (int)(value >> FRACTION_BITS);
        double fraction = fraction_of(value);
        outside[position] = node;
        now[position] = fraction;
        exponents[position] = exponent;
        int shift = max((int)(earlier >> FRACTION_BITS) - exponent, SMALLEST_SHIFT);
        before[position] = layer == 0 ? 0.0 : min(scalbn(fraction_of(earlier), shift), fraction);
        position++;
    }
}

// Where a set of the nodes outside stands, and the exponent of its entry.
__device__ __forceinline__ mask_t place_of(mask_t set, const int *outside, const int *exponents, mask_t added, int &shift)
{
    for (mask_t rest = added; rest; rest &= rest - 1) {
        int position = __ffsll(rest) - 1;
        set |= (mask_t)1 << outside[position];
        shift += exponents[position];
    }
    return set;
}

extern "C" __global__ void largest_shifts(const int *completion_exponents, const mask_t *placed, const int *outside,
                                          const int *exponents, int left, int *largest)
{
    int group = blockIdx.y, found = LEAST_EXPONENT;
    for (mask_t added = blockIdx.x * (mask_t)blockDim.x + threadIdx.x; added < (mask_t)1 << left;
         added += (mask_t)gridDim.x * blockDim.x) {
        int shift = 0;
        mask_t place = place_of(placed[group], outside + group * left, exponents + group * left, added, shift);
        found = max(found, shift + completion_exponents[place]);
    }
    for (int step = 16; step; step /= 2) found = max(found, __shfl_xor_sync(0xffffffff, found, step));
    if (threadIdx.x % 32 == 0) atomicMax(largest + group, found);
}

extern "C" __global__ void fill_tensors(const double *completions, const int *completion_exponents, const mask_t *placed,
                                        const int *outside, const int *exponents, int left, const int *largest,
                                        double *tensors)
{
    int group = blockIdx.y;
    for (mask_t added = blockIdx.x * (mask_t)blockDim.x + threadIdx.x; added < (mask_t)1 << left;
         added += (mask_t)gridDim.x * blockDim.x) {
        int shift = 0;
        mask_t place = place_of(placed[group], outside + group * left, exponents + group * left, added, shift);
        shift = max(shift + completion_exponents[place] - largest[group], SMALLEST_SHIFT);
        tensors[((mask_t)group << left) + added] =
            __longlong_as_double(__double_as_longlong(completions[place]) + ((long long)shift << 52));
    }
}

// Of every branch, the tensor if the node at `position` stays out (first half of the rows) or joins (second half).
extern "C" __global__ void part_tensors(const double *tensors, const int *group_of, const double *now, int left,
                                        int position, mask_t branches, double *parted)
{
    mask_t half = (mask_t)1 << position, all = branches << position;
    for (mask_t entry = blockIdx.x * (mask_t)blockDim.x + threadIdx.x; entry < all;
         entry += (mask_t)gridDim.x * blockDim.x) {
        mask_t branch = entry >> position, place = entry & (half - 1);
        const double *own = tensors + (branch << (position + 1));
        double with = own[half + place];
        parted[entry] = own[place] - now[group_of[branch] * left + position] * with;
        parted[all + entry] = with;
    }
}

// One node fewer to sum over: without minus `before` times with.
extern "C" __global__ void fold(const double *from, const int *group_of, const double *before, int left, int position,
                                mask_t branches, double *to)
{
    mask_t half = (mask_t)1 << position, all = (2 * branches) << position;
    for (mask_t entry = blockIdx.x * (mask_t)blockDim.x + threadIdx.x; entry < all;
         entry += (mask_t)gridDim.x * blockDim.x) {
        mask_t row = entry >> position, place = entry & (half - 1);
        const double *own = from + (row << (position + 1));
        mask_t branch = row < branches ? row : row - branches;
        to[entry] = own[place] - before[group_of[branch] * left + position] * own[half + place];
    }
}

// All that is left to fold, one block of threads for a row of at most 2^FOLDED_NODES entries.
extern "C" __global__ void fold_rest(const double *from, const int *group_of, const double *before, int left, int count,
                                     mask_t branches, double *totals)
{
    __shared__ double values[1 << FOLDED_NODES];
    mask_t row = blockIdx.x, branch = row < branches ? row : row - branches;
    for (int place = threadIdx.x; place < 1 << count; place += blockDim.x) values[place] = from[(row << count) + place];
    const double *own = before + group_of[branch] * left;
    for (int position = count - 1; position >= 0; position--) {
        __syncthreads();
        for (int place = threadIdx.x; place < 1 << position; place += blockDim.x)
            values[place] -= own[position] * values[place + (1 << position)];
    }
    __syncthreads();
    if (threadIdx.x == 0) totals[row] = values[0];
}

// Every sample decides whether the node at `position` joins; its key is that of the branch it goes on in.
extern "C" __global__ void decide(const double *totals, const int *group_of, const double *now, const double *before,
                                  const mask_t *chosen, int left, int position, int branches, int samples, int *branch_of,
                                  double *uniforms)
{
    int sample = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample >= samples) return;
    int branch = branch_of[sample], at = group_of[branch] * left + position;
    double staying = max(totals[branch], 0.0);
    double joining = max((now[at] - before[at]) * totals[branches + branch], 0.0);
    // A layer is never empty; what is left of its weight is rounding error.
    if (position == 0 && chosen[branch] == 0) {
        staying = 0.0;
        joining = 1.0;
    }
    double chance = joining + staying > 0.0 ? joining / (joining + staying) : 0.5, uniform = uniforms[sample];
    bool joins = uniform < chance;
    // What is left of a uniform number is uniform again.
    uniforms[sample] = joins ? uniform / chance : (uniform - chance) / (1.0 - chance);
    branch_of[sample] = joins ? branches + branch : branch;
}

// The branches that some sample has taken: `taken` lists rows of `parted`.
extern "C" __global__ void take_branches(const double *parted, const long long *taken, int position, mask_t count,
                                         double *tensors)
{
    mask_t all = count << position;
    for (mask_t entry = blockIdx.x * (mask_t)blockDim.x + threadIdx.x; entry < all;
         entry += (mask_t)gridDim.x * blockDim.x)
        tensors[entry] = parted[((mask_t)taken[entry >> position] << position) + (entry & (((mask_t)1 << position) - 1))];
}

// The new layer of every sample: from which set its nodes take their parents, which layer those must meet, and the log
// weight of all such parent sets (minus infinity where the difference keeps too few digits).
extern "C" __global__ void place_layer(const mask_t *placed, const mask_t *last, const int *outside, const double *now,
                                       const double *before, const int *exponents, const mask_t *chosen,
                                       const int *group_of, const int *branch_of, const long long *members, int left,
                                       int samples, long long all_samples, mask_t *placed_of, mask_t *last_of,
                                       mask_t *allowed, mask_t *to_meet, double *joined_weight)
{
    int place = blockIdx.x * blockDim.x + threadIdx.x;
    if (place >= samples) return;
    long long sample = members[place];
    int branch = branch_of[place], group = group_of[branch];
    mask_t layer = 0;
    for (mask_t rest = chosen[branch]; rest; rest &= rest - 1) {
        int at = group * left + __ffsll(rest) - 1, node = outside[at];
        layer |= (mask_t)1 << node;
        allowed[node * all_samples + sample] = placed[group];
        to_meet[node * all_samples + sample] = last[group];
        double ratio = before[at] / now[at];
        joined_weight[sample * NODES + node] =
            ratio > 1.0 - 1e-6 ? -__longlong_as_double(0x7ff0000000000000LL) : log(now[at]) + exponents[at] * log(2.0) + log1p(-ratio);
    }
    placed_of[sample] = placed[group] | layer;
    last_of[sample] = layer;
}
