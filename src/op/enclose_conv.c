/* Sound rules of convolutions: rows of patches times the weights. conv2d takes the patch that an output sees;
 * conv2d_dx, its transpose, the outputs that see a pixel. */
#include <omp.h>
#include <string.h>

#include "base/mem.h"
#include "op/sound.h"
#include "op/window.h"

/* One group of channels. Rows are positions [n, height, width] of the result, columns (p, q, channel). */
struct patches {
  const struct attr *attr;
  r4_shape from, to, weights; /* argument, result, [out, p, q, in] */
  int64_t group, channels, results; /* channels of the argument and of the result, in the group */
  bool transposed;
};

/* Where in the weights [out, p, q, in] is the one of column k and channel j of the result. */
static int64_t weight_place(const void *where, int64_t k, int64_t j)
{
  const struct patches *p = where;
  int64_t pq = k / p->channels, channel = k % p->channels, kernel = p->weights.dim[1] * p->weights.dim[2];
  int64_t out = p->transposed ? p->group * p->channels + channel : p->group * p->results + j;
  return (out * kernel + pq) * p->weights.dim[3] + (p->transposed ? j : channel);
}

/* Where along an axis the argument has what kernel position k of result position o sees; -1: nowhere. */
static int64_t seen(const struct patches *p, int axis, int64_t o, int64_t k)
{
  int64_t size = p->from.dim[1 + axis], at;
  if (p->transposed) {
    int64_t ahead = o + p->attr->i[W_PAD + 2 * axis] - k * p->attr->i[W_DILATION + axis];
    int64_t stride = p->attr->i[W_STRIDE + axis];
    if (ahead < 0 || ahead % stride) return -1;
    at = ahead / stride;
  } else {
    at = window_at(p->attr, axis, o, k);
  }
  return at < 0 || at >= size ? -1 : at;
}

/* A row of centres or radii; zeros outside. */
static void take_patch(const struct patches *p, int64_t row, const double *x, double *to)
{
  int64_t v = row % p->to.dim[2], u = row / p->to.dim[2] % p->to.dim[1], n = row / (p->to.dim[2] * p->to.dim[1]);
  for (int64_t i = 0; i < p->weights.dim[1]; i++)
    for (int64_t j = 0; j < p->weights.dim[2]; j++, to += p->channels) {
      int64_t h = seen(p, 0, u, i), w = seen(p, 1, v, j);
      if (h < 0 || w < 0)
        memset(to, 0, (size_t)p->channels * sizeof *to);
      else
        memcpy(to, x + ((n * p->from.dim[1] + h) * p->from.dim[2] + w) * p->from.dim[3] + p->group * p->channels,
               (size_t)p->channels * sizeof *to);
    }
}

static void run_chunk(const struct patches *p, const struct sound_matrix *b, int64_t first, int64_t rows,
                      const double *centre, const double *radius, const struct enclosing *c, double *room)
{
  double *a = room, *r = a + SOUND_ROWS * b->inner;
  for (int64_t i = 0; i < rows; i++) {
    take_patch(p, first + i, centre, a + i * b->inner);
    if (radius) take_patch(p, first + i, radius, r + i * b->inner);
  }
  int64_t at = first * p->to.dim[3] + p->group * p->results;
  sound_rows(b, rows, a, radius ? r : NULL, c->any_float, c->out_lo + at, c->out_hi + at, p->to.dim[3],
             r + SOUND_ROWS * b->inner);
}

static r4_status run_group(const struct patches *p, const double *centre, const double *radius,
                           const struct enclosing *c)
{
  struct sound_matrix b;
  int64_t inner = p->weights.dim[1] * p->weights.dim[2] * p->channels;
  r4_status s = sound_matrix_new(&b, inner, p->results, c->lo[1], c->hi[1], weight_place, p, c->error);
  if (s) return s;
  size_t room = sound_room(&b) + (size_t)(2 * SOUND_ROWS * inner);
  double *all = mem_new((size_t)omp_get_max_threads() * room, sizeof *all, "a convolution of intervals", c->error);
  const int64_t rows = r4_shape_count(p->to) / p->to.dim[3], chunks = (rows + SOUND_ROWS - 1) / SOUND_ROWS;
#pragma omp parallel for schedule(static) if (chunks > 1 && all)
  for (int64_t t = 0; t < chunks; t++) {
    if (!all) continue;
    int64_t first = t * SOUND_ROWS, here = rows - first < SOUND_ROWS ? rows - first : SOUND_ROWS;
    run_chunk(p, &b, first, here, centre, radius, c, all + (size_t)omp_get_thread_num() * room);
  }
  bool failed = !all;
  r4_mem_free(all);
  sound_matrix_free(&b);
  return failed ? R4_E_MEMORY : R4_OK;
}

static r4_status convolve(const struct enclosing *c, bool transposed)
{
  int64_t n = r4_shape_count(c->in_shape[0]), groups = window_groups(c->attr);
  struct patches p = {.attr = c->attr, .from = c->in_shape[0], .to = c->shape, .weights = c->in_shape[1],
                      .transposed = transposed};
  p.channels = p.from.dim[3] / groups;
  p.results = p.to.dim[3] / groups;
  double *centre = mem_new(2 * (size_t)n, sizeof *centre, "images of intervals", c->error), *radius = centre + n;
  if (!centre) return R4_E_MEMORY;
  sound_balls(n, c->lo[0], c->hi[0], centre, radius);
  r4_status s = R4_OK;
  for (p.group = 0; p.group < groups && !s; p.group++)
    s = run_group(&p, centre, c->lo[0] == c->hi[0] ? NULL : radius, c);
  r4_mem_free(centre);
  return s;
}

r4_status enclose_conv2d(const struct enclosing *c)
{
  return convolve(c, false);
}

r4_status enclose_conv2d_dx(const struct enclosing *c)
{
  return convolve(c, true);
}
