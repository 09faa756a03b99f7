// Newton's method for many small logistic models over the same rows, one pass over the rows per step.
//
// The host compiles this file once for each size class, with these constants:
//   TERMS    terms of a model, a multiple of 8; shorter models are padded with terms that are zero on every row
//   DEGREE   factors of a term; each is a row of the table, and shorter products are padded with the row of ones
//   STAGED   1 if a tile of the whole table fits into shared memory, else 0
//   WARPS    models of one block: every warp fits its own, and all read the same rows
// and those of Newton's method in base.py: MAX_NEWTON, NEWTON_TOL, MAX_HALVINGS, MAX_OVERSHOOT, PIVOT_TOL, MIN_LEFT_OUT,
// COARSE_TOL, COARSE_RANGE, MAX_COARSE; MAX_RESUME: largest squared decrement per term at the end of the coarse steps.
//
// All sums run in an order that depends on the number of rows alone, so neighbours never change the bits of a model.

#define TILE 32                        // rows that a warp takes at a time, one for each lane where rows are independent
#define BLOCKS (TERMS / 8)             // the Hessian is made of 8 x 8 blocks, those on and above the diagonal are summed
#define UPPER (BLOCKS * (BLOCKS + 1) / 2)
#define PARTIAL (UPPER * 64 + TERMS)   // what a chunk of rows adds up: blocks of the Hessian, then the gradient
#define ROWS (TERMS <= 32 ? 32 : 16)   // rows of a tile that a warp holds in its registers, all terms of them
#define SUMS (ROWS / 4)
#define PITCH (TERMS + 1)
#if STAGED
typedef int Offset;                    // from the first value of a tile, or of the table, to those of a factor
#else
typedef long long Offset;
#endif

enum Phase { START = 0, RUNNING = 1, CONVERGED = 2, STOPPED = 3 };
enum Level { ALL_ROWS = 0, SOME_ROWS = 1 };  // which rows the derivatives are computed from; a fit may begin on some
enum { RESUMED = -1 };                 // in place of halvings: this is where coarser steps have ended
struct State { int phase, level, steps, halvings; };
extern __shared__ __align__(16) unsigned char shared[];

// ---------------------------------------------------------------------------------------------- rows in shared memory

#define WIDTH 2                        // rows of the data that are read at once, sixteen bytes
#define TILE_PITCH 40                  // values from one row of the table to the next in a staged tile

__device__ __forceinline__ void unpack(double2 v, double *out) { out[0] = v.x; out[1] = v.y; }

__device__ __forceinline__ void copy_async(void *to, const void *from)
{
    unsigned address = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from));
}

// Begin to copy the rows first, ..., first + 31 of the whole table; the pitch keeps most reads free of bank conflicts
__device__ __forceinline__ void stage(double *tile, const double *table, long long stride, int n_slots, long long first)
{
    const int packs = TILE / WIDTH;
    for (int i = threadIdx.x; i < n_slots * packs; i += blockDim.x) {
        int slot = i / packs, part = i % packs;
        copy_async(tile + slot * TILE_PITCH + part * WIDTH, table + slot * stride + first + part * WIDTH);
    }
    asm volatile("cp.async.commit_group;");
}

__device__ __forceinline__ void staged(bool more)
{
    if (more) asm volatile("cp.async.wait_group 1;");
    else asm volatile("cp.async.wait_group 0;");
    __syncthreads();
}

// ------------------------------------------------------------------------------------------------ derivatives of a pass

#if TERMS == 8 || __CUDA_ARCH__ < 900
#define HIGH 1                         // blocks of the Hessian that one matrix product takes on top of each other
__device__ __forceinline__ void multiply_add(double *c, const double *a, const double *b)
{
    for (int k = 0; k < 2; k++)
        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                     : "+d"(c[0]), "+d"(c[1]) : "d"(a[k]), "d"(b[k]));
}
#else
#define HIGH 2
__device__ __forceinline__ void multiply_add(double *c, const double *a, const double *b)
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
                 : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
}
#endif
#define STRIPS ((BLOCKS + HIGH - 1) / HIGH)

// Values of this lane's terms on its rows of part `part` of the tile
__device__ __forceinline__ void build(double (*x)[WIDTH], const double *rows, const Offset (*offset)[DEGREE], int part)
{
    for (int b = 0; b < BLOCKS; b++) {
        unpack(*(const double2 *)(rows + offset[b][0] + part * 4 * WIDTH), x[b]);
        for (int d = 1; d < DEGREE; d++) {
            double factor[WIDTH];
            unpack(*(const double2 *)(rows + offset[b][d] + part * 4 * WIDTH), factor);
            for (int e = 0; e < WIDTH; e++) x[b][e] *= factor[e];
        }
    }
}

// Each of eight lanes holds a part of N sums, N being 8 or 4; afterwards each lane holds one sum, number group * N / 8
template <int N>
__device__ __forceinline__ double reduce_scatter(const double *v, int group)
{
    double half[N / 2], quarter[N / 4];
    for (int i = 0; i < N / 2; i++) {
        double send = group & 4 ? v[i] : v[i + N / 2], keep = group & 4 ? v[i + N / 2] : v[i];
        half[i] = keep + __shfl_xor_sync(~0u, send, 16);
    }
    for (int i = 0; i < N / 4; i++) {
        double send = group & 2 ? half[i] : half[i + N / 4], keep = group & 2 ? half[i + N / 4] : half[i];
        quarter[i] = keep + __shfl_xor_sync(~0u, send, 8);
    }
    if (N == 4) return quarter[0] + __shfl_xor_sync(~0u, quarter[0], 4);
    double send = group & 1 ? quarter[0] : quarter[N / 4 - 1], keep = group & 1 ? quarter[N / 4 - 1] : quarter[0];
    return keep + __shfl_xor_sync(~0u, send, 4);
}

// Gradient and Hessian of the loss at coef + step: what each chunk of rows adds to them, for every active model.
//
// A lane is (group, place) = (lane / 4, lane % 4): it builds the terms group, group + 8, ... on the rows of its place.
// The matrix products want exactly this distribution for both factors, so terms never move between lanes.
extern "C" __global__ void __launch_bounds__(WARPS * 32) derivatives(
    const double *__restrict__ table, long long stride, int n_slots, const double *__restrict__ target,
    const double *__restrict__ weight, const int *__restrict__ factors, const double *__restrict__ coef,
    const double *__restrict__ step, const int *__restrict__ active, int n_active, int rows_per_chunk, int n_rows,
    int tile_step, double *__restrict__ partial)
{
    const int parts = SUMS / WIDTH, tile_size = n_slots * TILE_PITCH;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / 4, place = lane % 4;
    double *exchange = (double *)shared + warp * 2 * TILE;  // weights and residuals of a warp's rows
    double *tiles = (double *)shared + WARPS * 2 * TILE;
    const int position = blockIdx.x * WARPS + warp;
    const bool works = position < n_active;
    const int model = active[works ? position : 0];
    const int sum = group * SUMS / 8, own = 4 * WIDTH * (sum / WIDTH) + WIDTH * place + sum % WIDTH;

    Offset offset[BLOCKS][DEGREE];
    double c[BLOCKS];
    for (int b = 0; b < BLOCKS; b++) {
        int term = model * TERMS + b * 8 + group;
        c[b] = coef[term] + step[term];
        for (int d = 0; d < DEGREE; d++)
            offset[b][d] = factors[term * DEGREE + d] * (STAGED ? (Offset)TILE_PITCH : (Offset)stride) + WIDTH * place;
    }
    double gradient[BLOCKS] = {}, hessian[STRIPS][BLOCKS][2 * HIGH] = {};

    const long long first = (long long)blockIdx.y * rows_per_chunk;
    const int n_tiles = (int)(min((long long)rows_per_chunk, n_rows - first) / TILE);
    if (STAGED) stage(tiles, table, stride, n_slots, first);
    for (int t = 0, buffer = 0; t < n_tiles; t += tile_step, buffer ^= 1) {
        if (STAGED) {
            const bool more = t + tile_step < n_tiles;
            if (more)
                stage(tiles + (buffer ^ 1) * tile_size, table, stride, n_slots, first + (t + tile_step) * TILE);
            staged(more);
        }
#pragma unroll 1
        for (int begin = 0; works && begin < TILE; begin += ROWS) {
            const long long row = first + t * TILE + begin;
            const double *rows = STAGED ? tiles + buffer * tile_size + begin : table + row;
            double x[parts][BLOCKS][WIDTH], sums[SUMS] = {};
#pragma unroll
            for (int part = 0; part < parts; part++) {
                build(x[part], rows, offset, part);
                for (int b = 0; b < BLOCKS; b++)
                    for (int e = 0; e < WIDTH; e++) sums[part * WIDTH + e] += c[b] * x[part][b][e];
            }
            double y = target[row + own], margin = y * reduce_scatter<SUMS>(sums, group);
            double w = weight[row + own];
            double tail = exp(-fabs(margin)), likelier = 1.0 / (1.0 + tail);
            exchange[own] = w * (tail * likelier * likelier);
            exchange[TILE + own] = w * (y * (margin < 0.0 ? likelier : tail * likelier));
            __syncwarp();
#pragma unroll
            for (int part = 0; part < parts; part++)
#pragma unroll
                for (int e = 0; e < WIDTH; e += 2) {
                    int at = part * 4 * WIDTH + place * WIDTH + e;
                    double2 curvature = *(double2 *)(exchange + at), residual = *(double2 *)(exchange + TILE + at);
                    double x0[STRIPS * HIGH] = {}, x1[STRIPS * HIGH] = {};
                    for (int b = 0; b < BLOCKS; b++) {
                        x0[b] = x[part][b][e];
                        x1[b] = x[part][b][e + 1];
                        gradient[b] += x0[b] * residual.x + x1[b] * residual.y;
                    }
                    for (int j = 0; j < BLOCKS; j++) {
                        double right[2] = {x0[j] * curvature.x, x1[j] * curvature.y};
                        for (int strip = 0; strip * HIGH <= j; strip++) {
                            double left[2 * HIGH];
                            for (int h = 0; h < HIGH; h++) {
                                left[h] = x0[strip * HIGH + h];
                                left[HIGH + h] = x1[strip * HIGH + h];
                            }
                            multiply_add(hessian[strip][j], left, right);
                        }
                    }
                }
            __syncwarp();
        }
        if (STAGED) __syncthreads();
    }
    if (!works) return;

    double *out = partial + ((long long)blockIdx.y * n_active + position) * PARTIAL;
    int block = 0;
    for (int i = 0; i < BLOCKS; i++)
        for (int j = i; j < BLOCKS; j++, block++) {
            const double *values = hessian[i / HIGH][j] + 2 * (i % HIGH);
            *(double2 *)(out + block * 64 + group * 8 + 2 * place) = make_double2(values[0], values[1]);
        }
    for (int b = 0; b < BLOCKS; b++) {
        gradient[b] += __shfl_xor_sync(~0u, gradient[b], 1);
        gradient[b] += __shfl_xor_sync(~0u, gradient[b], 2);
        if (place == 0) out[UPPER * 64 + b * 8 + group] = gradient[b];
    }
}

// --------------------------------------------------------------------------- small algebra, one model for each block

// The upper Cholesky factor in place; a term that depends on earlier ones gets a row of zeros
__device__ void factorise(double *h, double *diagonal)
{
    for (int i = threadIdx.x; i < TERMS; i += blockDim.x) diagonal[i] = h[i * PITCH + i];
    __syncthreads();
    for (int i = 0; i < TERMS; i++) {
        double pivot = h[i * PITCH + i];
        double scale = pivot > PIVOT_TOL * diagonal[i] ? 1.0 / sqrt(pivot) : 0.0;
        __syncthreads();
        for (int j = i + threadIdx.x; j < TERMS; j += blockDim.x) h[i * PITCH + j] *= scale;
        __syncthreads();
        const int c = threadIdx.x % TERMS;
        for (int r = i + 1 + threadIdx.x / TERMS; r <= c; r += blockDim.x / TERMS)
            h[r * PITCH + c] -= h[i * PITCH + r] * h[i * PITCH + c];
        __syncthreads();
    }
}

// Inverse of an upper factor; rows and columns of dependent terms become zero
__device__ void invert(const double *factor, double *inverse)
{
    for (int k = threadIdx.x; k < TERMS * TERMS; k += blockDim.x)
        inverse[k / TERMS * PITCH + k % TERMS] = k / TERMS == k % TERMS ? 1.0 : 0.0;
    __syncthreads();
    for (int j = 0; j < TERMS; j++) {
        double pivot = factor[j * PITCH + j];
        for (int r = threadIdx.x; r < TERMS; r += blockDim.x)
            inverse[r * PITCH + j] = pivot > 0.0 ? inverse[r * PITCH + j] / pivot : 0.0;
        __syncthreads();
        const int c = threadIdx.x % TERMS;
        for (int r = threadIdx.x / TERMS; r <= j && c > j; r += blockDim.x / TERMS)
            inverse[r * PITCH + c] -= inverse[r * PITCH + j] * factor[j * PITCH + c];
        __syncthreads();
    }
}

// solution = H^-1 g and, in every thread, g' H^-1 g
__device__ double solve(const double *inverse, const double *g, double *half, double *solution)
{
    for (int j = threadIdx.x; j < TERMS; j += blockDim.x) {
        double sum = 0.0;
        for (int i = 0; i <= j; i++) sum += g[i] * inverse[i * PITCH + j];
        half[j] = sum;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < TERMS; i += blockDim.x) {
        double sum = 0.0;
        for (int j = i; j < TERMS; j++) sum += inverse[i * PITCH + j] * half[j];
        solution[i] = sum;
    }
    double decrement = 0.0;
    for (int j = 0; j < TERMS; j++) decrement += half[j] * half[j];
    __syncthreads();
    return decrement;
}

// Add up what the chunks have found at coef + step, accept or halve the step, and take aim at the next point.
// The chunks have seen one row out of `share`.
extern "C" __global__ void advance(
    const double *__restrict__ partial, int n_chunks, int share, const int *__restrict__ active,
    const double *__restrict__ penalty, double *coef, double *step, double *decrement, double *hessian, double *inverse, double *variance, State *states)
{
    double *h = (double *)shared, *v = h + TERMS * PITCH, *g = v + TERMS * PITCH, *s = g + TERMS, *half = s + TERMS;
    const int model = active[blockIdx.x];
    for (int k = threadIdx.x; k < PARTIAL; k += blockDim.x) {
        const double *from = partial + (long long)blockIdx.x * PARTIAL + k;
        double sums[4] = {};
        for (int c = 0; c < n_chunks; c += 4)
#pragma unroll
            for (int i = 0; i < 4; i++)
                if (c + i < n_chunks) sums[i] += from[(long long)(c + i) * gridDim.x * PARTIAL];
        double sum = share * ((sums[0] + sums[1]) + (sums[2] + sums[3]));
        if (k >= UPPER * 64) {
            g[k - UPPER * 64] = sum;
            continue;
        }
        int i = 0, before = k / 64;
        while (before >= BLOCKS - i) before -= BLOCKS - i++;
        int row = i * 8 + k % 64 / 8, column = (i + before) * 8 + k % 8;
        h[row * PITCH + column] = sum;
        if (before) h[column * PITCH + row] = sum;
    }
    __syncthreads();
    State state = states[model];
    for (int i = threadIdx.x; i < TERMS; i += blockDim.x) {
        double p = penalty[model * TERMS + i];
        s[i] = step[model * TERMS + i];
        g[i] -= p * (coef[model * TERMS + i] + s[i]);
        h[i * PITCH + i] += p;
    }
    __syncthreads();

    double slope = 0.0;  // at the end of the step
    for (int i = 0; i < TERMS; i++) slope -= g[i] * s[i];
    double expected = decrement[model];
    __syncthreads();
    if (state.phase == RUNNING && slope > MAX_OVERSHOOT * expected && state.halvings < MAX_HALVINGS) {
        for (int i = threadIdx.x; i < TERMS; i += blockDim.x) step[model * TERMS + i] = 0.5 * s[i];
        if (threadIdx.x == 0) {
            // along the halved step the slope at the start is half as steep
            decrement[model] = 0.5 * expected;
            states[model].halvings = state.halvings + 1;
        }
        return;
    }

    for (int i = threadIdx.x; i < TERMS; i += blockDim.x) coef[model * TERMS + i] += s[i];
    for (int k = threadIdx.x; k < TERMS * TERMS; k += blockDim.x)
        hessian[model * TERMS * TERMS + k] = h[k / TERMS * PITCH + k % TERMS];
    factorise(h, half);
    invert(h, v);
    double reached = solve(v, g, half, s);
    // coarse steps may lead astray if some rows do not look like all of them or a column is tiny: then begin again
    bool astray = state.halvings == RESUMED && !(reached <= MAX_RESUME * TERMS);
    for (int i = 0; i < TERMS && state.level != ALL_ROWS; i++)
        astray |= !(fabs(coef[model * TERMS + i] + s[i]) <= COARSE_RANGE);
    __syncthreads();
    const bool refine = state.level != ALL_ROWS && (reached <= COARSE_TOL || state.steps + 1 >= MAX_COARSE);
    State next = {RUNNING, state.level, state.steps + 1, 0};
    if (astray) next = {START, ALL_ROWS, 0, 0};  // the steps of a level are counted by themselves
    else if (refine) next = {START, ALL_ROWS, 0, RESUMED};
    else if (state.steps >= MAX_NEWTON) next.phase = STOPPED, next.steps = state.steps;
    else if (state.level == ALL_ROWS && reached <= NEWTON_TOL) next.phase = CONVERGED;
    for (int i = threadIdx.x; i < TERMS; i += blockDim.x) {
        if (astray) coef[model * TERMS + i] = 0.0;
        else if (refine) coef[model * TERMS + i] += s[i];
        step[model * TERMS + i] = next.phase == START || next.phase == STOPPED ? 0.0 : s[i];
        double sum = 0.0;
        for (int j = i; j < TERMS; j++) sum += v[i * PITCH + j] * v[i * PITCH + j];
        variance[model * TERMS + i] = sum;
    }
    if (next.phase >= CONVERGED)
        for (int k = threadIdx.x; k < TERMS * TERMS; k += blockDim.x)
            inverse[model * TERMS * TERMS + k] = v[k / TERMS * PITCH + k % TERMS];
    if (threadIdx.x == 0) {
        decrement[model] = reached;
        states[model] = next;
    }
}

// Coefficients at the minimum of the quadratic model of the loss that lacks the terms that do not stay
extern "C" __global__ void without(const double *hessian, const int *stays, double *coef)
{
    double *h = (double *)shared, *v = h + TERMS * PITCH, *g = v + TERMS * PITCH, *s = g + TERMS, *half = s + TERMS;
    const int *stay = stays + blockIdx.x * TERMS;
    const double *full = hessian + (long long)blockIdx.x * TERMS * TERMS;
    double *c = coef + blockIdx.x * TERMS;
    for (int k = threadIdx.x; k < TERMS * TERMS; k += blockDim.x)
        h[k / TERMS * PITCH + k % TERMS] = stay[k / TERMS] && stay[k % TERMS] ? full[k] : 0.0;
    for (int i = threadIdx.x; i < TERMS; i += blockDim.x) {
        double sum = 0.0;
        for (int j = 0; j < TERMS; j++)
            if (stay[i] && !stay[j]) sum += full[i * TERMS + j] * c[j];
        g[i] = sum;
    }
    __syncthreads();
    factorise(h, half);
    invert(h, v);
    solve(v, g, half, s);
    for (int i = threadIdx.x; i < TERMS; i += blockDim.x) c[i] = stay[i] ? c[i] + s[i] : 0.0;
}

// -------------------------------------------------------------------------------------------------------------- scores

#define HOLD (TERMS <= 32)             // whether V fits into the registers
// this lane's part of V' for the matrix products; a strip may reach beyond the last block
#define V_AT(strip, b, i)                                                                                              \
    ((strip) * HIGH + (i) % HIGH < BLOCKS ? v[(8 * (b) + (i) / HIGH * 4) * TERMS + 8 * ((strip) * HIGH + (i) % HIGH)] : 0.0)

// What each chunk of rows adds to the log-loss and to the weight of the hits of either class.
//
// The leverage of a row is the squared length of V' x, V being the inverse of the upper factor. In this product the terms
// are summed over, so here a lane (group, place) builds the terms place, place + 4, ... on pairs of rows of its group.
extern "C" __global__ void __launch_bounds__(WARPS * 32) scores(
    const double *__restrict__ table, long long stride, int n_slots, const double *__restrict__ target,
    const double *__restrict__ weight, const int *__restrict__ factors, const double *__restrict__ coef,
    const double *__restrict__ inverse, const int *__restrict__ active, int n_active, int rows_per_chunk, int n_rows,
    int leave_out, double *__restrict__ partial)
{
    const int tile_size = n_slots * TILE_PITCH;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / 4, place = lane % 4;
    double *exchange = (double *)shared + warp * TILE, *tiles = (double *)shared + WARPS * TILE;
    const int position = blockIdx.x * WARPS + warp;
    const bool works = position < n_active;
    const int model = active[works ? position : 0];
    const int own_row = 16 * (group / 4) + 2 * (2 * place + group % 2) + group / 2 % 2;

    Offset offset[TERMS / 4][DEGREE];
    double c[TERMS / 4];
    for (int k = 0; k < TERMS / 4; k++) {
        int term = model * TERMS + 4 * k + place;
        c[k] = coef[term];
        for (int d = 0; d < DEGREE; d++)
            offset[k][d] = factors[term * DEGREE + d] * (STAGED ? (Offset)TILE_PITCH : (Offset)stride) + 2 * group;
    }
    const double *v = inverse + (long long)model * TERMS * TERMS + place * TERMS + group;
    double held[HOLD ? STRIPS : 1][HOLD ? BLOCKS : 1][2 * HIGH];
    if (HOLD)
        for (int strip = 0; strip < STRIPS; strip++)
            for (int b = 0; b < BLOCKS && b < (strip + 1) * HIGH; b++)
                for (int i = 0; i < 2 * HIGH; i++) held[strip][b][i] = V_AT(strip, b, i);
    double loss = 0.0, hit_upper = 0.0, hit_lower = 0.0;

    const long long first = (long long)blockIdx.y * rows_per_chunk;
    const int n_tiles = (int)(min((long long)rows_per_chunk, n_rows - first) / TILE);
    if (STAGED) stage(tiles, table, stride, n_slots, first);
    for (int t = 0; t < n_tiles; t++) {
        const long long row = first + t * TILE;
        if (STAGED) {
            if (t + 1 < n_tiles) stage(tiles + (t + 1) % 2 * tile_size, table, stride, n_slots, row + TILE);
            staged(t + 1 < n_tiles);
        }
        if (works) {
            const double *rows = STAGED ? tiles + t % 2 * tile_size : table + row;
            double lengths[8] = {};
#pragma unroll
            for (int half = 0; half < 2; half++) {
                double x[TERMS / 4][2], sums[2] = {};
#pragma unroll
                for (int k = 0; k < TERMS / 4; k++) {
                    unpack(*(const double2 *)(rows + offset[k][0] + 16 * half), x[k]);
                    for (int d = 1; d < DEGREE; d++) {
                        double2 factor = *(const double2 *)(rows + offset[k][d] + 16 * half);
                        x[k][0] *= factor.x;
                        x[k][1] *= factor.y;
                    }
                    sums[0] += c[k] * x[k][0];
                    sums[1] += c[k] * x[k][1];
                }
                for (int e = 0; e < 2; e++) {
                    sums[e] += __shfl_xor_sync(~0u, sums[e], 1);
                    sums[e] += __shfl_xor_sync(~0u, sums[e], 2);
                    if (place == e) exchange[16 * half + 2 * group + e] = sums[e];
                }
                if (leave_out)
#pragma unroll
                    for (int strip = 0; strip < STRIPS; strip++) {
                        double out[2][2 * HIGH] = {};
#pragma unroll
                        for (int b = 0; b < BLOCKS && b < (strip + 1) * HIGH; b++) {
                            double left[2 * HIGH];
                            for (int i = 0; i < 2 * HIGH; i++)
                                left[i] = HOLD ? held[HOLD ? strip : 0][HOLD ? b : 0][i] : V_AT(strip, b, i);
                            for (int e = 0; e < 2; e++) {
                                double right[2] = {x[2 * b][e], x[2 * b + 1][e]};
                                multiply_add(out[e], left, right);
                            }
                        }
                        for (int e = 0; e < 2; e++)
                            for (int i = 0; i < 2 * HIGH; i++) lengths[4 * half + 2 * e + i % 2] += out[e][i] * out[e][i];
                    }
            }
            double leverage = leave_out ? reduce_scatter<8>(lengths, group) : 0.0;
            __syncwarp();
            double y = target[row + own_row], w = weight[row + own_row], margin = y * exchange[own_row];
            if (leave_out) {
                double tail = exp(-fabs(margin)), likelier = 1.0 / (1.0 + tail);
                double out = (w < 1.0 ? w : 1.0) * leverage, left = 1.0 - out * (tail * likelier * likelier);
                margin -= out * (margin < 0.0 ? likelier : tail * likelier) / (left < MIN_LEFT_OUT ? MIN_LEFT_OUT : left);
            }
            loss += w * (log1p(exp(-fabs(margin))) + (margin < 0.0 ? -margin : 0.0));
            hit_upper += margin > 0.0 && y > 0.0 ? w : 0.0;
            hit_lower += margin > 0.0 && y < 0.0 ? w : 0.0;
        }
        if (STAGED) __syncthreads();
        else __syncwarp();
    }
    if (!works) return;
    double sums[3] = {loss, hit_upper, hit_lower};
    for (int k = 0; k < 3; k++) {
        for (int apart = 16; apart; apart /= 2) sums[k] += __shfl_xor_sync(~0u, sums[k], apart);
        if (lane == 0) partial[((long long)blockIdx.y * n_active + position) * 3 + k] = sums[k];
    }
}
