#include "measure/probe.h"

#include <string.h>

#include "base/mem.h"
#include "data/batch/length.h"
#include "module/guide_cells.h"
#include "r4_tools.h"

struct probe {
  struct probe_options options;
  size_t batch, features, outputs;
  r4_plan *plan;
  float *x, *y, *m, *length; /* length: NULL unless examples are texts */
  float *cells;              /* masks at the leaf, if it is an image behind the input; else NULL */
  float *out[PROBE_OUTPUTS]; /* [batch, width] */
  size_t width[PROBE_OUTPUTS];
  float *drawn[PROBE_DRAWS];
  float *row; /* [batch, features of the data], of one that cuts */
  /* Probes for shorter texts, by the number of their length, made when they are needed. The last that ran has the
   * results. */
  struct probe *shorter[LENGTHS_USUAL], *last;
  r4_net *net; /* its own, of a shorter one */
  size_t data_features;
};

/* Inputs that build has drawn. */
static r4_status draw(struct probe *p, const struct draws *d, r4_error *e)
{
  r4_status s = d->n <= PROBE_DRAWS ? R4_OK : r4_fail(e, R4_E_INTERNAL, "a probe draws %zu inputs", d->n);
  for (size_t k = 0; k < d->n && !s; k++) {
    if (!(p->drawn[k] = mem_new_aligned(d->list[k].count, sizeof(float), "samples", e))) return R4_E_MEMORY;
    r4_drawn_fill(&d->list[k], p->options.seed, 0, NULL, p->drawn[k]);
    s = r4_plan_input(p->plan, d->list[k].name, p->drawn[k], e);
  }
  return s;
}

static r4_status compile(struct probe *p, r4_error *e)
{
  r4_objective_options options = {.batch = p->options.batch,
                                  .eps = p->options.eps,
                                  .samples = p->options.samples,
                                  .explain = p->options.explain,
                                  .words = p->options.words,
                                  .word_count = p->options.word_count,
                                  .word_box = p->options.words != NULL,
                                  .lengths = objective_leaf_is_rows(p->options.net)};
  const r4_net *net = p->options.net;
  r4_id out[PROBE_OUTPUTS];
  r4_graph *g = r4_graph_new();
  r4_id *param = r4_mem_new(r4_net_params(net) + 1, sizeof *param);
  r4_status s = R4_OK;
  if (g && param) {
    r4_net_inputs(net, g, param);
    struct draws drawn = {0};
    struct objective o = {.g = g, .net = net, .param = param, .options = &options, .drawn = &drawn};
    objective_inputs(&o);
    p->outputs = p->options.build(&o, out);
    for (size_t k = 0; k < p->outputs; k++)
      p->width[k] = (size_t)r4_shape_count(r4_node_shape(g, out[k])) / p->batch;
    p->plan = r4_plan_new(g, p->outputs, out, NULL, e);
    s = p->plan ? draw(p, &drawn, e) : e->status;
  } else {
    s = r4_fail(e, R4_E_MEMORY, "out of memory for a net's graph");
  }
  r4_mem_free(param);
  r4_graph_free(g);
  return s;
}

static float *floats(size_t rows, size_t width, r4_status *s, r4_error *e)
{
  float *p = *s ? NULL : mem_new_aligned(rows * width, sizeof *p, "a batch", e);
  if (!p && !*s) *s = R4_E_MEMORY;
  return p;
}

static size_t cells_of(const struct probe *p)
{
  r4_shape leaf = net_leaf(p->options.net);
  return (size_t)(leaf.dim[0] * leaf.dim[1]);
}

static r4_status bind(struct probe *p, r4_error *e)
{
  r4_status s = R4_OK;
  p->x = floats(p->batch, p->features, &s, e);
  p->m = floats(p->batch, p->features, &s, e);
  p->y = floats(p->batch, 1, &s, e);
  bool texts = objective_leaf_is_rows(p->options.net);
  if (texts) p->length = floats(p->batch, 1, &s, e);
  if (!s && texts) s = r4_plan_input(p->plan, "length", p->length, e);
  if (!s) s = r4_plan_input(p->plan, "x", p->x, e);
  if (!s) s = r4_plan_input(p->plan, "y", p->y, e);
  if (net_leaf_has_cells(p->options.net)) p->cells = floats(p->batch, cells_of(p), &s, e);
  if (!s) s = r4_plan_input(p->plan, "m", p->cells ? p->cells : p->m, e);
  for (size_t k = 0; k < p->outputs && !s; k++) {
    p->out[k] = floats(p->batch, p->width[k], &s, e);
    if (!s) s = r4_plan_output(p->plan, k, p->out[k], e);
  }
  return s;
}

struct probe *probe_new(const struct probe_options *options, r4_error *e)
{
  r4_error own = {0};
  if (!e) e = &own;
  if (options->batch < 1) {
    r4_fail(e, R4_E_ARGUMENT, "a batch of %lld examples: expected 1 or more", (long long)options->batch);
    return NULL;
  }
  struct probe *p = mem_new(1, sizeof *p, "a probe", e);
  if (!p) return NULL;
  p->options = *options;
  p->batch = (size_t)options->batch;
  p->features = p->data_features = (size_t)r4_shape_count(r4_net_input(options->net));
  if (!compile(p, e) && !bind(p, e)) return p;
  probe_free(p);
  return NULL;
}

void probe_free(struct probe *p)
{
  if (!p) return;
  r4_plan_free(p->plan);
  r4_mem_free(p->x);
  r4_mem_free(p->y);
  r4_mem_free(p->m);
  r4_mem_free(p->cells);
  r4_mem_free(p->length);
  r4_mem_free(p->row);
  for (size_t k = 0; k < LENGTHS_USUAL; k++) probe_free(p->shorter[k]);
  r4_net_free(p->net);
  for (size_t k = 0; k < PROBE_OUTPUTS; k++) r4_mem_free(p->out[k]);
  for (size_t k = 0; k < PROBE_DRAWS; k++) r4_mem_free(p->drawn[k]);
  r4_mem_free(p);
}

size_t probe_batch(const struct probe *p)
{
  return p->batch;
}

r4_status probe_input(struct probe *p, const char *name, const float *data, r4_error *e)
{
  return r4_plan_input(p->plan, name, data, e);
}

/* The mask at the leaf, from that of the example. */
static void take_mask(struct probe *p, size_t k, float *m, bool has_mask)
{
  size_t places = p->features;
  if (p->cells) {
    places = cells_of(p);
    cut_masks(p->options.net, CELL_ANY, 1, m, p->cells + k * places);
    m = p->cells + k * places;
  }
  size_t there = p->length ? (size_t)p->length[k] : places; /* padding is not core */
  if (has_mask && p->options.mask == PROBE_CORE)
    for (size_t j = 0; j < places; j++) m[j] = j < there ? 1 - m[j] : 0;
}

/* Rows after the n-th keep what they held: their results are not looked at. */
static void fill(struct probe *p, const r4_data *d, size_t n, const size_t *example)
{
  size_t width = p->data_features, bytes = p->features * sizeof(float);
#pragma omp parallel for
  for (size_t k = 0; k < n; k++) {
    float *x = p->x + k * p->features, *m = p->m + k * p->features, *row = p->row ? p->row + k * width : NULL;
    r4_data_values(d, example[k], row ? row : x);
    if (row) memcpy(x, row, bytes);
    p->y[k] = (float)r4_data_example(d, example[k]).label;
    if (p->length) p->length[k] = (float)r4_data_length(d, example[k]);
    bool has_mask = r4_data_mask(d, example[k], row ? row : m);
    if (row) memcpy(m, row, bytes);
    take_mask(p, k, m, has_mask);
  }
}

static r4_status bind_weights(struct probe *p, const float *weights, r4_error *e)
{
  const r4_net *net = p->options.net;
  r4_status s = R4_OK;
  for (size_t k = 0; k < r4_net_params(net) && !s; k++)
    s = r4_plan_input(p->plan, r4_net_param_name(net, k), weights + r4_net_param_offset(net, k), e);
  return s;
}

static r4_status run(struct probe *p, const float *weights, const r4_data *d, size_t n, const size_t *example,
                     r4_error *e)
{
  r4_status s = bind_weights(p, weights, e);
  if (!s) fill(p, d, n, example);
  return s ? s : r4_plan_run(p->plan, e);
}

/* ---- Shorter texts ---- */

/* NULL without an error if the net is for one length only. */
static struct probe *make_shorter(const struct probe *p, size_t tokens, r4_error *e)
{
  struct probe_options options = p->options;
  r4_net *net = net_of_length(p->options.net, (int64_t)tokens);
  if (!net) return NULL;
  options.net = net;
  options.cuts = false;
  struct probe *shorter = probe_new(&options, e);
  if (shorter) shorter->row = mem_new_aligned(p->batch * p->features, sizeof(float), "a probe", e);
  if (shorter && shorter->row) {
    shorter->net = net;
    shorter->data_features = p->features;
    return shorter;
  }
  probe_free(shorter);
  r4_net_free(net);
  return NULL;
}

/* The probe for texts that are no longer than this; p itself, if there is none. */
static r4_status choose(struct probe *p, size_t longest, struct probe **to, r4_error *e)
{
  *to = p;
  if (!p->options.cuts || !p->length) return R4_OK;
  size_t tokens = length_rounded(longest, p->features, LENGTHS_USUAL);
  if (tokens == p->features) return R4_OK;
  struct probe **shorter = &p->shorter[length_step(longest, p->features, LENGTHS_USUAL)];
  r4_error own = {0};
  if (!*shorter) *shorter = make_shorter(p, tokens, &own);
  if (*shorter) *to = *shorter;
  return own.status ? r4_fail(e, own.status, "%s", own.text) : R4_OK;
}

static size_t longest_of(const r4_data *d, size_t n, const size_t *example)
{
  size_t longest = 1;
  for (size_t k = 0; k < n; k++)
    if (r4_data_length(d, example[k]) > longest) longest = r4_data_length(d, example[k]);
  return longest;
}

/* Measuring takes long and many functions; all of them ask here. */
static _Thread_local struct {
  void (*asked)(size_t examples, void *user);
  void *user;
} watcher;

void r4_watch_asking(void (*asked)(size_t examples, void *user), void *user)
{
  watcher.asked = asked;
  watcher.user = user;
}

r4_status probe_ask(struct probe *p, const float *weights, const r4_data *d, size_t n, const size_t *example,
                    r4_error *e)
{
  if (n > p->batch || (size_t)r4_shape_count(r4_data_shape(d)) != p->features)
    return r4_fail(e, R4_E_INTERNAL, "a probe of %zu examples of %zu features got %zu of %lld", p->batch,
                   p->features, n, (long long)r4_shape_count(r4_data_shape(d)));
  r4_status s = choose(p, p->length ? longest_of(d, n, example) : 0, &p->last, e);
  if (!s) s = run(p->last, weights, d, n, example, e);
  if (!s && watcher.asked) watcher.asked(n, watcher.user);
  return s;
}

/* ---- Rows of the caller ---- */

r4_status probe_begin_rows(struct probe *p, size_t longest, r4_error *e)
{
  return choose(p, longest, &p->last, e);
}

float *probe_room(struct probe *p, size_t i)
{
  struct probe *to = p->last;
  return to->row ? to->row + i * to->data_features : to->x + i * to->features;
}

void probe_end_row(struct probe *p, size_t i, size_t length)
{
  struct probe *to = p->last;
  if (to->row) memcpy(to->x + i * to->features, to->row + i * to->data_features, to->features * sizeof *to->x);
  if (to->length) to->length[i] = (float)length;
}

r4_status probe_run_rows(struct probe *p, const float *weights, size_t n, r4_error *e)
{
  r4_status s = bind_weights(p->last, weights, e);
  if (!s) s = r4_plan_run(p->last->plan, e);
  if (!s && watcher.asked) watcher.asked(n, watcher.user);
  return s;
}

r4_status probe_run(struct probe *p, const float *weights, const r4_data *d, size_t first, size_t n,
                    r4_error *e)
{
  size_t *example = mem_new(n + 1, sizeof *example, "examples", e);
  if (!example) return R4_E_MEMORY;
  for (size_t k = 0; k < n; k++) example[k] = first + k;
  r4_status s = probe_ask(p, weights, d, n, example, e);
  r4_mem_free(example);
  return s;
}

size_t *probe_order(const r4_data *d, r4_error *e)
{
  size_t n = r4_data_count(d), width = (size_t)r4_shape_count(r4_data_shape(d)), at = 0;
  bool texts = r4_data_vocabulary(d) > 0;
  size_t *order = mem_new(n + 1, sizeof *order, "examples", e), steps = texts ? LENGTHS_USUAL : 1;
  for (size_t step = 0; order && step < steps; step++)
    for (size_t i = 0; i < n; i++)
      if (!texts || length_step(r4_data_length(d, i), width, LENGTHS_USUAL) == step) order[at++] = i;
  return order;
}

const float *probe_row(const struct probe *p, size_t k, size_t i)
{
  const struct probe *ran = p->last ? p->last : p;
  return ran->out[k] + i * ran->width[k];
}

size_t probe_width(const struct probe *p, size_t k)
{
  return p->width[k];
}
