#include "module/reach.h"

#include "base/mem.h"
#include "graph/graph.h"
#include "module/module.h"

/* ---- Sizes ---- */

static int64_t clamp(int64_t v, int64_t least, int64_t most)
{
  return v < least ? least : v > most ? most : v;
}

static int64_t floor_div(int64_t a, int64_t b)
{
  return a / b - (a % b < 0);
}

/* Output o sees the inputs from s o - p to s o - p + k - 1. */
struct range reach_through(const struct level *l, int axis, struct range r)
{
  int64_t first = -floor_div(-(r.from + l->pad - l->kernel + 1), l->stride);
  int64_t last = floor_div(r.to - 1 + l->pad, l->stride);
  if (r.to <= r.from || last < first) return (struct range){0, 0};
  return (struct range){clamp(first, 0, l->image[axis]), clamp(last + 1, 0, l->image[axis])};
}

static bool changes_size(const struct module *m)
{
  return m->kind->windows != NULL;
}

static bool is_conv(const struct module *m)
{
  return m->kind->reach == REACH_CONV;
}

/* Padding is the same on all sides, or zeros that come in from one side would look like those of the window. Pools with
 * padding see positions that are not in the image, which a window cannot tell from zeros. */
static bool follows(const struct module *m, const r4_net *n)
{
  if (m->kind->reach == REACH_OTHER || m->in.rank != 3 || m->out.rank != 3) return false;
  if (!changes_size(m)) return true;
  bool plain = m->kind->windows(m).dilation == 1 && m->pad[0] == m->pad[1] && m->pad[0] >= 0;
  if (!is_conv(m)) return plain && !m->pad[0];
  return plain && n->param[m->first_param].shape.dim[3] == m->in.dim[2]; /* all channels in one group */
}

/* A net that is explained elsewhere than at its input has no windows there. */
static r4_status open_levels(r4_reach *r, const r4_net *n, r4_error *e)
{
  if (!(r->level = mem_new(n->row->n + 1, sizeof *r->level, "the reach", e))) return R4_E_MEMORY;
  r->level[r->levels++] = (struct level){.image = {n->input.dim[0], n->input.dim[1]}, .window = {1, 1}};
  for (; !n->leaf && r->layers < n->row->n && follows(&n->row->part[r->layers], n); r->layers++) {
    const struct module *m = &n->row->part[r->layers];
    if (!changes_size(m)) continue;
    struct windows of = m->kind->windows(m);
    r->level[r->levels++] = (struct level){.image = {m->out.dim[0], m->out.dim[1]},
                                           .window = {1, 1},
                                           .kernel = of.kernel,
                                           .stride = of.stride,
                                           .pad = m->pad[0]};
  }
  return R4_OK;
}

static void include(r4_reach *r, int axis, struct range part)
{
  for (size_t k = 0; k < r->levels; k++) {
    struct level *l = &r->level[k];
    if (k) part = reach_through(l, axis, part);
    if (part.to - part.from > l->window[axis]) l->window[axis] = part.to - part.from;
  }
}

/* At the image's edge a window reaches less far, so all places count. */
static void include_anywhere(r4_reach *r, int axis, int64_t length)
{
  for (int64_t from = 0; from + length <= r->level[0].image[axis]; from++)
    include(r, axis, (struct range){from, from + length});
}

/* Multiplications of convolutions on windows, as a share of those on whole images. */
static double share_of(const r4_reach *r, const r4_net *n)
{
  double windows = 0, all = 0;
  for (size_t k = 0, at = 0; k < r->layers; k++) {
    const struct module *m = &n->row->part[k];
    if (!changes_size(m)) continue;
    const struct level *to = &r->level[++at];
    if (!is_conv(m)) continue;
    double each = (double)r4_shape_count(n->param[m->first_param].shape);
    windows += each * (double)(to->window[0] * to->window[1]);
    all += each * (double)(to->image[0] * to->image[1]);
  }
  return all > 0 ? windows / all : 1;
}

static r4_status check_rect(const r4_reach *r, const r4_rect *p, size_t k, r4_error *e)
{
  const int64_t *image = r->level[0].image;
  bool inside = p->top >= 0 && p->left >= 0 && p->height >= 0 && p->width >= 0 &&
                p->height <= image[0] - p->top && p->width <= image[1] - p->left;
  if (inside) return R4_OK;
  return r4_fail(e, R4_E_ARGUMENT,
                 "reach: rectangle %zu, %lld x %lld at %lld,%lld, is not inside the image of %lld x %lld", k,
                 (long long)p->height, (long long)p->width, (long long)p->top, (long long)p->left,
                 (long long)image[0], (long long)image[1]);
}

static r4_status include_all(r4_reach *r, size_t n, const r4_rect *rect, bool anywhere, r4_error *e)
{
  int64_t height = 0, width = 0;
  for (size_t k = 0; k < n; k++) {
    const r4_rect *p = &rect[k];
    r4_status s = check_rect(r, p, k, e);
    if (s) return s;
    if (p->height > height) height = p->height;
    if (p->width > width) width = p->width;
    if (anywhere) continue;
    include(r, 0, (struct range){p->top, p->top + p->height});
    include(r, 1, (struct range){p->left, p->left + p->width});
  }
  if (!anywhere) return R4_OK;
  include_anywhere(r, 0, height);
  include_anywhere(r, 1, width);
  return R4_OK;
}

r4_reach *r4_reach_new(const r4_net *net, size_t n, const r4_rect *rect, bool anywhere, r4_error *e)
{
  NEEDS(net, "a net", NULL);
  if (n) NEEDS(rect, "rectangles", NULL);
  if (net->input.rank != 3) {
    r4_fail(e, R4_E_ARGUMENT, "reach: the net's input is a vector, needs an image");
    return NULL;
  }
  r4_reach *r = mem_new(1, sizeof *r, "the reach", e);
  if (!r) return NULL;
  if (open_levels(r, net, e) || include_all(r, n, rect, anywhere, e)) {
    r4_reach_free(r);
    return NULL;
  }
  r->share = share_of(r, net);
  return r;
}

void r4_reach_free(r4_reach *r)
{
  if (!r) return;
  r4_mem_free(r->level);
  r4_mem_free(r);
}

double r4_reach_share(const r4_reach *r)
{
  return r->share;
}

size_t r4_reach_places(const r4_reach *r)
{
  return 2 * r->levels;
}

/* ---- Places ---- */

static r4_status put(const r4_reach *r, int axis, struct range part, size_t row, float *at, r4_error *e)
{
  for (size_t k = 0; k < r->levels; k++) {
    const struct level *l = &r->level[k];
    if (k) part = reach_through(l, axis, part);
    if (part.to - part.from > l->window[axis])
      return r4_fail(e, R4_E_ARGUMENT, "reach: the mask of row %zu needs a window of %lld, not %lld", row,
                     (long long)(part.to - part.from), (long long)l->window[axis]);
    at[2 * k + (size_t)axis] = (float)clamp(part.from, 0, l->image[axis] - l->window[axis]);
  }
  return R4_OK;
}

static bool any(const float *v, size_t n)
{
  for (size_t k = 0; k < n; k++)
    if (v[k] > 0) return true;
  return false;
}

/* The rows that have anything of a mask, and the columns. */
static r4_rect bounds_of(const float *m, int64_t height, int64_t width, int64_t channels)
{
  int64_t top = height, bottom = 0, left = width, right = 0;
  size_t depth = (size_t)channels;
  for (int64_t i = 0; i < height; i++) {
    const float *row = m + i * width * channels;
    int64_t j = 0, k = width;
    while (j < width && !any(row + j * channels, depth)) j++;
    if (j == width) continue;
    while (k > 0 && !any(row + (k - 1) * channels, depth)) k--;
    if (top == height) top = i;
    bottom = i + 1;
    if (j < left) left = j;
    if (k > right) right = k;
  }
  if (!bottom) return (r4_rect){0};
  return (r4_rect){top, left, bottom - top, right - left};
}

r4_status r4_reach_find(const r4_reach *r, size_t rows, int64_t channels, const float *m, float *at,
                        r4_error *e)
{
  NEEDS(r, "a reach", R4_E_ARGUMENT);
  NEEDS(m, "masks", R4_E_ARGUMENT);
  NEEDS(at, "room for the places", R4_E_ARGUMENT);
  const int64_t *image = r->level[0].image;
  for (size_t n = 0; n < rows; n++, m += image[0] * image[1] * channels, at += 2 * r->levels) {
    r4_rect p = bounds_of(m, image[0], image[1], channels);
    r4_status s = put(r, 0, (struct range){p.top, p.top + p.height}, n, at, e);
    if (!s) s = put(r, 1, (struct range){p.left, p.left + p.width}, n, at, e);
    if (s) return s;
  }
  return R4_OK;
}

/* ---- The net near the windows ---- */

/* The state between two layers: the whole images, and the change of a window of them. */
struct near {
  const r4_reach *reach;
  r4_graph *g;
  struct wiring w;
  size_t level;
  r4_id whole, change, at; /* at: [rows, levels, 2] */
};

static r4_id places(const struct near *s, size_t level)
{
  r4_shape all = r4_node_shape(s->g, s->at);
  int64_t start[] = {0, (int64_t)level, 0}, size[] = {all.dim[0], 1, 2};
  return r4_reshape(s->g, r4_slice(s->g, s->at, start, size, NULL), R4_SHAPE(all.dim[0], 2));
}

r4_id reach_first(const r4_reach *reach, r4_graph *g, r4_id at)
{
  struct near s = {.reach = reach, .g = g, .at = at};
  return places(&s, 0);
}

static int64_t rows_of(const struct near *s)
{
  return r4_node_shape(s->g, s->at).dim[0];
}

/* Where the next level's windows begin to see this level's images: s at - p. */
static r4_id seen_from(const struct near *s, const struct level *to)
{
  r4_id at = r4_scale(s->g, places(s, s->level + 1), (double)to->stride);
  return r4_sub(s->g, at, r4_const(s->g, (double)to->pad, R4_SCALAR));
}

/* How much of this level the next level's windows see. */
static void seen_size(const struct level *to, int64_t size[2])
{
  for (int a = 0; a < 2; a++) size[a] = to->stride * (to->window[a] - 1) + to->kernel;
}

/* The change as the next level's windows see it. */
static r4_id seen_change(const struct near *s, const struct level *to)
{
  int64_t seen[2];
  seen_size(to, seen);
  r4_id at = r4_sub(s->g, places(s, s->level), seen_from(s, to));
  return r4_place(s->g, s->change, at, (int64_t[]){rows_of(s), seen[0], seen[1]});
}

static r4_id apply(const struct near *s, const struct module *m, r4_id x)
{
  return m->kind->apply(m, &s->w, x);
}

static r4_id through_convolution(const struct near *s, const struct module *m)
{
  const struct level *to = &s->reach->level[s->level + 1];
  return r4_conv2d(s->g, seen_change(s, to), s->w.param[m->first_param], r4_window_of(to->stride, 0));
}

/* f(W h + D) - f(W h), where W h is what the next windows see of the whole images, or the windows themselves. */
static r4_id through_function(const struct near *s, const struct module *m)
{
  r4_id change = s->change, at = places(s, s->level);
  int64_t seen[2] = {s->reach->level[s->level].window[0], s->reach->level[s->level].window[1]};
  if (changes_size(m)) {
    const struct level *to = &s->reach->level[s->level + 1];
    change = seen_change(s, to);
    at = seen_from(s, to);
    seen_size(to, seen);
  }
  r4_id clean = r4_crop(s->g, s->whole, at, seen);
  return r4_sub(s->g, apply(s, m, r4_add(s->g, clean, change)), apply(s, m, clean));
}

/* Whole images with the change in them. */
static r4_id joined(const struct near *s)
{
  const int64_t *image = s->reach->level[s->level].image;
  r4_id moved = r4_place(s->g, s->change, places(s, s->level), (int64_t[]){rows_of(s), image[0], image[1]});
  return r4_add(s->g, net_first_rows(s->g, s->whole, rows_of(s)), moved);
}

r4_id reach_apply(const r4_reach *reach, const r4_net *n, r4_graph *g, const r4_id *param, r4_id x, r4_id d,
                  r4_id at)
{
  static const struct net_use as_it_is = {0};
  struct near s = {.reach = reach,
                   .g = g,
                   .w = {.g = g, .param = param, .use = &as_it_is},
                   .whole = x,
                   .change = d,
                   .at = at};
  for (size_t k = 0; k < reach->layers; k++) {
    const struct module *m = &n->row->part[k];
    s.change = is_conv(m) ? through_convolution(&s, m) : through_function(&s, m);
    s.whole = apply(&s, m, s.whole);
    s.level += changes_size(m);
  }
  return row_apply(&(struct row){n->row->part + reach->layers, n->row->n - reach->layers}, &s.w, joined(&s));
}
