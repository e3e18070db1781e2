/* residual   y = branch(x) + x, or branch(x) + shortcut(x)         He and others, 2016
 * sum        y = first(x) + second(x) + ... */
#include "module/onnx/onnx.h"

static const struct module *last_of(const struct row *row)
{
  return &row->part[row->n - 1];
}

/* Files have the features of a flattened image in another order, and cannot tell which order a sum is in. */
static r4_status check_equal(const struct module *m, r4_shape other, r4_shape image, r4_error *why)
{
  char a[SHAPE_TEXT], b[SHAPE_TEXT];
  const char *what = m->branches > 1 ? "another" : "its input";
  if (!r4_shape_equal(m->out, other))
    return r4_fail(why, R4_E_SHAPE, "its first branch gives %s, %s gives %s: needs the same from both",
                   shape_text(m->out, a), what, shape_text(other, b));
  if (r4_shape_equal(m->out_image, image)) return R4_OK;
  return r4_fail(why, R4_E_SHAPE,
                 "of its first branch and %s, one gives an image, flattened: needs it from both", what);
}

static r4_status shape(struct module *m, struct maker *maker, r4_error *why)
{
  (void)maker;
  m->out = last_of(&m->branch[0])->out;
  m->out_image = last_of(&m->branch[0])->out_image;
  r4_status s = R4_OK;
  for (size_t k = 1; k < m->branches && !s; k++) {
    const struct module *last = last_of(&m->branch[k]);
    s = check_equal(m, last->out, last->out_image, why);
  }
  return s;
}

static r4_status residual_shape(struct module *m, struct maker *maker, r4_error *why)
{
  r4_status s = shape(m, maker, why);
  return s || m->branches > 1 ? s : check_equal(m, m->in, m->image, why);
}

static r4_id sum(const struct module *m, const struct wiring *w, r4_id x)
{
  r4_id y = row_apply(&m->branch[0], w, x);
  for (size_t k = 1; k < m->branches; k++) y = r4_add(w->g, y, row_apply(&m->branch[k], w, x));
  return y;
}

static r4_id residual(const struct module *m, const struct wiring *w, r4_id x)
{
  r4_id y = sum(m, w, x);
  return m->branches > 1 ? y : r4_add(w->g, y, x);
}

static struct slice onnx_branches(const struct module *m, struct onnx_writer *w, struct slice x)
{
  struct slice y = onnx_row(&m->branch[0], w, x);
  for (size_t k = 1; k < m->branches; k++) y = onnx_sum(w, y, onnx_row(&m->branch[k], w, x));
  return y;
}

static struct slice onnx_residual(const struct module *m, struct onnx_writer *w, struct slice x)
{
  struct slice y = onnx_branches(m, w, x);
  return m->branches > 1 ? y : onnx_sum(w, y, x);
}

const struct module_kind module_residual = {
  .name = "residual",
  .usage = "residual(PARTS) or residual(PARTS; SHORTCUT)",
  .about = "PARTS(x) + x, or PARTS(x) + SHORTCUT(x)",
  .least_branches = 1,
  .most_branches = 2,
  .shape = residual_shape,
  .apply = residual,
  .onnx = onnx_residual,
  MODULE_SAMPLES({.text = "residual(dense 2 nobias)",
                  .in = {1, {2}},
                  .out = {1, {2}},
                  .x = (const double[]){1, 2},
                  .w = (const double[]){1, 1, 0, 2},
                  .y = (const double[]){4, 6}},
                 {.text = "residual(conv 4 3 s2 p1, relu, conv 4 1; conv 4 1 s2 nobias)",
                  .in = {3, {5, 4, 2}},
                  .out = {3, {3, 2, 4}}})};

const struct module_kind module_sum = {
  .name = "sum",
  .usage = "sum(PARTS; PARTS; ..)",
  .about = "the sum of the outputs of several rows of parts",
  .least_branches = 1,
  .most_branches = MODULE_BRANCHES,
  .shape = shape,
  .apply = sum,
  .onnx = onnx_branches,
  MODULE_SAMPLES({.text = "sum(dense 1 nobias; dense 1; relu, dense 1 nobias)",
                  .in = {1, {2}},
                  .out = {1, {1}},
                  .x = (const double[]){1, -2},
                  .w = (const double[]){1, 2, 3, 4, 5, 6, 7},
                  .y = (const double[]){-3 + 0 + 6}})};
