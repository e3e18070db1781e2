#include "ask/probe.h"

#include "base/mem.h"
#include "module/cut.h"

struct probe {
  struct probe_options options;
  size_t batch, features, outputs;
  r4_plan *plan;
  float *x, *y, *m, *length; /* length: NULL unless examples are texts */
  float *cells;              /* masks at the leaf, if it is an image behind the input; else NULL */
  float *out[PROBE_OUTPUTS]; /* [batch, width] */
  size_t width[PROBE_OUTPUTS];
  float *drawn[PROBE_DRAWS];
};

/* Inputs that build has drawn. */
static r4_status draw(struct probe *p, const struct draws *d, r4_error *e)
{
  r4_status s = d->n <= PROBE_DRAWS ? R4_OK : r4_fail(e, R4_E_INTERNAL, "a probe draws %zu inputs", d->n);
  for (size_t k = 0; k < d->n && !s; k++) {
    p->drawn[k] = r4_mem_new_aligned(d->list[k].count * sizeof(float));
    if (!p->drawn[k]) return r4_fail(e, R4_E_MEMORY, "out of memory for %zu samples", d->list[k].count);
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
  float *p = *s ? NULL : r4_mem_new_aligned(rows * width * sizeof *p);
  if (!p && !*s) *s = r4_fail(e, R4_E_MEMORY, "out of memory for a batch of %zu examples", rows);
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
  struct probe *p = r4_mem_new(1, sizeof *p);
  if (!p) {
    r4_fail(e, R4_E_MEMORY, "out of memory for a probe");
    return NULL;
  }
  p->options = *options;
  p->batch = (size_t)options->batch;
  p->features = (size_t)r4_shape_count(r4_net_input(options->net));
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

/* Rows after the n-th keep what they held: their results are not looked at. */
static void fill(struct probe *p, const r4_data *d, size_t first, size_t n)
{
#pragma omp parallel for
  for (size_t k = 0; k < n; k++) {
    float *m = p->m + k * p->features;
    r4_data_values(d, first + k, p->x + k * p->features);
    p->y[k] = (float)r4_data_example(d, first + k).label;
    if (p->length) p->length[k] = (float)r4_data_length(d, first + k);
    bool has_mask = r4_data_mask(d, first + k, m);
    size_t places = p->features;
    if (p->cells) {
      places = cells_of(p);
      cut_masks(p->options.net, CELL_ANY, 1, m, p->cells + k * places);
      m = p->cells + k * places;
    }
    if (has_mask && p->options.mask == PROBE_CORE)
      for (size_t j = 0; j < places; j++) m[j] = 1 - m[j];
  }
}

r4_status probe_run(struct probe *p, const float *weights, const r4_data *d, size_t first, size_t n,
                    r4_error *e)
{
  const r4_net *net = p->options.net;
  r4_status s = R4_OK;
  if (n > p->batch || (size_t)r4_shape_count(r4_data_shape(d)) != p->features)
    return r4_fail(e, R4_E_INTERNAL, "a probe of %zu examples of %zu features got %zu of %lld", p->batch,
                   p->features, n, (long long)r4_shape_count(r4_data_shape(d)));
  for (size_t k = 0; k < r4_net_params(net) && !s; k++)
    s = r4_plan_input(p->plan, r4_net_param_name(net, k), weights + r4_net_param_offset(net, k), e);
  if (!s) fill(p, d, first, n);
  return s ? s : r4_plan_run(p->plan, e);
}

const float *probe_row(const struct probe *p, size_t k, size_t i)
{
  return p->out[k] + i * p->width[k];
}

size_t probe_width(const struct probe *p, size_t k)
{
  return p->width[k];
}
