/* Own conv2d and conv2d_dx, for CPUs without AVX-512, where oneDNN leaves much of the machine unused.
 *
 * Output pixel (u, v) reads the window
 *
 *     image[u stride + first + t, v stride + first + s, :],   t, s < taps
 *
 * whose rows are contiguous. For conv2d that is its definition. conv2d_dx falls apart into one such phase
 * with stride 1 for each residue of its output pixels by the stride, with every stride-th row and column of
 * the kernel, backwards. Pixels are taken 6 at a time, wherever they are, if the border of the image cuts
 * the same taps off their windows: padding costs nothing, in work or in copies. The weights are packed to
 * [out / 16][t][s][in][16] in each run. */
#include <omp.h>

#include "base/mem.h"
#include "exec/kernel/kernel.h"
#include "exec/kernel/micro.h"
#include "op/op_rules.h"
#include "op/window.h"

/* Floats of a cache line, and of the images of a strip: they share a second-level cache with the weights. */
enum { LINE = 16, STRIP = 320 * 1024 / 4, MAX_STRIDE = 4 };

/* The output pixels residue + step u; "first" is where the window of u = 0 begins. */
struct phase {
  int64_t residue[2], count[2], taps[2], first[2];
  int64_t k0[2]; /* dx: row and column of the kernel at the window's end */
  float *weights;
};

/* Of a phase: a rectangle of pixels whose windows, cut off by the image's border, have the same taps. */
struct pass {
  int64_t begin[2], end[2]; /* u, v */
  int64_t skip[2], taps[2];
  const struct phase *phase;
};

struct direct {
  struct kernel base;
  struct strips strips;
  int64_t in, outs, image[2], size[2], kernel[2]; /* image: of the operand, size: of the result */
  int64_t stride[2], step[2]; /* of windows in the image, of a phase's pixels in the result */
  bool dx, bias, relu;
  int threads;
  int64_t n_phases, n_passes;
  struct phase *phase;
  struct pass *pass;
  float *weights;
};

/* ---- Weights ---- */

/* [in][16] of one tap: transposes W[o, p, q, :] for 16 o. */
static void pack_forward(const struct direct *d, const float *w, float *to)
{
  int64_t in = d->in, row = d->kernel[0] * d->kernel[1] * in;
  for (int64_t v = 0; v < COLUMNS; v += LANES) {
    int64_t i = 0;
    for (; i + LANES <= in; i += LANES) {
      lanes r[LANES];
      UNROLL for (int k = 0; k < LANES; k++) r[k] = LOAD(w + (v + k) * row + i);
      transpose8(r);
      UNROLL for (int k = 0; k < LANES; k++) STORE(to + (i + k) * COLUMNS + v, r[k]);
    }
    for (; i < in; i++)
      for (int64_t k = 0; k < LANES; k++) to[i * COLUMNS + v + k] = w[(v + k) * row + i];
  }
}

/* [o][16] of one tap: W[:, p, q, i ..] for 16 i. */
static void pack_dx(const struct direct *d, const float *w, float *to)
{
  for (int64_t o = 0; o < d->in; o++, to += COLUMNS) {
    const float *from = w + o * d->kernel[0] * d->kernel[1] * d->outs;
    STORE(to, LOAD(from));
    STORE(to + LANES, LOAD(from + LANES));
  }
}

static void pack_tile(const struct direct *d, const struct phase *p, int64_t tile, const float *w)
{
  int64_t tap = d->in * COLUMNS;
  float *to = p->weights + tile * p->taps[0] * p->taps[1] * tap;
  for (int64_t t = 0; t < p->taps[0]; t++)
    for (int64_t s = 0; s < p->taps[1]; s++, to += tap) {
      if (!d->dx) {
        pack_forward(d, w + ((tile * COLUMNS * d->kernel[0] + t) * d->kernel[1] + s) * d->in, to);
        continue;
      }
      int64_t y = p->k0[0] + (p->taps[0] - 1 - t) * d->step[0],
              x = p->k0[1] + (p->taps[1] - 1 - s) * d->step[1];
      pack_dx(d, w + (y * d->kernel[1] + x) * d->outs + tile * COLUMNS, to);
    }
}

/* ---- Pixels of a pass in a strip, one after the other ---- */

struct cursor {
  const float *a;
  float *c;
  int64_t left_row, left_image, columns, rows;
  /* onto the next pixel, and on from the end of a row and of an image */
  int64_t a_step, a_row, a_image, c_step, c_row, c_image;
};

static inline void next_pixel(struct cursor *c)
{
  c->a += c->a_step, c->c += c->c_step;
  if (--c->left_row) return;
  c->a += c->a_row, c->c += c->c_row, c->left_row = c->columns;
  if (--c->left_image) return;
  c->a += c->a_image, c->c += c->c_image, c->left_image = c->rows;
}

static struct cursor start(const struct direct *d, const struct pass *p, int64_t image, int64_t row,
                           int64_t rows, const float *x, float *out)
{
  const struct phase *f = p->phase;
  int64_t line = d->image[1] * d->in, to_line = d->size[1] * d->outs, n = p->end[1] - p->begin[1];
  int64_t from[2], to[2], u[2] = {row, p->begin[1]};
  for (int a = 0; a < 2; a++) {
    from[a] = f->first[a] + u[a] * d->stride[a] + p->skip[a];
    to[a] = f->residue[a] + u[a] * d->step[a];
  }
  struct cursor c = {.columns = n, .rows = rows, .left_row = n, .left_image = rows};
  c.a = x + (image * d->image[0] + from[0]) * line + from[1] * d->in;
  c.c = out + (image * d->size[0] + to[0]) * to_line + to[1] * d->outs;
  c.a_step = d->stride[1] * d->in, c.c_step = d->step[1] * d->outs;
  c.a_row = d->stride[0] * line - n * c.a_step, c.c_row = d->step[0] * to_line - n * c.c_step;
  c.a_image = (d->image[0] - rows * d->stride[0]) * line;
  c.c_image = (d->size[0] - rows * d->step[0]) * to_line;
  return c;
}

/* ---- What comes next, fetched into the second-level cache meanwhile ---- */

struct ahead {
  const float *at, *end;
  int64_t lines; /* with each block */
};

static inline void fetch(struct ahead *f)
{
  for (int64_t n = f->lines; n > 0 && f->at < f->end; n--, f->at += LINE) __builtin_prefetch(f->at, 0, 2);
}

static struct ahead fetch_strip(const struct direct *d, int64_t index, const float *x)
{
  if (index >= d->strips.count) return (struct ahead){0};
  struct strip at = strips_at(&d->strips, index);
  int64_t line = d->image[1] * d->in, begin = at.row * d->stride[0];
  int64_t rows = (at.images - 1) * d->image[0] + least(at.rows * d->stride[0], d->image[0] - begin);
  int64_t blocks = at.images * at.rows * d->step[0] * d->size[1] / ROWS * (d->outs / COLUMNS);
  struct ahead f = {.at = x + (at.image * d->image[0] + begin) * line};
  f.end = f.at + most(0, rows) * line;
  f.lines = (f.end - f.at) / LINE / most(1, blocks) + 1;
  return f;
}

/* ---- Running ---- */

static inline void put_row(const struct direct *d, const lanes sum[2], const float *bias, float *to)
{
  UNROLL for (int v = 0; v < 2; v++)
  {
    lanes x = sum[v];
    if (bias) x += LOAD(bias + v * LANES);
    STORE(to + v * LANES, d->relu ? RECTIFY(x) : x);
  }
}

static void run_pass(const struct direct *d, const struct pass *p, const struct strip *at, int64_t j,
                     const float *x, const float *bias, float *out, struct ahead *ahead)
{
  const struct phase *f = p->phase;
  int64_t row = most(p->begin[0], at->row), rows = least(p->end[0], at->row + at->rows) - row;
  struct box k = {
    .images = 1, .rows = p->taps[0], .row_step = d->image[1] * d->in, .columns = p->taps[1] * d->in};
  k.b_row_skip = (f->taps[1] - p->taps[1]) * d->in * COLUMNS;
  if (rows <= 0) return;
  struct cursor c = start(d, p, at->image, row, rows, x, out + j);
  const float *b =
    f->weights + (j * f->taps[0] * f->taps[1] + (p->skip[0] * f->taps[1] + p->skip[1]) * COLUMNS) * d->in;
  if (bias) bias += j;
  for (int64_t left = at->images * rows * c.columns; left > 0; left -= ROWS) {
    int64_t n = least(left, ROWS);
    const float *a[ROWS];
    float *to[ROWS];
    micro_sum sum;
    for (int64_t r = 0; r < n; r++) {
      a[r] = c.a, to[r] = c.c;
      __builtin_prefetch(c.c, 1, 3);
      next_pixel(&c);
    }
    fetch(ahead);
    micro(n, &k, a, 1, b, COLUMNS, sum);
    for (int64_t r = 0; r < n; r++) put_row(d, sum[r], bias, to[r]);
  }
}

static r4_status direct_run(struct kernel *kernel, void *const *in, void *out, r4_error *e)
{
  struct direct *d = (struct direct *)kernel;
  const float *bias = d->bias ? in[2] : NULL;
  int64_t tiles = d->outs / COLUMNS;
  int threads = omp_get_max_threads() < d->threads ? omp_get_max_threads() : d->threads;
  (void)e;
#pragma omp parallel num_threads(threads)
  {
#pragma omp for schedule(static)
    for (int64_t t = 0; t < d->n_phases * tiles; t++) pack_tile(d, &d->phase[t / tiles], t % tiles, in[1]);
#pragma omp for schedule(static)
    for (int64_t t = 0; t < d->strips.count; t++) {
      struct strip at = strips_at(&d->strips, t);
      struct ahead ahead = fetch_strip(d, t + 1, in[0]);
      for (int64_t j = 0; j < d->outs; j += COLUMNS)
        for (int64_t p = 0; p < d->n_passes; p++) run_pass(d, &d->pass[p], &at, j, in[0], bias, out, &ahead);
    }
  }
  return R4_OK;
}

static void direct_destroy(struct kernel *k)
{
  struct direct *d = (struct direct *)k;
  r4_mem_free(d->pass);
  r4_mem_free(d->weights);
  r4_mem_free(d->phase);
  r4_mem_free(d);
}

/* ---- Making ---- */

static void forward_phase(const struct kernel_request *q, struct direct *d)
{
  for (int a = 0; a < 2; a++) {
    d->phase->count[a] = d->size[a], d->phase->taps[a] = d->kernel[a];
    d->phase->first[a] = -q->attr.i[W_PAD + 2 * a];
  }
}

/* Pixel residue + step u of dx gets the kernel's rows k0, k0 + step, .. from rows (..) - 0, - 1, .. of dy. */
static void dx_phase(const struct kernel_request *q, struct direct *d, struct phase *f,
                     const int64_t residue[2])
{
  for (int a = 0; a < 2; a++) {
    int64_t s = d->step[a], at = residue[a] + q->attr.i[W_PAD + 2 * a];
    f->residue[a] = residue[a];
    f->count[a] = d->size[a] > residue[a] ? (d->size[a] - residue[a] + s - 1) / s : 0;
    f->k0[a] = at % s;
    f->taps[a] = f->k0[a] < d->kernel[a] ? (d->kernel[a] - f->k0[a] + s - 1) / s : 0;
    f->first[a] = at / s - (f->taps[a] - 1);
  }
}

/* Along one axis: pixels u .. until the taps inside of the image change. */
static int64_t run_from(const struct direct *d, const struct phase *f, int a, int64_t u, struct pass *p)
{
  int64_t end = u;
  for (; end < f->count[a]; end++) {
    int64_t at = f->first[a] + end * d->stride[a], low = most(0, -at),
            high = least(f->taps[a], d->image[a] - at);
    if (high <= low) low = high = 0;
    if (end > u && (low != p->skip[a] || high - low != p->taps[a])) break;
    p->skip[a] = low, p->taps[a] = high - low;
  }
  p->begin[a] = u, p->end[a] = end;
  return end;
}

/* Counts the passes, and writes them to "to" unless it is NULL. */
static int64_t list_passes(const struct direct *d, struct pass *to)
{
  int64_t n = 0;
  for (const struct phase *f = d->phase; f < d->phase + d->n_phases; f++) {
    struct pass p = {.phase = f};
    for (int64_t u = 0; u < f->count[0];) {
      u = run_from(d, f, 0, u, &p);
      for (int64_t v = 0; v < f->count[1]; n++) {
        v = run_from(d, f, 1, v, &p);
        if (!to) continue;
        to[n] = p;
        if (!p.taps[0] || !p.taps[1]) to[n].taps[0] = to[n].taps[1] = to[n].skip[0] = to[n].skip[1] = 0;
      }
    }
  }
  return n;
}

static void describe(const struct kernel_request *q, struct direct *d, bool dx)
{
  d->dx = dx, d->bias = q->bias, d->relu = q->relu, d->in = q->in[0].dim[3], d->outs = q->out.dim[3];
  d->n_phases = dx ? q->attr.i[W_STRIDE] * q->attr.i[W_STRIDE + 1] : 1;
  for (int a = 0; a < 2; a++) {
    d->size[a] = q->out.dim[1 + a], d->kernel[a] = q->in[1].dim[1 + a], d->image[a] = q->in[0].dim[1 + a];
    d->stride[a] = dx ? 1 : q->attr.i[W_STRIDE + a], d->step[a] = dx ? q->attr.i[W_STRIDE + a] : 1;
  }
  d->threads = omp_get_max_threads();
}

static bool build(const struct kernel_request *q, struct direct *d)
{
  int64_t residue[2] = {0, 0};
  d->phase = r4_mem_new((size_t)d->n_phases, sizeof *d->phase);
  float *w = d->weights = r4_mem_new_aligned((size_t)r4_shape_count(q->in[1]) * sizeof *d->weights);
  if (!d->phase || !d->weights) return false;
  for (struct phase *f = d->phase; f < d->phase + d->n_phases; f++) {
    if (d->dx)
      dx_phase(q, d, f, residue);
    else
      forward_phase(q, d);
    f->weights = w;
    w += f->taps[0] * f->taps[1] * d->outs * d->in;
    residue[1] = (residue[1] + 1) % d->step[1];
    residue[0] += !residue[1];
  }
  d->strips =
    (struct strips){.batch = q->out.dim[0], .rows = d->phase->count[0]}; /* the first has the most */
  strips_choose(&d->strips, STRIP / (d->image[1] * d->in * d->stride[0]), d->threads);
  d->n_passes = list_passes(d, NULL);
  d->pass = r4_mem_new((size_t)d->n_passes, sizeof *d->pass);
  if (d->pass) list_passes(d, d->pass);
  return d->pass;
}

/* Kernels of 1 x 1 and few channels have too little to sum up for each block that is stored, and so have
 * the phases of large strides. */
static bool fits(const struct kernel_request *q)
{
  const int64_t *a = q->attr.i;
  return kernel_prefers_own() && window_groups(&q->attr) == 1 && q->in[0].dim[3] >= COLUMNS &&
         q->out.dim[3] % COLUMNS == 0 && q->in[1].dim[1] * q->in[1].dim[2] > 1 && a[W_DILATION] == 1 &&
         a[W_DILATION + 1] == 1 && a[W_STRIDE] <= MAX_STRIDE && a[W_STRIDE + 1] <= MAX_STRIDE &&
         !q->accumulate && q->out.dim[0] >= omp_get_max_threads();
}

static r4_status make(const struct kernel_request *q, bool dx, struct kernel **k, r4_error *e)
{
  if (!fits(q)) return R4_OK;
  struct direct *d = mem_new(1, sizeof *d, q->op->name, e);
  if (!d) return R4_E_MEMORY;
  d->base = (struct kernel){
    .name = dx ? "direct conv dx" : "direct conv", .run = direct_run, .destroy = direct_destroy};
  *k = &d->base;
  describe(q, d, dx);
  if (build(q, d)) return R4_OK;
  direct_destroy(*k);
  *k = NULL;
  return r4_fail(e, R4_E_MEMORY, "plan: out of memory for %s", q->op->name);
}

r4_status direct_conv(const struct kernel_request *q, struct kernel **k, r4_error *e)
{
  return make(q, false, k, e);
}

r4_status direct_conv_dx(const struct kernel_request *q, struct kernel **k, r4_error *e)
{
  return make(q, true, k, e);
}
