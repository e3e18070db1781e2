/* Tokens: ids [tokens] become vectors [tokens, width].
 *
 *     embedding   row of a table, by the token's id
 *     position    row of a table, by the token's place
 *     type        row 0 of a table: there is one kind of text
 *     first       the first token's vector
 *     mean        the mean of the tokens that are there, not of padding */
#include "module/onnx/onnx.h"
#include "pass/early.h"

enum { ROWS, WIDTH };

static r4_status need_ids(const struct module *m, r4_error *why)
{
  char got[SHAPE_TEXT];
  if (m->in.rank == 1) return R4_OK;
  return r4_fail(why, R4_E_SHAPE, "gets %s, needs token ids [tokens]", shape_text(m->in, got));
}

static r4_status table_shape(struct module *m, struct maker *maker, r4_error *why)
{
  r4_status s = need_ids(m, why);
  if (s) return s;
  m->out = R4_SHAPE(m->in.dim[0], module_whole(m, WIDTH));
  r4_shape table = R4_SHAPE(module_whole(m, ROWS), module_whole(m, WIDTH));
  return module_param(m, maker, param_wish("weight", table, 1, INIT_NORMAL), why);
}

static r4_status position_shape(struct module *m, struct maker *maker, r4_error *why)
{
  r4_status s = need_ids(m, why);
  if (!s && m->in.dim[0] > module_whole(m, ROWS))
    return r4_fail(why, R4_E_SHAPE, "gets %lld tokens, has %lld positions", (long long)m->in.dim[0],
                   (long long)module_whole(m, ROWS));
  return s ? s : table_shape(m, maker, why);
}

static r4_id embedding(const struct module *m, const struct wiring *w, r4_id x)
{
  r4_id ids = r4_reshape(w->g, x, R4_SHAPE(r4_shape_count(r4_node_shape(w->g, x))));
  return r4_reshape(w->g, r4_gather(w->g, module_param_node(m, w, 0), ids, 0), module_batch(m, w, x));
}

/* The first rows of the table, for every example. */
static r4_id rows_for_all(const struct module *m, const struct wiring *w, r4_id x, int64_t rows)
{
  int64_t start[] = {0, 0}, size[] = {rows, module_whole(m, WIDTH)};
  return r4_broadcast(w->g, r4_slice(w->g, module_param_node(m, w, 0), start, size, NULL),
                      module_batch(m, w, x));
}

static r4_id position(const struct module *m, const struct wiring *w, r4_id x)
{
  return rows_for_all(m, w, x, m->in.dim[0]);
}

static r4_id type(const struct module *m, const struct wiring *w, r4_id x)
{
  return rows_for_all(m, w, x, 1);
}

/* ---- As operators of ONNX ---- */

static struct slice onnx_embedding(const struct module *m, struct onnx_writer *w, struct slice x)
{
  return ONNX_OP(w, "Gather", onnx_param(m, w, 0), onnx_ids(m, w, x));
}

/* 0 for every token of every example */
static struct slice onnx_zeros(const struct module *m, struct onnx_writer *w, struct slice x)
{
  return ONNX_OP(w, "Mul", onnx_ids(m, w, x), ONNX_WHOLES(w, 0));
}

static struct slice onnx_position(const struct module *m, struct onnx_writer *w, struct slice x)
{
  size_t n = (size_t)m->in.dim[0];
  int64_t *place = onnx_new(w->m, n, sizeof *place);
  if (!place) return x;
  for (size_t k = 0; k < n; k++) place[k] = (int64_t)k;
  struct slice places = ONNX_OP(w, "Add", onnx_zeros(m, w, x), onnx_wholes(w, n, place));
  return ONNX_OP(w, "Gather", onnx_param(m, w, 0), places);
}

static struct slice onnx_type_of(const struct module *m, struct onnx_writer *w, struct slice x)
{
  return ONNX_OP(w, "Gather", onnx_param(m, w, 0), onnx_zeros(m, w, x));
}

#define TABLE ARGUMENTS({"N", ARGUMENT_WHOLE, 0, 1}, {"W", ARGUMENT_WHOLE, 0, 1})

const struct module_kind module_embedding = {
  .name = "embedding",
  .usage = "embedding N W",
  .about = "a vector of width W for each of N token ids",
  .shape = table_shape,
  .apply = embedding,
  .takes_ids = true,
  .onnx = onnx_embedding,
  TABLE,
  MODULE_SAMPLES({.text = "embedding 3 2",
                  .in = {1, {2}},
                  .out = {2, {2, 2}},
                  .tokens = 3,
                  .x = (const double[]){2, 0},
                  .w = (const double[]){1, 2, 3, 4, 5, 6},
                  .y = (const double[]){5, 6, 1, 2}},
                 {.text = "embedding 7 3", .in = {1, {5}}, .out = {2, {5, 3}}, .tokens = 7})};

const struct module_kind module_position = {.name = "position",
                                            .usage = "position N W",
                                            .about = "a vector of width W for each of at most N positions",
                                            .shape = position_shape,
                                            .apply = position,
                                            .takes_ids = true,
                                            .onnx = onnx_position,
                                            TABLE,
                                            MODULE_SAMPLES({.text = "position 3 2",
                                                            .in = {1, {2}},
                                                            .out = {2, {2, 2}},
                                                            .tokens = 3,
                                                            .x = (const double[]){2, 0},
                                                            .w = (const double[]){1, 2, 3, 4, 5, 6},
                                                            .y = (const double[]){1, 2, 3, 4}})};

const struct module_kind module_type = {.name = "type",
                                        .usage = "type N W",
                                        .about = "the first of N vectors of width W, for every token",
                                        .shape = table_shape,
                                        .apply = type,
                                        .takes_ids = true,
                                        .onnx = onnx_type_of,
                                        TABLE,
                                        MODULE_SAMPLES({.text = "type 2 2",
                                                        .in = {1, {2}},
                                                        .out = {2, {2, 2}},
                                                        .tokens = 3,
                                                        .x = (const double[]){2, 0},
                                                        .w = (const double[]){1, 2, 3, 4},
                                                        .y = (const double[]){1, 2, 1, 2}})};

/* ---- From tokens to one vector ---- */

static r4_status vector_shape(struct module *m, struct maker *maker, r4_error *why)
{
  (void)maker;
  r4_status s = module_need_tokens(m, why);
  if (!s) m->out = R4_SHAPE(m->in.dim[1]);
  return s;
}

/* The last layer need not be computed for the other tokens. */
static r4_id first(const struct module *m, const struct wiring *w, r4_id x)
{
  const struct cut one = {.axis = 1, .start = 0, .step = 1, .size = 1};
  return r4_reshape(w->g, early_slice(w->g, x, one, w->from), module_batch(m, w, x));
}

/* sum_t valid_t x_t / sum_t valid_t */
static r4_id mean(const struct module *m, const struct wiring *w, r4_id x)
{
  r4_graph *g = w->g;
  r4_id valid = w->use->valid;
  if (!valid.i) return r4_mean(g, x, R4_AXIS(1));
  r4_shape s = r4_node_shape(g, valid);
  r4_id sum = r4_sum(g, r4_mul(g, x, r4_reshape(g, valid, R4_SHAPE(s.dim[0], m->in.dim[0], 1))), R4_AXIS(1));
  r4_id count = r4_max(g, r4_sum(g, valid, R4_AXIS(1)), r4_const(g, 1, R4_SCALAR));
  return r4_div(g, sum, r4_reshape(g, count, R4_SHAPE(s.dim[0], 1)));
}

static struct slice onnx_first(const struct module *m, struct onnx_writer *w, struct slice x)
{
  (void)m;
  struct slice zero = ONNX_WHOLES(w, 0), one = ONNX_WHOLES(w, 1);
  return ONNX_OP(w, "Squeeze", ONNX_OP(w, "Slice", x, zero, one, one), one); /* x[:, 0:1] without axis 1 */
}

static struct slice onnx_total(struct onnx_writer *w, struct slice x, int64_t keep)
{
  struct slice y = ONNX_OP(w, "ReduceSum", x, ONNX_WHOLES(w, 1));
  onnx_whole(w, "keepdims", keep);
  return y;
}

static struct slice onnx_mean(const struct module *m, struct onnx_writer *w, struct slice x)
{
  (void)m;
  struct slice mask = onnx_mask(w);
  struct slice there = onnx_of_there(w, x);
  struct slice count = ONNX_OP(w, "Max", onnx_total(w, mask, 1), onnx_number_of(w, 1));
  return ONNX_OP(w, "Div", onnx_total(w, there, 0), count);
}

const struct module_kind module_first = {.name = "first",
                                         .usage = "first",
                                         .about = "vector of the first token",
                                         .shape = vector_shape,
                                         .apply = first,
                                         .onnx = onnx_first,
                                         MODULE_SAMPLES({.text = "first",
                                                         .in = {2, {2, 2}},
                                                         .out = {1, {2}},
                                                         .x = (const double[]){1, 2, 3, 4},
                                                         .y = (const double[]){1, 2}})};

const struct module_kind module_mean = {.name = "mean",
                                        .usage = "mean",
                                        .about = "mean over the tokens without padding",
                                        .shape = vector_shape,
                                        .apply = mean,
                                        .onnx = onnx_mean,
                                        MODULE_SAMPLES({.text = "mean",
                                                        .in = {2, {2, 2}},
                                                        .out = {1, {2}},
                                                        .x = (const double[]){1, 2, 3, 6},
                                                        .y = (const double[]){2, 4}})};
