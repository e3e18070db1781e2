#include "train/step.h"

#include <math.h>
#include <string.h>

#include "ask/predict.h"
#include "base/mem.h"
#include "base/text.h"
#include "train/pulse.h"

/* Two sizes of batches; masks on any example, on the first eighth only, or on none. */
enum { PART = 8, VARIANTS = 2 * 3 };
enum { LOSS, DATA, PENALTY, PENALTY_R3, FORM, FORM_R3, SCALARS, LOSSES = SCALARS, EACH, LOGITS, OUTPUTS };

struct drawn {
  r4_drawn how; /* its name and node are gone with the graph */
  float *to;
};

/* The objective compiled for one size of batches. */
struct variant {
  size_t count, guided; /* examples, and the first of them that may have masks */
  r4_plan *plan;
  size_t classes, places; /* columns of the logits; elements of the input at */
  size_t masks;           /* elements of cells */
  float scalar[SCALARS];
  float *losses, *each, *logits, *at;
  float *cells; /* masks at the leaf; NULL: they are those of the batch */
  int32_t *answer;
  struct drawn *drawn; /* inputs that are drawn anew for each step */
  size_t draws;
};

struct step {
  struct step_options options;
  struct variant variant[VARIANTS];
  size_t variants;
  const struct variant *last; /* that was run */
  float lambda, lambda_r3, eps; /* inputs of live objectives */
  float *buffers; /* new values of the net's buffers, one after the other; NULL: it has none */
};

/* Floats of parameter k if it is a buffer, else 0. */
static size_t buffer_size(const r4_net *n, size_t k)
{
  return r4_net_param_is_buffer(n, k) ? (size_t)r4_shape_count(r4_net_param_shape(n, k)) : 0;
}

struct step *step_new(const struct step_options *options, r4_error *e)
{
  struct step *s = r4_mem_new(1, sizeof *s);
  size_t buffers = 0;
  for (size_t k = 0; k < r4_net_params(options->net); k++) buffers += buffer_size(options->net, k);
  if (s && buffers) s->buffers = r4_mem_new_aligned(buffers * sizeof *s->buffers);
  if (s && (s->buffers || !buffers)) {
    s->options = *options;
    return s;
  }
  r4_fail(e, R4_E_MEMORY, "out of memory for a training step");
  r4_mem_free(s);
  return NULL;
}

r4_plan *step_plan(const struct step *s)
{
  return s->last ? s->last->plan : NULL;
}

void step_update_buffers(const struct step *s, float *weights)
{
  const r4_net *n = s->options.net;
  const float *from = s->buffers;
  for (size_t k = 0; k < r4_net_params(n) && from; k++) {
    size_t size = buffer_size(n, k);
    memcpy(weights + r4_net_param_offset(n, k), from, size * sizeof *from);
    from += size;
  }
}

static void variant_free(struct variant *v)
{
  r4_plan_free(v->plan);
  r4_mem_free(v->losses);
  r4_mem_free(v->each);
  r4_mem_free(v->logits);
  r4_mem_free(v->at);
  r4_mem_free(v->cells);
  for (size_t k = 0; k < v->draws; k++) r4_mem_free(v->drawn[k].to);
  r4_mem_free(v->drawn);
  r4_mem_free(v->answer);
  *v = (struct variant){0};
}

void step_free(struct step *s)
{
  if (!s) return;
  for (size_t k = 0; k < s->variants; k++) variant_free(&s->variant[k]);
  r4_mem_free(s->buffers);
  r4_mem_free(s);
}

/* ---- Compiling ---- */

static size_t elements(const r4_graph *g, r4_id x)
{
  return x.i ? (size_t)r4_shape_count(r4_node_shape(g, x)) : 0;
}

static r4_status list_drawn(struct variant *v, const r4_objective *o, r4_error *e)
{
  v->drawn = r4_mem_new(o->draws + 1, sizeof *v->drawn);
  if (!v->drawn) return r4_fail(e, R4_E_MEMORY, "out of memory for %zu inputs", o->draws);
  for (; v->draws < o->draws; v->draws++) v->drawn[v->draws].how = o->drawn[v->draws];
  return R4_OK;
}

static r4_status allocate(struct variant *v, r4_error *e)
{
  v->losses = r4_mem_new_aligned(v->count * sizeof(float));
  v->each = r4_mem_new_aligned(v->count * sizeof(float));
  v->logits = r4_mem_new_aligned(v->count * v->classes * sizeof(float));
  v->answer = r4_mem_new(v->count, sizeof *v->answer);
  v->at = v->places ? r4_mem_new_aligned(v->places * sizeof(float)) : NULL;
  v->cells = v->masks ? r4_mem_new_aligned(v->masks * sizeof(float)) : NULL;
  bool all =
    v->losses && v->each && v->logits && v->answer && (v->at || !v->places) && (v->cells || !v->masks);
  for (size_t k = 0; k < v->draws && all; k++) {
    v->drawn[k].to = r4_mem_new_aligned(v->drawn[k].how.count * sizeof(float));
    all = v->drawn[k].to;
  }
  if (all) return R4_OK;
  return r4_fail(e, R4_E_MEMORY, "out of memory for a batch of %zu examples", v->count);
}

/* Inputs that a variant does not have are accepted if the graph knows the name; so ask the graph. */
static r4_status bind(struct step *s, struct variant *v, const r4_objective *o, r4_error *e)
{
  const struct {
    r4_id node;
    const char *name;
    const void *memory;
  } input[] = {
    {o->in.index, "index", s->options.index},      {o->in.at, "at", v->at},
    {o->in.lambda, "lambda", &s->lambda},          {o->in.eps, "eps", &s->eps},
    {o->in.lambda_r3, "lambda_r3", &s->lambda_r3},
  };
  float *const output[OUTPUTS] = {[LOSSES] = v->losses, [EACH] = v->each, [LOGITS] = v->logits};
  r4_status status = R4_OK;
  for (size_t k = 0; k < sizeof input / sizeof *input && !status; k++)
    if (input[k].node.i) status = r4_plan_input(v->plan, input[k].name, input[k].memory, e);
  for (size_t k = 0; k < v->draws && !status; k++)
    status = r4_plan_input(v->plan, v->drawn[k].how.name, v->drawn[k].to, e);
  for (size_t k = 0; k < OUTPUTS && !status; k++)
    status = r4_plan_output(v->plan, k, k < SCALARS ? &v->scalar[k] : output[k], e);
  return status;
}

/* A buffer is set, not learned. The gradient of what does not learn is not computed. */
static bool learns(const struct step_options *o, size_t k)
{
  const double *rates = o->objective.rates;
  return !r4_net_param_is_buffer(o->net, k) && !(rates && rates[k] == 0);
}

static r4_status compile_graph(struct step *s, struct variant *v, r4_graph *g, r4_id *param, r4_id *out,
                               r4_error *e)
{
  const r4_net *net = s->options.net;
  size_t n = r4_net_params(net);
  r4_objective_options options = s->options.objective;
  options.batch = (int64_t)v->count;
  options.masked = (int64_t)s->options.masked;
  options.guided = (int64_t)v->guided;
  options.reach = v->guided ? s->options.reach : NULL;
  if (!v->guided) {
    options.method = r4_method_name(0);
    options.live = false;
  }
  r4_net_inputs(net, g, param);
  r4_objective o = r4_objective_build(g, net, param, &options);
  r4_id zero = r4_const(g, 0, R4_SCALAR);
  const r4_id values[OUTPUTS] = {[LOSS] = o.loss,       [DATA] = o.data,
                                 [PENALTY] = o.penalty, [PENALTY_R3] = o.penalty_r3.i ? o.penalty_r3 : zero,
                                 [FORM] = o.form,       [FORM_R3] = o.form_r3,
                                 [LOSSES] = o.losses,   [EACH] = o.each,
                                 [LOGITS] = o.logits};
  memcpy(out, values, sizeof values);
  r4_grad(g, o.loss, n, param, out + OUTPUTS);
  size_t outputs = OUTPUTS;
  for (size_t k = 0; k < n; k++) {
    bool buffer = r4_net_param_is_buffer(net, k);
    r4_id result = !buffer ? out[OUTPUTS + k] : o.updated && o.updated[k].i ? o.updated[k] : param[k];
    if (buffer || learns(&s->options, k)) out[outputs++] = result;
  }
  v->plan = r4_plan_new(g, outputs, out, NULL, e);
  if (!v->plan) return e->status;
  v->classes = elements(g, o.logits) / v->count;
  v->places = elements(g, o.in.at);
  v->masks = v->guided && net_leaf_has_cells(net) ? elements(g, o.in.m) : 0;
  r4_status status = list_drawn(v, &o, e);
  if (!status) status = allocate(v, e);
  return status ? status : bind(s, v, &o, e);
}

static r4_status compile(struct step *s, struct variant *v, r4_error *e)
{
  size_t n = r4_net_params(s->options.net);
  r4_graph *g = r4_graph_new();
  r4_id *param = r4_mem_new(n + 1, sizeof *param), *out = r4_mem_new(OUTPUTS + n, sizeof *out);
  r4_status status = g && param && out
                       ? compile_graph(s, v, g, param, out, e)
                       : r4_fail(e, R4_E_MEMORY, "out of memory for the graph of a training step");
  r4_mem_free(out);
  r4_mem_free(param);
  r4_graph_free(g);
  return status;
}

/* How many examples have to be looked at for the penalty. A part shares no products with the data term, so that a
 * quarter or half of the batch can cost more than all of it. */
static size_t guided_rows(const r4_batch *b, bool off)
{
  size_t part = (b->count + PART - 1) / PART;
  if (off || !b->m || !b->masked) return 0;
  return b->masked_first && b->masked <= part ? part : b->count;
}

static r4_status variant_for(struct step *s, size_t count, size_t guided, struct variant **found, r4_error *e)
{
  for (size_t k = 0; k < s->variants; k++) {
    *found = &s->variant[k];
    if ((*found)->count == count && (*found)->guided == guided) return R4_OK;
  }
  if (s->variants == VARIANTS) return r4_fail(e, R4_E_INTERNAL, "more than two sizes of batches");
  *found = &s->variant[s->variants];
  **found = (struct variant){.count = count, .guided = guided};
  r4_status status = compile(s, *found, e);
  if (status)
    variant_free(*found);
  else
    s->variants++;
  return status;
}

/* ---- Running ---- */

static r4_status bind_batch(struct variant *v, const struct step_options *o, const r4_batch *b,
                            const float *weights, float *gradient, float *buffers, r4_error *e)
{
  r4_status status = r4_plan_input(v->plan, "x", b->x, e);
  if (!status && o->objective.filled) status = r4_plan_input(v->plan, "filled", b->filled, e);
  if (!status && o->objective.lengths) status = r4_plan_input(v->plan, "length", b->length, e);
  if (!status) status = r4_plan_input(v->plan, "y", b->y, e);
  if (v->cells) cut_masks(o->net, o->cells, v->guided, b->m, v->cells);
  if (!status && v->guided) status = r4_plan_input(v->plan, "m", v->cells ? v->cells : b->m, e);
  int64_t channels = r4_net_input(o->net).dim[2];
  if (!status && v->at) status = r4_reach_find(o->reach, v->guided, channels, b->m, v->at, e);
  for (size_t k = 0, output = OUTPUTS; k < r4_net_params(o->net) && !status; k++) {
    size_t offset = r4_net_param_offset(o->net, k);
    status = r4_plan_input(v->plan, r4_net_param_name(o->net, k), weights + offset, e);
    bool buffer = r4_net_param_is_buffer(o->net, k);
    float *to = buffer ? buffers : gradient + offset;
    if (!status && (buffer || learns(o, k))) status = r4_plan_output(v->plan, output++, to, e);
    if (buffer) buffers += buffer_size(o->net, k);
  }
  return status;
}

static void answer_all(struct variant *v)
{
  for (size_t i = 0; i < v->count; i++)
    v->answer[i] = (int32_t)predict_class(v->logits + i * v->classes, v->classes);
}

static size_t count_right(const struct variant *v, const r4_batch *b)
{
  size_t right = 0;
  for (size_t i = 0; i < v->count; i++) right += (float)v->answer[i] == b->y[i];
  return right;
}

static r4_status not_finite(const struct variant *v, const r4_batch *b, uint32_t n, r4_error *e)
{
  enum { SHOWN = 8 };
  struct text list = {0};
  size_t bad = 0;
  for (size_t i = 0; i < v->count; i++) {
    if (isfinite(v->losses[i]) && isfinite(v->each[i])) continue;
    if (bad++ < SHOWN) text_add(&list, "%s%zu", bad > 1 ? ", " : "", b->example[i]);
  }
  char *examples = text_take(&list);
  r4_status s = r4_fail(e, R4_E_DOMAIN,
                        "step %u: the loss is %g (data %g, penalty %g); %zu of %zu examples at fault%s%s%s",
                        n, (double)v->scalar[LOSS], (double)v->scalar[DATA], (double)v->scalar[PENALTY], bad,
                        v->count, bad ? ": " : "", examples ? examples : "", bad > SHOWN ? ", ..." : "");
  r4_string_free(examples);
  return s;
}

r4_status step_run(struct step *s, const r4_batch *batch, uint32_t n, const struct step_weights *at,
                   const float *weights, float *gradient, struct step_result *result, r4_error *e)
{
  struct variant *v = NULL;
  r4_status status = variant_for(s, batch->count, guided_rows(batch, at->off), &v, e);
  if (!status) status = bind_batch(v, &s->options, batch, weights, gradient, s->buffers, e);
  if (status) return status;
  s->last = v;
  s->lambda = (float)at->lambda;
  s->lambda_r3 = (float)at->lambda_r3;
  s->eps = (float)at->eps;
  for (size_t k = 0; k < v->draws; k++)
    r4_drawn_fill(&v->drawn[k].how, s->options.seed, n, batch, v->drawn[k].to);
  status = r4_plan_run(v->plan, e);
  if (status) return status;
  if (!isfinite(v->scalar[LOSS])) return not_finite(v, batch, n, e);
  answer_all(v);
  *result = (struct step_result){.loss = v->scalar[LOSS],
                                 .data = v->scalar[DATA],
                                 .penalty = v->scalar[PENALTY],
                                 .penalty_r3 = v->scalar[PENALTY_R3],
                                 .form = v->scalar[FORM],
                                 .form_r3 = v->scalar[FORM_R3],
                                 .right = count_right(v, batch),
                                 .only = pulse_of(v->answer, v->count)};
  return R4_OK;
}
