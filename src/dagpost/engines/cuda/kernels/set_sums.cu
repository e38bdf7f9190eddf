// Sums over all subsets, or supersets, of the sets of nodes, for one table a node; weights of families go into such a
// table and come out of it. Part of the sums over all graphs (structure.cu), and compiled with the same constants.

// Sums over subsets (or supersets) of COUNT bits from `first` on, for tables of 2^(NODES - 1) entries, one a node.
template <int COUNT, bool SUPERSETS>
__device__ __forceinline__ void sum_pass(wide *values, int first)
{
    mask_t runs = (mask_t)NODES << (NODES - 1 - COUNT);
    for (mask_t run = blockIdx.x * (mask_t)blockDim.x + threadIdx.x; run < runs; run += (mask_t)gridDim.x * blockDim.x) {
        mask_t base = (run & (((mask_t)1 << first) - 1)) | ((run >> first) << (first + COUNT));
        wide own[1 << COUNT];
#pragma unroll
        for (int j = 0; j < 1 << COUNT; j++) own[j] = values[base | (mask_t)j << first];
#pragma unroll
        for (int bit = 1; bit < 1 << COUNT; bit <<= 1)
#pragma unroll
            for (int j = 0; j < 1 << COUNT; j++)
                if (j & bit) {
                    if (SUPERSETS) own[j ^ bit] = add(own[j ^ bit], own[j]);
                    else own[j] = add(own[j], own[j ^ bit]);
                }
#pragma unroll
        for (int j = 0; j < 1 << COUNT; j++) values[base | (mask_t)j << first] = own[j];
    }
}

extern "C" __global__ void sum_one_bit(wide *values, int first, int supersets)
{
    if (supersets) sum_pass<1, true>(values, first);
    else sum_pass<1, false>(values, first);
}

extern "C" __global__ void sum_three_bits(wide *values, int first, int supersets)
{
    if (supersets) sum_pass<3, true>(values, first);
    else sum_pass<3, false>(values, first);
}

extern "C" __global__ void place_weights(const wide *weights, const mask_t *parent_sets, wide *values)
{
    mask_t place = blockIdx.x * (mask_t)blockDim.x + threadIdx.x;
    if (place >= (mask_t)NODES * FAMILIES) return;
    mask_t node = place / FAMILIES;
    values[(node << (NODES - 1)) + parent_sets[place % FAMILIES]] = weights[place];
}

extern "C" __global__ void pick_weights(const wide *values, const mask_t *parent_sets, wide *weights)
{
    mask_t place = blockIdx.x * (mask_t)blockDim.x + threadIdx.x;
    if (place >= (mask_t)NODES * FAMILIES) return;
    mask_t node = place / FAMILIES;
    weights[place] = values[(node << (NODES - 1)) + parent_sets[place % FAMILIES]];
}
