#include "certify/cover_passes.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "data/batch/length.h"
#include "measure/predict.h"

struct passes {
  const r4_net *net;
  const float *weights;
  const r4_data *d;
  const r4_cover *cover;
  const float *constant;
  struct probe *many, *one,
    *now; /* of PASSES_BATCH rows, of one (when it is needed), and the one that ran last */
  size_t classes;
  size_t batch[LENGTHS_USUAL]; /* rows to ask about at once, by how texts are cut; 0: not known yet */
};

static size_t build(struct objective *o, r4_id out[PROBE_OUTPUTS])
{
  out[0] = view_logits(o, view_clean(o));
  return 1;
}

static struct probe *open_probe(const struct passes *p, size_t batch, r4_error *e)
{
  return probe_new(
    &(struct probe_options){.net = p->net, .batch = (int64_t)batch, .build = build, .cuts = true}, e);
}

/* ---- Running ---- */

static void hide(const struct passes *p, const struct pass *pass, float *x)
{
  size_t length = r4_data_length(p->d, pass->example);
  r4_data_values(p->d, pass->example, x);
  if (pass->i != NO_MASK) r4_cover_put(p->cover, pass->i, length, p->constant, x);
  if (pass->j != NO_MASK && pass->j != pass->i) r4_cover_put(p->cover, pass->j, length, p->constant, x);
}

/* All cut to one length; n at most the rows of the probe. */
static r4_status ask(struct passes *p, struct probe *probe, size_t n, const struct pass *pass, r4_error *e)
{
  bool texts = cover_is_of_texts(p->cover);
  r4_status s = probe_begin_rows(probe, texts ? r4_data_length(p->d, pass->example) : 0, e);
  p->now = probe;
  if (s) return s;
#pragma omp parallel for
  for (size_t k = 0; k < n; k++) {
    hide(p, &pass[k], probe_room(probe, k));
    probe_end_row(probe, k, r4_data_length(p->d, pass[k].example));
  }
  return probe_run_rows(probe, p->weights, n, e);
}

/* One example in all rows: whether all of them give the same bits. */
static r4_status compare_rows(struct passes *p, const struct pass *pass, bool *alike, r4_error *e)
{
  struct pass same[PASSES_BATCH];
  for (size_t k = 0; k < PASSES_BATCH; k++) same[k] = *pass;
  r4_status s = ask(p, p->many, PASSES_BATCH, same, e);
  const float *first = s ? NULL : probe_row(p->many, 0, 0);
  *alike = true;
  for (size_t k = 1; k < PASSES_BATCH && !s; k++)
    if (memcmp(first, probe_row(p->many, 0, k), p->classes * sizeof *first)) *alike = false;
  return s;
}

static r4_status find_batch(struct passes *p, const struct pass *pass, size_t *batch, r4_error *e)
{
  bool alike = true;
  r4_status s = compare_rows(p, pass, &alike, e);
  if (!s && !alike && !p->one && !(p->one = open_probe(p, 1, e))) s = e->status;
  if (!s) *batch = alike ? PASSES_BATCH : 1;
  return s;
}

static void take(const float *z, size_t classes, struct pass *to)
{
  float next = -INFINITY;
  size_t best = predict_class(z, classes);
  to->predicted = (int32_t)best;
  for (size_t k = 0; k < classes; k++) {
    if (!isfinite(z[k])) to->predicted = -1;
    if (k != best && z[k] > next) next = z[k];
  }
  to->lead = to->predicted < 0 ? 0 : z[best] - next;
}

/* How a text is cut. */
static size_t step_of(const struct passes *p, const struct pass *pass)
{
  size_t width = (size_t)r4_shape_count(r4_data_shape(p->d));
  return cover_is_of_texts(p->cover) ? length_step(r4_data_length(p->d, pass->example), width, LENGTHS_USUAL)
                                     : 0;
}

r4_status passes_run(struct passes *p, size_t n, struct pass *pass, r4_error *e)
{
  r4_status s = R4_OK;
  for (size_t first = 0, end; first < n && !s; first = end) {
    size_t step = step_of(p, &pass[first]), *batch = &p->batch[step];
    if (!*batch) s = find_batch(p, &pass[first], batch, e);
    for (end = first + 1; end < n && end - first < *batch && step_of(p, &pass[end]) == step;) end++;
    if (!s) s = ask(p, *batch > 1 ? p->many : p->one, end - first, pass + first, e);
    for (size_t k = first; k < end && !s; k++) take(probe_row(p->now, 0, k - first), p->classes, &pass[k]);
  }
  return s;
}

/* ---- Making ---- */

struct passes *passes_new(const r4_net *n, const float *weights, const r4_data *d, const r4_cover *c,
                          const float *constant, r4_error *e)
{
  struct passes *p = mem_new(1, sizeof *p, "passes", e);
  if (!p) return NULL;
  *p = (struct passes){.net = n, .weights = weights, .d = d, .cover = c, .constant = constant};
  if ((p->many = open_probe(p, PASSES_BATCH, e))) {
    p->classes = probe_width(p->many, 0);
    return p;
  }
  passes_free(p);
  return NULL;
}

void passes_free(struct passes *p)
{
  if (!p) return;
  probe_free(p->many);
  probe_free(p->one);
  r4_mem_free(p);
}
