// The order-modular sums of exact/order.py on a device. What each kernel does is written in engines/cuda/order.py; the
// same steps in NumPy are in tests/naive/cuda.py.
//
// Defined by engines/cuda/order.py: TILE, GROUP, GROUPS, PAD_BITS, and what widefloat.cuh and walk.cuh need.

#define THREADS (GROUP * GROUPS)
#define LOW_SIZE (1 << LOW)
#define OWN_SIZE (1 << (LOW - 1))
#define MID_SIZE (1 << MID)
// Neighbours in one bank would wait for each other: one empty place after every 2^PAD_BITS.
#define PAD(place) ((place) + ((place) >> PAD_BITS))
#define LOW_STRIDE (PAD(LOW_SIZE) + 1)
#define OWN_STRIDE (PAD(OWN_SIZE) + 1)
// Shared memory of a block: tables of alpha for one node a group, or for every low node; then the block's own sums.
#define SHARED_TABLES (GROUPS * LOW_STRIDE > LOW * OWN_STRIDE ? GROUPS * LOW_STRIDE : LOW * OWN_STRIDE)

__device__ __forceinline__ void group_barrier(int group)
{
    asm volatile("bar.sync %0, %1;" ::"r"(group + 1), "r"(GROUP) : "memory");
}

// Sums over subsets (or supersets) of COUNT bits from FIRST on, in registers.
template <int BITS, int FIRST, int COUNT, bool SUPERSETS>
__device__ __forceinline__ void sum_bits(wide *table, int lane)
{
    for (int run = lane; run < (1 << (BITS - COUNT)); run += GROUP) {
        int base = (run & ((1 << FIRST) - 1)) | ((run >> FIRST) << (FIRST + COUNT));
        wide values[1 << COUNT];
#pragma unroll
        for (int j = 0; j < (1 << COUNT); j++) values[j] = table[PAD(base | (j << FIRST))];
#pragma unroll
        for (int bit = 1; bit < (1 << COUNT); bit <<= 1)
#pragma unroll
            for (int j = 0; j < (1 << COUNT); j++)
                if (j & bit) {
                    if (SUPERSETS) values[j ^ bit] = add(values[j ^ bit], values[j]);
                    else values[j] = add(values[j], values[j ^ bit]);
                }
#pragma unroll
        for (int j = 0; j < (1 << COUNT); j++) table[PAD(base | (j << FIRST))] = values[j];
    }
}

template <int BITS, int FIRST, bool SUPERSETS>
__device__ __forceinline__ void sum_from(wide *table, int lane, int group)
{
    constexpr int COUNT = BITS - FIRST < 3 ? BITS - FIRST : 3;
    if constexpr (COUNT > 0) {
        sum_bits<BITS, FIRST, COUNT, SUPERSETS>(table, lane);
        group_barrier(group);
        sum_from<BITS, FIRST + COUNT, SUPERSETS>(table, lane, group);
    }
}

// One step down the walk: let the top node `bit` in for every node that goes on.
extern "C" __global__ void let_in(wide *weights, wide *levels, int leaf, int bit, int backward)
{
    int node = blockIdx.y;
    if (node == BELOW + bit || (node > BELOW + bit && !takes_part(leaf, node, backward))) return;
    int level = level_above(leaf, bit, node);
    int universe = universe_at(level, node), element = universe_at(bit, node);
    const wide *source = level_row(weights, levels, level, node);
    wide *target = level_row(weights, levels, bit, node);
    int end = start_of(element, MAX_PARENTS + 1);
    for (int place = blockIdx.x * blockDim.x + threadIdx.x; place < end; place += gridDim.x * blockDim.x) {
        int size = size_of(element, place), rank = place - start_of(element, size);
        wide value = source[start_of(universe, size) + rank];
        if (size < MAX_PARENTS)
            value = add(value, source[start_of(universe, size + 1) + choose(element, size + 1) + rank]);
        target[place] = value;
    }
}

// Where the sets with the mid nodes `mids` and `size` low nodes begin, behind the start of their size: the places that
// their mid nodes give them in the numbering of families.py.
__device__ __forceinline__ int shift_of(int mids, int first_element, int size)
{
    int shift = 0;
    while (mids) {
        shift += choose(first_element + __ffs(mids) - 1, ++size);
        mids &= mids - 1;
    }
    return shift;
}

// For one top subset: sums over the subsets of the mid nodes, for every set of mid nodes and low parents. A row holds
// the sets of fewer than MAX_PARENTS low nodes; those of MAX_PARENTS have no room for a mid node and are the same in
// every row: they go to `constant`.
extern "C" __global__ void expand(wide *weights, wide *levels, wide *rows, wide *constant, int leaf, int slot,
                                  int backward)
{
    extern __shared__ wide tile[];
    int node = blockIdx.y;
    if (!takes_part(leaf, node, backward)) return;
    int low = node < LOW ? LOW - 1 : LOW;
    int mid = node >= LOW && node < BELOW ? MID - 1 : MID;
    int level = level_above(leaf, -1, node), universe = universe_at(level, node);
    const wide *source = level_row(weights, levels, level, node);
    int sets = start_of(low, MAX_PARENTS), all = start_of(low, MAX_PARENTS + 1);
    if (blockIdx.x == 0)
        for (int place = sets + threadIdx.x; place < all; place += blockDim.x)
            constant[((long long)slot * NODES + node) * CONSTANT_SETS + place - sets] =
                source[start_of(universe, MAX_PARENTS) + place - sets];
    int column = threadIdx.x % TILE, place = blockIdx.x * TILE + column;
    if (blockIdx.x * TILE >= sets) return;
    int size = place < sets ? size_of(low, place) : MAX_PARENTS, rank = place - start_of(low, size);
    int room = MAX_PARENTS - size;
    int step = blockDim.x / TILE;
    for (int mids = threadIdx.x / TILE; mids < (1 << mid); mids += step) {
        int count = __popc(mids);
        wide value = ZERO;
        if (place < sets && count <= room)
            value = source[start_of(universe, size + count) + shift_of(mids, low, size) + rank];
        tile[mids * TILE + column] = value;
    }
    __syncthreads();
    for (int bit = 0; bit < mid; bit++) {
        for (int pair = threadIdx.x / TILE; pair < (1 << mid) >> 1; pair += step) {
            int with = ((pair >> bit) << (bit + 1)) | (1 << bit) | (pair & ((1 << bit) - 1));
            // Sets with more undecided mid nodes than there is room for are empty so far.
            int undecided = __popc(with >> bit);
            wide *target = tile + with * TILE + column;
            if (undecided <= room) *target = add(*target, target[-(TILE << bit)]);
            else if (undecided == room + 1) *target = target[-(TILE << bit)];
        }
        __syncthreads();
    }
    if (place >= sets) return;
    wide *target = rows + (((long long)slot * NODES + node) << MID) * ROW_SETS + place;
    for (int mids = threadIdx.x / TILE; mids < (1 << mid); mids += step)
        target[(long long)mids * ROW_SETS] = tile[mids * TILE + column];
}

__device__ __forceinline__ int without(int mask, int bit)
{
    return (mask & ((1 << bit) - 1)) | ((mask >> (bit + 1)) << bit);
}

// alpha of `node` for every set of low nodes (itself squeezed out), beside the high nodes of a block.
template <int BITS>
__device__ __forceinline__ void fill_alpha(const wide *rows, const wide *constant, int slot, int mids,
                                           int node, wide *table, int lane, int group)
{
    if (node >= LOW && node < BELOW) mids = without(mids, node - LOW);
    const wide *row = rows + ((((long long)slot * NODES + node) << MID) + mids) * ROW_SETS;
    const wide *rest = constant + ((long long)slot * NODES + node) * CONSTANT_SETS;
    int sets = start_of(BITS, MAX_PARENTS), all = start_of(BITS, MAX_PARENTS + 1);
    const unsigned short *places = BITS == LOW ? tables.low_places : tables.own_places;
    for (int place = lane; place < (1 << BITS); place += GROUP) {
        wide value = ZERO;
        if (place < sets) value = row[place];
        else if (place < all) value = rest[place - sets];
        table[PAD((int)places[place])] = value;
    }
    group_barrier(group);
    sum_from<BITS, 0, false>(table, lane, group);
}

// The part of a block's sums that comes over high nodes: forward those in it, backward those outside it.
__device__ __forceinline__ void pull_high(const wide *rows, const wide *constant, const wide *sums,
                                          wide *shared, wide *block, int outer, int inner, int backward)
{
    const int HIGH = NODES - LOW, PER = (LOW_SIZE + THREADS - 1) / THREADS;
    int group = threadIdx.x / GROUP, lane = threadIdx.x % GROUP;
    long long high = ((long long)outer << (MID + SLOT_BITS)) | inner;
    long long pulled = backward ? ~high & ((1LL << HIGH) - 1) : high;
    int slot = inner >> MID, mids = inner & (MID_SIZE - 1);
    wide total[PER];
#pragma unroll
    for (int j = 0; j < PER; j++) total[j] = ZERO;
    while (pulled) {
        int nodes[GROUPS], count = 0;
#pragma unroll
        for (int j = 0; j < GROUPS; j++) {
            nodes[j] = pulled ? __ffsll(pulled) - 1 : -1;
            count += pulled != 0;
            pulled &= pulled - 1;
        }
        int own = -1;
#pragma unroll
        for (int j = 0; j < GROUPS; j++)
            if (j == group) own = nodes[j];
        if (own >= 0)
            fill_alpha<LOW>(rows, constant, slot, mids, LOW + own, shared + group * LOW_STRIDE, lane, group);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < GROUPS; k++)
            if (nodes[k] >= 0) {
                const wide *other = sums + ((high ^ (1LL << nodes[k])) << LOW);
#pragma unroll
                for (int j = 0; j < PER; j++) {
                    int place = threadIdx.x + j * THREADS;
                    if (place < LOW_SIZE)
                        total[j] = add(total[j], multiply(shared[k * LOW_STRIDE + PAD(place)], other[place]));
                }
            }
        __syncthreads();
    }
#pragma unroll
    for (int j = 0; j < PER; j++)
        if (threadIdx.x + j * THREADS < LOW_SIZE) block[threadIdx.x + j * THREADS] = total[j];
}

__device__ __forceinline__ void fill_low_alphas(const wide *rows, const wide *constant, wide *shared,
                                                int inner)
{
    int group = threadIdx.x / GROUP, lane = threadIdx.x % GROUP;
    for (int node = group; node < LOW; node += GROUPS)
        fill_alpha<LOW - 1>(rows, constant, inner >> MID, inner & (MID_SIZE - 1), node, shared + node * OWN_STRIDE,
                            lane, group);
    __syncthreads();
}

// L of all blocks that have as many of the mid and slot nodes; `inners` lists them.
extern "C" __global__ void __launch_bounds__(THREADS, 2)
    forward_blocks(const wide *rows, const wide *constant, wide *sums, const int *inners, int outer)
{
    extern __shared__ wide shared[];
    wide *block = shared + SHARED_TABLES;
    int inner = inners[blockIdx.x];
    long long high = ((long long)outer << (MID + SLOT_BITS)) | inner;
    pull_high(rows, constant, sums, shared, block, outer, inner, 0);
    fill_low_alphas(rows, constant, shared, inner);
    if (high == 0 && threadIdx.x == 0) block[0] = ONE;
    for (int size = 1; size <= LOW; size++) {
        int begin = tables.size_starts[size], end = tables.size_starts[size + 1];
        __syncthreads();
        for (int j = begin + threadIdx.x; j < end; j += THREADS) {
            int set = tables.by_size[j];
            wide total = block[set];
            for (int rest = set; rest; rest &= rest - 1) {
                int node = __ffs(rest) - 1, before = set ^ (1 << node);
                total = add(total, multiply(shared[node * OWN_STRIDE + PAD(without(before, node))], block[before]));
            }
            block[set] = total;
        }
    }
    __syncthreads();
    wide *target = sums + (high << LOW);
    for (int place = threadIdx.x; place < LOW_SIZE; place += THREADS) target[place] = block[place];
}

// R of all blocks that have as many of the mid and slot nodes.
extern "C" __global__ void __launch_bounds__(THREADS, 2)
    backward_blocks(const wide *rows, const wide *constant, wide *sums, const int *inners, int outer)
{
    extern __shared__ wide shared[];
    wide *block = shared + SHARED_TABLES;
    int inner = inners[blockIdx.x];
    long long high = ((long long)outer << (MID + SLOT_BITS)) | inner;
    pull_high(rows, constant, sums, shared, block, outer, inner, 1);
    fill_low_alphas(rows, constant, shared, inner);
    if (high == (1LL << (NODES - LOW)) - 1 && threadIdx.x == 0) block[LOW_SIZE - 1] = ONE;
    for (int size = LOW - 1; size >= 0; size--) {
        int begin = tables.size_starts[size], end = tables.size_starts[size + 1];
        __syncthreads();
        for (int j = begin + threadIdx.x; j < end; j += THREADS) {
            int set = tables.by_size[j];
            wide total = block[set];
            for (int rest = ~set & (LOW_SIZE - 1); rest; rest &= rest - 1) {
                int node = __ffs(rest) - 1;
                total = add(total, multiply(shared[node * OWN_STRIDE + PAD(without(set, node))], block[set | 1 << node]));
            }
            block[set] = total;
        }
    }
    __syncthreads();
    wide *target = sums + (high << LOW);
    for (int place = threadIdx.x; place < LOW_SIZE; place += THREADS) target[place] = block[place];
}

template <int BITS>
__device__ __forceinline__ void give_to_row(wide *table, wide *row, int lane, int group)
{
    group_barrier(group);
    sum_from<BITS, 0, true>(table, lane, group);
    int all = start_of(BITS, MAX_PARENTS + 1);
    const unsigned short *places = BITS == LOW ? tables.low_places : tables.own_places;
    for (int place = lane; place < all; place += GROUP) row[place] = table[PAD((int)places[place])];
    group_barrier(group);
}

// L(S) R(S + node), for every node that may come next, summed over the supersets of every set of low parents.
extern "C" __global__ void __launch_bounds__(THREADS, 2)
    gather(const wide *forward, const wide *sums, wide *given, int outer)
{
    extern __shared__ wide shared[];
    int inner = blockIdx.x, group = threadIdx.x / GROUP, lane = threadIdx.x % GROUP;
    long long high = ((long long)outer << (MID + SLOT_BITS)) | inner;
    int slot = inner >> MID, mids = inner & (MID_SIZE - 1);
    const wide *own = forward + ((long long)inner << LOW), *block = sums + (high << LOW);
    wide *table = shared + group * LOW_STRIDE;
    for (int node = group; node < NODES; node += GROUPS) {
        if (node >= LOW && (high >> (node - LOW)) & 1) continue;
        int row_mids = node >= LOW && node < BELOW ? without(mids, node - LOW) : mids;
        wide *row = given + ((((long long)slot * NODES + node) << MID) + row_mids) * ALL_SETS;
        if (node < LOW) {
            for (int place = lane; place < OWN_SIZE; place += GROUP) {
                int set = (place & ((1 << node) - 1)) | ((place >> node) << (node + 1));
                table[PAD(place)] = multiply(own[set], block[set | 1 << node]);
            }
            give_to_row<LOW - 1>(table, row, lane, group);
        } else {
            const wide *onward = sums + ((high | 1LL << (node - LOW)) << LOW);
            for (int place = lane; place < LOW_SIZE; place += GROUP) table[PAD(place)] = multiply(own[place], onward[place]);
            give_to_row<LOW>(table, row, lane, group);
        }
    }
}

// Transpose of `expand`: sum over supersets of mid nodes and add to the restricted sums of the walk.
extern "C" __global__ void collect(wide *gathered, wide *levels, const wide *given, int leaf, int slot)
{
    extern __shared__ wide tile[];
    int node = blockIdx.y;
    if (!takes_part(leaf, node, 1)) return;
    int low = node < LOW ? LOW - 1 : LOW;
    int mid = node >= LOW && node < BELOW ? MID - 1 : MID;
    int level = level_above(leaf, -1, node), universe = universe_at(level, node);
    wide *target = level_row(gathered, levels, level, node);
    int all = start_of(low, MAX_PARENTS + 1);
    if (blockIdx.x * TILE >= all) return;
    int column = threadIdx.x % TILE, place = blockIdx.x * TILE + column, step = blockDim.x / TILE;
    int size = place < all ? size_of(low, place) : MAX_PARENTS, rank = place - start_of(low, size);
    int room = MAX_PARENTS - size;
    const wide *source = given + (((long long)slot * NODES + node) << MID) * ALL_SETS + place;
    for (int mids = threadIdx.x / TILE; mids < (1 << mid); mids += step)
        tile[mids * TILE + column] = place < all ? source[(long long)mids * ALL_SETS] : ZERO;
    __syncthreads();
    for (int bit = mid - 1; bit >= 0; bit--) {
        for (int pair = threadIdx.x / TILE; pair < (1 << mid) >> 1; pair += step) {
            int with = ((pair >> bit) << (bit + 1)) | (1 << bit) | (pair & ((1 << bit) - 1));
            if (__popc(with >> bit) <= room + 1) {
                wide *value = tile + (with ^ (1 << bit)) * TILE + column;
                *value = add(*value, value[TILE << bit]);
            }
        }
        __syncthreads();
    }
    if (place >= all) return;
    for (int mids = threadIdx.x / TILE; mids < (1 << mid); mids += step)
        if (__popc(mids) <= room) {
            wide *sum = target + start_of(universe, size + __popc(mids)) + shift_of(mids, low, size) + rank;
            *sum = add(*sum, tile[mids * TILE + column]);
        }
}

// Transpose of `let_in`; leaves the level empty for its next use.
extern "C" __global__ void give_back(wide *gathered, wide *levels, int leaf, int bit)
{
    int node = blockIdx.y;
    if (node == BELOW + bit || (node > BELOW + bit && !takes_part(leaf, node, 1))) return;
    int level = level_above(leaf, bit, node);
    int universe = universe_at(level, node), element = universe_at(bit, node);
    wide *target = level_row(gathered, levels, level, node);
    wide *source = level_row(gathered, levels, bit, node);
    int end = start_of(element, MAX_PARENTS + 1);
    for (int place = blockIdx.x * blockDim.x + threadIdx.x; place < end; place += gridDim.x * blockDim.x) {
        int size = size_of(element, place), rank = place - start_of(element, size);
        wide value = source[place];
        source[place] = ZERO;
        wide *without_it = target + start_of(universe, size) + rank;
        *without_it = add(*without_it, value);
        if (size < MAX_PARENTS) {
            wide *with_it = target + start_of(universe, size + 1) + choose(element, size + 1) + rank;
            *with_it = add(*with_it, value);
        }
    }
}
