/* Float kernels of unpool_may and pick_may, in two walks over each window: from the first position to the last, which
 * notes the largest a before each, and back with the largest after it. Images run in parallel, channels are the inner
 * loop. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "base/mem.h"
#include "exec/kernel/kernel.h"
#include "op/op_rules.h"
#include "op/pool.h"

/* What a thread needs for one window. */
struct scratch {
  int64_t *place; /* [positions] inside the image, channel 0 */
  float *before;  /* [positions][channels] largest a of those before */
  float *most;    /* [channels] largest a so far */
};

struct may {
  struct kernel base;
  struct attr attr;
  r4_shape image, out; /* large and pooled */
  bool spread;         /* unpool_may */
  struct scratch *scratch;
  int threads;
};

static void may_destroy(struct kernel *k)
{
  struct may *m = (struct may *)k;
  for (int t = 0; m->scratch && t < m->threads; t++) {
    r4_mem_free(m->scratch[t].place);
    r4_mem_free(m->scratch[t].before);
    r4_mem_free(m->scratch[t].most);
  }
  r4_mem_free(m->scratch);
  r4_mem_free(m);
}

/* Notes the places of window (u, v) of image n in row-major order, and returns their number. */
static int64_t find_places(const struct may *m, int64_t n, int64_t u, int64_t v, int64_t *place)
{
  const struct pool_walk w = {&m->attr, m->image, m->out};
  int64_t count = 0;
  for (int64_t p = 0; p < m->attr.i[W_SIZE]; p++)
    for (int64_t q = 0; q < m->attr.i[W_SIZE + 1]; q++) {
      place[count] = pool_at(&w, n, u, v, p, q);
      count += place[count] >= 0;
    }
  return count;
}

static void forget(float *restrict most, int64_t channels)
{
  for (int64_t c = 0; c < channels; c++) most[c] = -INFINITY;
}

/* Notes the largest a before this position, and takes a along. */
static void walk_on(const float *restrict a, float *restrict most, float *restrict before, int64_t channels)
{
#pragma omp simd
  for (int64_t c = 0; c < channels; c++) {
    before[c] = most[c];
    most[c] = POOL_LARGER(most[c], a[c]);
  }
}

/* Adds the share of one position, of which b and a are known, from "from" to "to". */
static void walk_back(const float *restrict a, const float *restrict b, bool first,
                      const float *restrict before, float *restrict after, const float *restrict from,
                      float *restrict to, int64_t channels)
{
#pragma omp simd
  for (int64_t c = 0; c < channels; c++) {
    float share = POOL_SHARE(b[c], first, before[c], after[c]);
    to[c] += share == 0 ? 0 : share * from[c];
    after[c] = POOL_LARGER(after[c], a[c]);
  }
}

/* from and to are at the window's pooled position and at the image, or the reverse. */
static void one_window(const struct may *m, const struct scratch *s, int64_t count, const float *a,
                       const float *b, const float *from, float *to)
{
  int64_t channels = m->image.dim[3];
  forget(s->most, channels);
  for (int64_t j = 0; j < count; j++) walk_on(a + s->place[j], s->most, s->before + j * channels, channels);
  forget(s->most, channels);
  for (int64_t j = count - 1; j >= 0; j--) {
    int64_t at = s->place[j];
    walk_back(a + at, b + at, j == 0, s->before + j * channels, s->most, m->spread ? from : from + at,
              m->spread ? to + at : to, channels);
  }
}

static void one_image(const struct may *m, const struct scratch *s, void *const *in, float *out, int64_t n)
{
  const float *t = in[2];
  int64_t channels = m->image.dim[3], windows = m->out.dim[1] * m->out.dim[2];
  int64_t size = r4_shape_count(m->spread ? m->image : m->out) / m->image.dim[0];
  memset(out + n * size, 0, (size_t)size * sizeof *out);
  for (int64_t k = 0; k < windows; k++) {
    int64_t count = find_places(m, n, k / m->out.dim[2], k % m->out.dim[2], s->place);
    int64_t at = (n * windows + k) * channels;
    one_window(m, s, count, in[0], in[1], m->spread ? t + at : t, m->spread ? out : out + at);
  }
}

static r4_status may_run(struct kernel *k, void *const *in, void *out, r4_error *e)
{
  struct may *m = (struct may *)k;
  int threads = omp_get_max_threads() < m->threads ? omp_get_max_threads() : m->threads;
  (void)e;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int64_t n = 0; n < m->image.dim[0]; n++) one_image(m, &m->scratch[omp_get_thread_num()], in, out, n);
  return R4_OK;
}

static bool make_scratch(struct may *m)
{
  int64_t most[2], channels = m->image.dim[3];
  for (int k = 0; k < 2; k++) {
    int64_t kernel = m->attr.i[W_SIZE + k], image = m->image.dim[1 + k];
    most[k] = kernel < image ? kernel : image;
  }
  size_t places = (size_t)(most[0] * most[1]);
  m->scratch = r4_mem_new((size_t)m->threads, sizeof *m->scratch);
  for (int t = 0; m->scratch && t < m->threads; t++) {
    struct scratch *s = &m->scratch[t];
    s->place = r4_mem_new(places + 1, sizeof *s->place);
    s->before = r4_mem_new(places * (size_t)channels, sizeof *s->before);
    s->most = r4_mem_new((size_t)channels, sizeof *s->most);
    if (!s->place || !s->before || !s->most) return false;
  }
  return m->scratch != NULL;
}

r4_status pool_may_kernel(const struct kernel_request *q, struct kernel **k, r4_error *e)
{
  struct may *m = mem_new(1, sizeof *m, q->op->name, e);
  if (!m) return R4_E_MEMORY;
  m->base = (struct kernel){.name = "pool", .run = may_run, .destroy = may_destroy};
  m->attr = q->attr;
  m->spread = q->op == &op_unpool_may;
  m->image = q->in[0];
  m->out = m->spread ? q->in[2] : q->out;
  m->threads = omp_get_max_threads();
  *k = &m->base;
  if (make_scratch(m)) return R4_OK;
  may_destroy(*k);
  *k = NULL;
  return r4_fail(e, R4_E_MEMORY, "plan: out of memory for %s", q->op->name);
}
