/* normalize   y = (x - mean) / std, channel by channel: inputs from 0 to 1 as weights of others expect them
 *
 * One number stands for all channels. The numbers are part of the net's text and are not learned, so that they go
 * wherever the net goes. */
#include "module/onnx/onnx.h"

enum { MEAN, STD };

static r4_status shape(struct module *m, struct maker *maker, r4_error *why)
{
  static const char *const name[] = {"mean", "std"};
  int64_t channels = m->in.dim[m->in.rank - 1];
  (void)maker;
  for (int k = MEAN; k <= STD; k++) {
    int64_t given = module_whole(m, k);
    if (given != 1 && (given != channels || m->in.rank != 3))
      return r4_fail(why, R4_E_SHAPE,
                     "gets %lld channel%s, needs one number or as many as %s, which has %lld",
                     (long long)(m->in.rank == 3 ? channels : 1), m->in.rank == 3 && channels != 1 ? "s" : "",
                     name[k], (long long)given);
    for (int64_t i = 0; i < given; i++)
      if (k == STD && !(m->list[k][i] > 0))
        return r4_fail(why, R4_E_ARGUMENT, "std is %g, needs numbers above 0", m->list[k][i]);
  }
  m->out = m->in;
  return R4_OK;
}

/* A number, or one for each channel. */
static r4_id numbers(const struct module *m, const struct wiring *w, int k, bool inverse)
{
  double v[MODULE_LIST];
  int64_t n = module_whole(m, k);
  for (int64_t i = 0; i < n; i++) v[i] = inverse ? 1 / m->list[k][i] : m->list[k][i];
  return n == 1 ? r4_const(w->g, v[0], R4_SCALAR) : graph_vector(w->g, n, v);
}

static r4_id apply(const struct module *m, const struct wiring *w, r4_id x)
{
  return r4_mul(w->g, r4_sub(w->g, x, numbers(m, w, MEAN, false)), numbers(m, w, STD, true));
}

static struct slice onnx_list_of(const struct module *m, struct onnx_writer *w, int k)
{
  int64_t n = module_whole(m, k);
  return onnx_numbers(w, n == 1 ? R4_SCALAR : R4_SHAPE(n, 1, 1), m->list[k]);
}

static struct slice onnx(const struct module *m, struct onnx_writer *w, struct slice x)
{
  struct slice centred = ONNX_OP(w, "Sub", x, onnx_list_of(m, w, MEAN));
  return ONNX_OP(w, "Div", centred, onnx_list_of(m, w, STD));
}

const struct module_kind module_normalize = {
  .name = "normalize",
  .usage = "normalize [mean M/M/..] [std S/S/..]",
  .about = "(x - mean) / std, by channel",
  .reach = REACH_POINT,
  .shape = shape,
  .apply = apply,
  .onnx = onnx,
  ARGUMENTS({"mean", ARGUMENT_LIST, 0, 0}, {"std", ARGUMENT_LIST, 1, 0}),
  MODULE_SAMPLES({.text = "normalize mean 1/-2 std 2/4",
                  .in = {3, {1, 2, 2}},
                  .out = {3, {1, 2, 2}},
                  .x = (const double[]){1, 2, 5, 6},
                  .y = (const double[]){0, 1, 2, 2}},
                 {.text = "normalize mean 0.5 std 0.25",
                  .in = {1, {2}},
                  .out = {1, {2}},
                  .x = (const double[]){1, 0},
                  .y = (const double[]){2, -2}},
                 {.text = "normalize", .in = {2, {3, 4}}, .out = {2, {3, 4}}})};
