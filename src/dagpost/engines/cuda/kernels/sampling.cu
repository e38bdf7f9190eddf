// Orders and graphs drawn from the forward sums (sampling/orders.py and sampling/dags.py). alpha at a visited set is
// summed on the fly over the parent sets inside it; engines/cuda/sampling.py says how.
//
// Defined by engines/cuda/sampling.py: THREADS, NODES, MAX_PARENTS, FAMILIES, and what widefloat.cuh needs.

typedef unsigned long long mask_t;

__constant__ int binomial[(NODES + 1) * (MAX_PARENTS + 2)];    // [element][size]

__device__ __forceinline__ int choose(int element, int size) { return binomial[element * (MAX_PARENTS + 2) + size]; }

// The parent sets among some members, by size first and then colexicographically, from any place on.
struct ParentSets {
    int members, size, left;
    mask_t chosen;                         // which of the members

    __device__ void start(int count, int place)
    {
        members = count;
        size = 0;
        while (place >= choose(members, size)) place -= choose(members, size++);
        left = choose(members, size) - place;
        chosen = 0;
        for (int position = size, member = members; position > 0; position--) {
            do member--;
            while (choose(member, position) > place);
            place -= choose(member, position);
            chosen |= (mask_t)1 << member;
        }
    }

    __device__ void next()
    {
        if (--left == 0) {
            size++;
            chosen = ((mask_t)1 << size) - 1;
            left = size <= MAX_PARENTS ? choose(members, size) : 0;
        } else {
            mask_t lowest = chosen & (~chosen + 1), ripple = chosen + lowest;
            chosen = ripple | ((chosen ^ ripple) >> (__ffsll(chosen) + 1));
        }
    }
};

// What a block of threads has to know of a node and the set its parents come from.
struct Choice {
    unsigned char elements[NODES + 1];     // of each member, its number among the nodes other than the node itself
    int members, sets;
    int size_starts[MAX_PARENTS + 1];      // among all parent sets of the node
};

__device__ __forceinline__ void prepare(Choice &choice, mask_t allowed, int node)
{
    if (threadIdx.x == 0) {
        int members = 0;
        for (int other = 0; other < NODES; other++)
            if ((allowed >> other) & 1) choice.elements[members++] = other < node ? other : other - 1;
        choice.members = members;
        choice.sets = 0;
        int start = 0;
        for (int size = 0; size <= MAX_PARENTS; size++) {
            choice.sets += choose(members, size);
            choice.size_starts[size] = start;
            start += choose(NODES - 1, size);
        }
    }
    __syncthreads();
}

__device__ __forceinline__ int family_of(const Choice &choice, const ParentSets &sets)
{
    int family = choice.size_starts[sets.size], position = 0;
    for (mask_t rest = sets.chosen; rest; rest &= rest - 1)
        family += choose(choice.elements[__ffsll(rest) - 1], ++position);
    return family;
}

// alpha of every node of every set, over the rest of the set.
extern "C" __global__ void __launch_bounds__(THREADS)
    alphas_of_sets(const wide *weights, const mask_t *sets, wide *alphas)
{
    __shared__ Choice choice;
    __shared__ wide partial[THREADS];
    mask_t set = sets[blockIdx.x];
    int node = blockIdx.y;
    if (!((set >> node) & 1)) return;
    prepare(choice, set ^ (mask_t)1 << node, node);
    int share = (choice.sets + THREADS - 1) / THREADS, place = threadIdx.x * share;
    int end = min(place + share, choice.sets);
    const wide *own = weights + (long long)node * FAMILIES;
    wide total = ZERO;
    if (place < end) {
        ParentSets walk;
        walk.start(choice.members, place);
        for (; place < end; place++, walk.next()) total = add(total, own[family_of(choice, walk)]);
    }
    partial[threadIdx.x] = total;
    for (int half = THREADS / 2; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) partial[threadIdx.x] = add(partial[threadIdx.x], partial[threadIdx.x + half]);
    }
    if (threadIdx.x == 0) alphas[(long long)blockIdx.x * NODES + node] = partial[0];
}

// The last node of every sample's set, and what is left of the set.
extern "C" __global__ void choose_last(const wide *sums, const mask_t *sets, const long long *group, const wide *alphas,
                                       const double *uniforms, int samples, int placed, mask_t *sets_of_samples,
                                       mask_t *predecessors, wide *chosen_alpha)
{
    int sample = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample >= samples) return;
    mask_t set = sets[group[sample]];
    const wide *alpha = alphas + group[sample] * NODES;
    double uniform = uniforms[(long long)sample * 2 * NODES + placed - 1], running = 0.0;
    int last = 0;
    for (int node = 0; node < NODES; node++)
        if ((set >> node) & 1) {
            double probability = ratio(multiply(alpha[node], sums[set ^ (mask_t)1 << node]), sums[set]);
            if (probability > 0.0) {
                last = node;
                running += probability;
                if (running > uniform) break;
            }
        }
    mask_t before = set ^ (mask_t)1 << last;
    sets_of_samples[sample] = before;
    predecessors[(long long)sample * NODES + last] = before;
    chosen_alpha[(long long)sample * NODES + last] = alpha[last];
}

// One parent set for every node of every sample: the one at which the running share of alpha passes the uniform number.
extern "C" __global__ void __launch_bounds__(THREADS)
    draw_parents(const wide *weights, const mask_t *predecessors, const wide *chosen_alpha, const double *uniforms,
                 mask_t *parents, int *families)
{
    __shared__ Choice choice;
    __shared__ double sums[THREADS];
    __shared__ int owner;
    int node = blockIdx.y;
    long long place_of = (long long)blockIdx.x * NODES + node;
    mask_t allowed = predecessors[place_of];
    wide alpha = chosen_alpha[place_of];
    prepare(choice, allowed, node);
    int share = (choice.sets + THREADS - 1) / THREADS, begin = min((int)threadIdx.x * share, choice.sets);
    int end = min(begin + share, choice.sets);
    const wide *own = weights + (long long)node * FAMILIES;
    double total = 0.0;
    ParentSets walk;
    if (begin < end) {
        walk.start(choice.members, begin);
        for (int place = begin; place < end; place++, walk.next()) total += ratio(own[family_of(choice, walk)], alpha);
    }
    sums[threadIdx.x] = total;
    __syncthreads();
    for (int step = 1; step < THREADS; step *= 2) {
        double earlier = threadIdx.x >= step ? sums[threadIdx.x - step] : 0.0;
        __syncthreads();
        sums[threadIdx.x] += earlier;
        __syncthreads();
    }
    double target = uniforms[(long long)blockIdx.x * 2 * NODES + NODES + node] * sums[THREADS - 1];
    if (threadIdx.x == 0) owner = -1;
    __syncthreads();
    double before = threadIdx.x ? sums[threadIdx.x - 1] : 0.0;
    // Rounding may leave the target at the very end: then the last thread with any weight takes it.
    if (total > 0.0 && (target >= before || threadIdx.x == 0)) atomicMax(&owner, (int)threadIdx.x);
    __syncthreads();
    if ((int)threadIdx.x != owner) return;
    walk.start(choice.members, begin);
    int family = 0;
    mask_t chosen = 0;
    for (int place = begin; place < end; place++, walk.next()) {
        int candidate = family_of(choice, walk);
        double weight = ratio(own[candidate], alpha);
        if (!(weight > 0.0)) continue;
        family = candidate;
        chosen = walk.chosen;
        before += weight;
        if (before > target) break;
    }
    mask_t result = 0;
    for (; chosen; chosen &= chosen - 1) {
        int element = choice.elements[__ffsll(chosen) - 1];
        result |= (mask_t)1 << (element < node ? element : element + 1);
    }
    parents[place_of] = result;
    families[place_of] = family;
}
