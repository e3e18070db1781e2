/* What kinds of modules share: their table, parameters, and rules about shapes. */
#include "module/module.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "r4_tools.h"

/* ---- The table ---- */

enum { MORE = 16 };

static const struct module_kind *const kinds[] = {
#define KIND(name) &module_##name,
#include "module/kinds.def"
#undef KIND
};

static const struct module_kind *more[MORE];

const struct module_kind *module_kind(size_t k)
{
  size_t n = sizeof kinds / sizeof *kinds;
  return k < n ? kinds[k] : k - n < MORE ? more[k - n] : NULL;
}

bool module_kind_add(const struct module_kind *kind)
{
  for (size_t k = 0; module_kind(k); k++)
    if (!strcmp(module_kind(k)->name, kind->name)) return false;
  size_t k = 0;
  while (k < MORE && more[k]) k++;
  if (k == MORE) return false;
  more[k] = kind;
  return true;
}

size_t r4_module_count(void)
{
  size_t n = 0;
  while (module_kind(n)) n++;
  return n;
}

r4_module_info r4_module_describe(size_t k)
{
  const struct module_kind *kind = module_kind(k);
  return kind ? (r4_module_info){kind->name, kind->usage, kind->about} : (r4_module_info){0};
}

/* ---- Lists ---- */

void *module_grow(void *list, size_t n, size_t size, r4_error *e)
{
  bool full = !(n & (n - 1)); /* 0, or a power of two */
  return full ? mem_grow(list, n ? 2 * n : 1, size, "a net", e) : list;
}

/* ---- Parameters ---- */

/* Files have channels before height and width. */
static void lay_out(struct param *p, const struct module *m, const struct param_wish *wish)
{
  r4_shape s = p->file_shape = p->shape;
  if (s.rank == 4) {
    p->layout = (struct param_layout){(size_t)s.dim[0], (size_t)s.dim[1], (size_t)s.dim[2], (size_t)s.dim[3]};
    p->file_shape = R4_SHAPE(s.dim[0], s.dim[3], s.dim[1], s.dim[2]);
  } else if (wish->of_features && m->image.rank == 3) {
    size_t out = (size_t)(r4_shape_count(s) / s.dim[s.rank - 1]);
    p->layout =
      (struct param_layout){out, (size_t)m->image.dim[0], (size_t)m->image.dim[1], (size_t)m->image.dim[2]};
  }
}

static r4_status check_wish(const struct maker *maker, const struct param *p, const char *what, r4_error *why)
{
  char got[SHAPE_TEXT];
  if (!shape_valid(p->shape))
    return r4_fail(why, R4_E_SHAPE, "its %s %s is too large", what, shape_text(p->shape, got));
  if ((size_t)r4_shape_count(p->shape) > SIZE_MAX / sizeof(float) - maker->size)
    return r4_fail(why, R4_E_SHAPE, "too many parameters");
  for (size_t k = 0; k < maker->params; k++)
    if (!strcmp(maker->param[k].name, p->name))
      return r4_fail(why, R4_E_PARSE, "there is a parameter \"%s\" already: give the part another name",
                     p->name);
  return R4_OK;
}

r4_status module_param(struct module *m, struct maker *maker, struct param_wish wish, r4_error *why)
{
  struct param p = {.shape = wish.shape,
                    .fan_in = wish.fan_in,
                    .init = wish.init,
                    .buffer = wish.buffer,
                    .offset = maker->size};
  snprintf(p.name, sizeof p.name, "%.95s.%.31s", m->name, wish.what);
  r4_status s = check_wish(maker, &p, wish.what, why);
  if (s) return s;
  lay_out(&p, m, &wish);
  struct param *all = module_grow(maker->param, maker->params, sizeof *all, why);
  if (!all) return R4_E_MEMORY;
  maker->param = all;
  maker->param[maker->params++] = p;
  maker->size += (size_t)r4_shape_count(p.shape);
  return R4_OK;
}

r4_id module_param_node(const struct module *m, const struct wiring *w, size_t k)
{
  return w->param[m->first_param + k];
}

/* ---- Shapes ---- */

static const char *kind_of_shape(r4_shape s)
{
  return s.rank == 1 ? "a vector" : s.rank == 2 ? "tokens" : "an image";
}

static r4_status needs(const struct module *m, const char *what, r4_error *why)
{
  char got[SHAPE_TEXT];
  return r4_fail(why, R4_E_SHAPE, "gets %s %s, needs %s", kind_of_shape(m->in), shape_text(m->in, got), what);
}

r4_status module_need_vector(const struct module *m, r4_error *why)
{
  return m->in.rank == 1 ? R4_OK : needs(m, "a vector; put flatten before it", why);
}

r4_status module_need_image(const struct module *m, r4_error *why)
{
  return m->in.rank == 3 ? R4_OK : needs(m, "an image [height,width,channels]", why);
}

r4_status module_need_tokens(const struct module *m, r4_error *why)
{
  return m->in.rank == 2 ? R4_OK : needs(m, "tokens [tokens,width], as embedding gives them", why);
}

r4_status module_same_shape(struct module *m, struct maker *maker, r4_error *why)
{
  (void)maker, (void)why;
  m->out = m->in;
  return R4_OK;
}

r4_shape module_batch(const struct module *m, const struct wiring *w, r4_id x)
{
  r4_shape s = {.rank = m->out.rank + 1, .dim = {r4_node_shape(w->g, x).dim[0]}};
  memcpy(s.dim + 1, m->out.dim, (size_t)m->out.rank * sizeof *s.dim);
  return s;
}

r4_id row_apply(const struct row *row, const struct wiring *w, r4_id x)
{
  for (size_t k = 0; k < row->n; k++) {
    if (r4_graph_status(w->g, NULL)) return R4_NONE; /* parts may look at the shape of what they get */
    x = row->part[k].kind->apply(&row->part[k], w, x);
  }
  return x;
}

/* ---- Windows ---- */

void module_same_pad(int64_t size, struct windows of, int64_t pad[2])
{
  int64_t count = (size + of.stride - 1) / of.stride;
  int64_t total = (count - 1) * of.stride + (of.kernel - 1) * of.dilation + 1 - size;
  if (total < 0) total = 0;
  pad[0] = total / 2;
  pad[1] = total - pad[0];
}

static void pad_axis(const struct module *m, struct windows of, int axis, int64_t pad[2])
{
  memcpy(pad, m->pad, sizeof m->pad);
  if (m->pad[0] == PAD_SAME) module_same_pad(m->in.dim[axis], of, pad);
}

r4_window module_window(const struct module *m, struct windows of)
{
  r4_window win = {.stride = {of.stride, of.stride}, .dilation = {of.dilation, of.dilation}};
  pad_axis(m, of, 0, win.pad);
  pad_axis(m, of, 1, win.pad + 2);
  return win;
}

/* (size + padding - (kernel - 1) dilation - 1) / stride + 1 on both axes */
r4_status module_window_shape(struct module *m, struct windows of, int64_t channels, r4_error *why)
{
  char got[SHAPE_TEXT];
  r4_status s = module_need_image(m, why);
  if (s) return s;
  m->out = R4_SHAPE(0, 0, channels);
  for (int k = 0; k < 2; k++) {
    int64_t pad[2], reach = (of.kernel - 1) * of.dilation + 1;
    pad_axis(m, of, k, pad);
    int64_t room = m->in.dim[k] + pad[0] + pad[1] - reach;
    if (room < 0)
      return r4_fail(why, R4_E_SHAPE, "gets an image %s, needs at least %lld x %lld with its padding",
                     shape_text(m->in, got), (long long)reach, (long long)reach);
    m->out.dim[k] = room / of.stride + 1;
  }
  return R4_OK;
}
