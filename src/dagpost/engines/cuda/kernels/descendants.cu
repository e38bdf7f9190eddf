// Who influences whom, from the sums over all graphs (structure.cu), and compiled with the same constants.

// The chance that the descendants of a node, with it, are all nodes but U; summed over the sets U without each node.
extern "C" __global__ void __launch_bounds__(THREADS)
    sum_paths(const wide *alpha, const wide *given, wide evidence, double *paths)
{
    __shared__ double partial[WARPS][NODES];
    int node = blockIdx.y;
    const wide *own = alpha + ((mask_t)node << (NODES - 1)), *sums = given + ((mask_t)node << (NODES - 1));
    double totals[NODES] = {};
    for (mask_t rest = blockIdx.x * (mask_t)THREADS + threadIdx.x; rest < (mask_t)1 << (NODES - 1);
         rest += (mask_t)gridDim.x * THREADS) {
        double chance = ratio(multiply(own[rest], sums[rest]), evidence);
#pragma unroll
        for (int other = 0; other < NODES - 1; other++) totals[other] += (rest >> other) & 1 ? 0.0 : chance;
    }
    for (int other = 0; other < NODES - 1; other++) {
        double total = warp_sum(totals[other]);
        if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32][other] = total;
    }
    __syncthreads();
    for (int other = threadIdx.x; other < NODES - 1; other += THREADS) {
        double total = 0.0;
        for (int warp = 0; warp < WARPS; warp++) total += partial[warp][other];
        paths[((mask_t)blockIdx.x * NODES + node) * NODES + other + (other >= node)] = total;
    }
}

extern "C" __global__ void chances_of_node(const wide *alpha, const wide *given, wide evidence, int node, double *chances)
{
    mask_t rest = blockIdx.x * (mask_t)blockDim.x + threadIdx.x, place = ((mask_t)node << (NODES - 1)) + rest;
    if (rest < (mask_t)1 << (NODES - 1)) chances[rest] = ratio(multiply(alpha[place], given[place]), evidence);
}
