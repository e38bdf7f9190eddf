// Where the restricted sums of every node stand on the walk over the subsets of the top nodes (exact/walk.py; here the
// low and mid nodes together are what is called low there, and every top node is a level).
//
// Defined by engines/cuda/order.py: NODES, LOW, MID, TOP, SLOT_BITS, MAX_PARENTS, FAMILIES, and for
// the rows of parent sets over LOW nodes: ROW_SETS (fewer than MAX_PARENTS members), CONSTANT_SETS, ALL_SETS.

#define BELOW (LOW + MID)
#define SLOTS (1 << SLOT_BITS)

struct Tables {
    const int *binomial;        // [element][size], MAX_PARENTS + 3 columns
    const int *offset;          // [universe][size], MAX_PARENTS + 2 columns
    const long long *bases;     // of the levels
    const unsigned short *low_places;      // dense places of the parent sets over LOW nodes, then all other places
    const unsigned short *own_places;      // the same over LOW - 1 nodes
    const unsigned short *by_size;         // subsets of the low nodes, smallest first
    const int *size_starts;     // where each size begins among them
};

__constant__ Tables tables;

__device__ __forceinline__ int choose(int element, int size)
{
    return tables.binomial[element * (MAX_PARENTS + 3) + size];
}

__device__ __forceinline__ int start_of(int universe, int size)
{
    return tables.offset[universe * (MAX_PARENTS + 2) + size];
}

__device__ __forceinline__ int level_above(int leaf, int bit, int node)
{
    int decided = leaf;
    if (bit >= 0) decided &= ~((2 << bit) - 1);
    if (node >= BELOW) decided &= ~(1 << (node - BELOW));
    return decided ? __ffs(decided) - 1 : TOP;
}

__device__ __forceinline__ int universe_at(int level, int node)
{
    return node < BELOW + level ? BELOW + level - 1 : BELOW + level;
}

// The row of a node at a level; the level past the last one is the weights themselves.
__device__ __forceinline__ wide *level_row(wide *weights, wide *levels, int level, int node)
{
    if (level == TOP) return weights + (long long)node * FAMILIES;
    return levels + tables.bases[level] + (long long)node * start_of(BELOW + level, MAX_PARENTS + 1);
}

__device__ __forceinline__ int size_of(int universe, int place)
{
    int size = 0;
    while (place >= start_of(universe, size + 1)) size++;
    return size;
}

// Forward, a top node that was left out pulls nothing below; backward, one that was let in goes on with nothing.
__device__ __forceinline__ bool takes_part(int leaf, int node, int backward)
{
    return node < BELOW || ((leaf >> (node - BELOW)) & 1) != backward;
}
