#include "measure/occlusion.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

struct occlusion {
  int64_t height, width, channels, side, stride;
  size_t pixels, batch;
  float *window;  /* [pixels, channels]: 1 where it is; a net of vectors takes images as well */
  float *fill;    /* [1]                     */
  float *whole;   /* [batch]: e(x)           */
  float *map;     /* [batch, pixels]         */
  int32_t *times; /* [pixels]: windows that cover each */
};

/* x + w . (fill - x) */
size_t occlusion_build(struct objective *o, r4_id out[PROBE_OUTPUTS])
{
  r4_graph *g = o->g;
  r4_id window = r4_input(g, "window", r4_net_input(o->net));
  r4_id change = r4_mul(g, window, r4_sub(g, r4_input(g, "fill", R4_SHAPE(1)), o->x));
  out[0] = objective_explained(o, view_noisy(o, change));
  return 1;
}

/* ---- Windows ---- */

static size_t window_size(const struct occlusion *c)
{
  return c->pixels * (size_t)c->channels * sizeof *c->window;
}

static const int USUAL_PART = 8; /* of the shorter side */

static r4_status choose_windows(struct occlusion *c, const r4_attribution_options *o, r4_error *e)
{
  int64_t shorter = c->height < c->width ? c->height : c->width;
  c->side = o->window ? o->window : (shorter + USUAL_PART - 1) / USUAL_PART;
  c->stride = o->stride ? o->stride : (c->side + 1) / 2;
  if (c->side < 1 || c->side > shorter)
    return r4_fail(e, R4_E_ARGUMENT,
                   "occlusion: window is %lld, expected 1 to %lld, the shorter side of the images",
                   (long long)c->side, (long long)shorter);
  if (c->stride < 1 || c->stride > c->side)
    return r4_fail(
      e, R4_E_ARGUMENT,
      "occlusion: stride is %lld, expected 1 to %lld, the side of the window: otherwise pixels between windows have "
      "no value",
      (long long)c->stride, (long long)c->side);
  if (!isfinite(o->fill))
    return r4_fail(e, R4_E_ARGUMENT, "occlusion: fill is %g, expected a number", o->fill);
  return R4_OK;
}

/* The places along a side of n pixels: the last window reaches the edge. */
static int64_t places(const struct occlusion *c, int64_t n)
{
  return (n - c->side + c->stride - 1) / c->stride + 1;
}

struct occlusion *occlusion_new(r4_shape image, const r4_attribution_options *o, size_t batch, r4_error *e)
{
  if (image.rank != 3) {
    r4_fail(e, R4_E_ARGUMENT, "occlusion: the examples are not images, whose pixels it would fill");
    return NULL;
  }
  struct occlusion *c = mem_new(1, sizeof *c, "occlusion", e);
  if (!c) return NULL;
  *c = (struct occlusion){.height = image.dim[0],
                          .width = image.dim[1],
                          .channels = image.dim[2],
                          .pixels = (size_t)(image.dim[0] * image.dim[1]),
                          .batch = batch};
  r4_status s = choose_windows(c, o, e);
  c->window = mem_new_aligned(window_size(c), 1, "occlusion", e);
  c->fill = mem_new_aligned(1, sizeof *c->fill, "occlusion", e);
  c->whole = mem_new(batch, sizeof *c->whole, "occlusion", e);
  c->map = mem_new(batch * c->pixels, sizeof *c->map, "occlusion", e);
  c->times = mem_new(c->pixels, sizeof *c->times, "occlusion", e);
  if (!s && (!c->window || !c->fill || !c->whole || !c->map || !c->times)) s = R4_E_MEMORY;
  if (!s) {
    *c->fill = (float)o->fill;
    return c;
  }
  occlusion_free(c);
  return NULL;
}

void occlusion_free(struct occlusion *c)
{
  if (!c) return;
  r4_mem_free(c->window);
  r4_mem_free(c->fill);
  r4_mem_free(c->whole);
  r4_mem_free(c->map);
  r4_mem_free(c->times);
  r4_mem_free(c);
}

r4_status occlusion_bind(struct occlusion *c, struct probe *p, r4_error *e)
{
  r4_status s = probe_input(p, "window", c->window, e);
  return s ? s : probe_input(p, "fill", c->fill, e);
}

/* ---- Running ---- */

static void put_window(struct occlusion *c, int64_t top, int64_t left)
{
  memset(c->window, 0, window_size(c));
  for (int64_t i = top; i < top + c->side && i < c->height; i++)
    for (int64_t j = left; j < left + c->side && j < c->width; j++) {
      for (int64_t k = 0; k < c->channels; k++) c->window[(i * c->width + j) * c->channels + k] = 1;
      c->times[i * c->width + j]++;
    }
}

/* Of each example, what filling the window takes away. */
static void add_loss(struct occlusion *c, const struct probe *p, size_t n)
{
  for (size_t k = 0; k < n; k++) {
    float lost = c->whole[k] - probe_row(p, 0, k)[0], *map = c->map + k * c->pixels;
    for (size_t j = 0; j < c->pixels; j++) map[j] += c->window[j * (size_t)c->channels] * lost;
  }
}

r4_status occlusion_run(struct occlusion *c, struct probe *p, const float *weights, const r4_data *d,
                        size_t first, size_t n, r4_error *e)
{
  memset(c->window, 0, window_size(c));
  memset(c->map, 0, n * c->pixels * sizeof *c->map);
  memset(c->times, 0, c->pixels * sizeof *c->times);
  r4_status s = probe_run(p, weights, d, first, n, e);
  for (size_t k = 0; k < n && !s; k++) c->whole[k] = probe_row(p, 0, k)[0];
  for (int64_t y = 0; y < places(c, c->height) && !s; y++)
    for (int64_t x = 0; x < places(c, c->width) && !s; x++) {
      put_window(c, y * c->stride, x * c->stride);
      s = probe_run(p, weights, d, first, n, e);
      if (!s) add_loss(c, p, n);
    }
  for (size_t k = 0; k < n && !s; k++)
    for (size_t j = 0; j < c->pixels; j++) c->map[k * c->pixels + j] /= (float)c->times[j];
  return s;
}

const float *occlusion_map(const struct occlusion *c, size_t k)
{
  return c->map + k * c->pixels;
}
