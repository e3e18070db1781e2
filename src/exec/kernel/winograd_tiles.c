/* Tiles and weights to the points and back. Vectors run along the channels, which are neighbours in memory. What is
 * read and written is a list of places; the last channels, less than a vector, pass through a buffer. */
#include <string.h>

#include "exec/kernel/winograd_points.h"

/* ---- One vector of channels ---- */

/* Of FROM x FROM values to TO x TO: a step of each column, then of each row. */
#define TRANSFORM(name, FROM, TO, LOAD_ONE, STORE_ONE)                   \
  wide half[TO][FROM];                                                   \
  UNROLL for (int j = 0; j < FROM; j++)                                  \
  {                                                                      \
    wide d[FROM], t[TO];                                                 \
    UNROLL for (int i = 0; i < FROM; i++) d[i] = LOAD_ONE(i * FROM + j); \
    name(d, t);                                                          \
    UNROLL for (int i = 0; i < TO; i++) half[i][j] = t[i];               \
  }                                                                      \
  UNROLL for (int i = 0; i < TO; i++)                                    \
  {                                                                      \
    wide t[TO];                                                          \
    name(half[i], t);                                                    \
    UNROLL for (int j = 0; j < TO; j++) STORE_ONE(i *TO + j, t[j]);      \
  }

#define FROM_LIST(k) AT(from[k] + c)
#define TO_TILE_PLANE(k, x) PUT(to + (k)*TILE_PLANE, x)
#define TO_WEIGHT_PLANE(k, x) PUT(to + (k)*WEIGHT_PLANE, x)
#define FROM_TILE_PLANE(k) AT(from + (k)*TILE_PLANE)
#define FROM_WEIGHT_PLANE(k) AT(from + (k)*WEIGHT_PLANE)
#define TO_LIST(k, x) PUT(to[k] + c, x)

static void image_vector(const float *const *from, int64_t c, float *to)
{
  TRANSFORM(step_image, SIDE, SIDE, FROM_LIST, TO_TILE_PLANE)
}

static void error_vector(const float *const *from, int64_t c, float *to)
{
  TRANSFORM(step_error, TILE, SIDE, FROM_LIST, TO_TILE_PLANE)
}

static void weights_vector(const float *const *from, int64_t c, float *to)
{
  TRANSFORM(step_weights, KERNEL, SIDE, FROM_LIST, TO_WEIGHT_PLANE)
}

static void gradient_vector(const float *from, float *const *to, int64_t c)
{
  TRANSFORM(step_gradient, SIDE, KERNEL, FROM_WEIGHT_PLANE, TO_LIST)
}

static void result_vector(const float *from, struct finish f, float *const *to, int64_t c)
{
#define FINISH(k, x)                                                          \
  {                                                                           \
    wide y = x;                                                               \
    if (f.bias) y += AT(f.bias + c);                                          \
    if (f.accumulate) y += AT(to[k] + c);                                     \
    if (f.relu) y = (wide)((wide_bits)y & ~(y < 0)); /* not a number stays */ \
    PUT(to[k] + c, y);                                                        \
  }
  TRANSFORM(step_result, SIDE, TILE, FROM_TILE_PLANE, FINISH)
}

/* ---- Less than a vector ---- */

struct rest {
  float value[POINTS][WIDE];
};

static void rest_read(struct rest *r, int places, const float *const *from, int64_t c, int64_t channels)
{
  memset(r, 0, sizeof *r);
  for (int k = 0; k < places; k++) memcpy(r->value[k], from[k] + c, (size_t)channels * sizeof(float));
}

static void rest_write(const struct rest *r, int places, float *const *to, int64_t c, int64_t channels)
{
  for (int k = 0; k < places; k++) memcpy(to[k] + c, r->value[k], (size_t)channels * sizeof(float));
}

static void rest_list(struct rest *r, float **list)
{
  for (int k = 0; k < POINTS; k++) list[k] = r->value[k];
}

typedef void read_vector(const float *const *from, int64_t c, float *to);

/* All channels of a list of places. */
INLINE void read_all(read_vector *vector, int places, const float *const *from, int64_t channels, float *to)
{
  int64_t c = 0;
  for (; c + WIDE <= channels; c += WIDE) vector(from, c, to + c);
  if (c == channels) return;
  struct rest r;
  float *list[POINTS];
  rest_read(&r, places, from, c, channels - c);
  rest_list(&r, list);
  vector((const float *const *)list, 0, to + c);
}

/* ---- Places ---- */

/* Of the side x side pixels from where a tile begins: floats from the image's first, or -1 outside. */
INLINE void window(const struct grid *g, int64_t tile, const int side, int64_t *at)
{
  int64_t each = g->tiles[0] * g->tiles[1], image = tile / each, place = tile % each;
  int64_t h = g->first[0] + place / g->tiles[1] * TILE, w = g->first[1] + place % g->tiles[1] * TILE;
  int64_t column[SIDE];
  UNROLL for (int j = 0; j < side; j++) column[j] =
    w + j >= 0 && w + j < g->size[1] ? (w + j) * g->channels : -1;
  UNROLL for (int i = 0; i < side; i++)
  {
    bool inside = h + i >= 0 && h + i < g->size[0];
    int64_t row = inside ? (image * g->size[0] + h + i) * g->size[1] * g->channels : -1;
    UNROLL for (int j = 0; j < side; j++) at[i * side + j] = (row | column[j]) < 0 ? -1 : row + column[j];
  }
}

static const float zeros[BLOCK];

INLINE void read_tiles(const int side, read_vector *vector, const struct grid *g, const struct part *p,
                       const float *x, float *to)
{
  for (int64_t t = 0; t < p->tiles; t++, to += BLOCK) {
    int64_t at[POINTS];
    const float *from[POINTS];
    window(g, p->tile + t, side, at);
    UNROLL for (int k = 0; k < side * side; k++) from[k] = at[k] < 0 ? zeros : x + at[k] + p->channel;
    read_all(vector, side * side, from, p->channels, to);
  }
}

void winograd_image(const struct grid *g, const struct part *p, const float *x, float *to)
{
  read_tiles(SIDE, image_vector, g, p, x, to);
}

void winograd_error(const struct grid *g, const struct part *p, const float *dy, float *to)
{
  read_tiles(TILE, error_vector, g, p, dy, to);
}

/* The last channels of a tile. */
static void result_rest(const float *from, struct finish f, float *const *to, int64_t c, int64_t channels)
{
  struct rest r;
  float bias[WIDE] = {0}, *list[POINTS];
  rest_read(&r, f.accumulate ? TILE * TILE : 0, (const float *const *)to, c, channels);
  rest_list(&r, list);
  if (f.bias) {
    memcpy(bias, f.bias + c, (size_t)channels * sizeof *bias);
    f.bias = bias;
  }
  result_vector(from, f, list, 0);
  rest_write(&r, TILE * TILE, to, c, channels);
}

void winograd_result(const struct grid *g, const struct part *p, const float *from, struct finish f, float *y)
{
  float nowhere[BLOCK] = {0};
  if (f.bias) f.bias += p->channel;
  for (int64_t t = 0; t < p->tiles; t++, from += BLOCK) {
    int64_t at[POINTS], c = 0;
    float *to[POINTS];
    window(g, p->tile + t, TILE, at);
    UNROLL for (int k = 0; k < TILE * TILE; k++) to[k] = at[k] < 0 ? nowhere : y + at[k] + p->channel;
    for (; c + WIDE <= p->channels; c += WIDE) result_vector(from + c, f, to, c);
    if (c < p->channels) result_rest(from + c, f, to, c, p->channels - c);
  }
}

/* ---- Weights ---- */

/* Row "out" of the weights. */
INLINE void taps(int64_t channels, const float *w, int64_t out, int64_t in, const float **from)
{
  for (int k = 0; k < KERNEL * KERNEL; k++) from[k] = w + (out * KERNEL * KERNEL + k) * channels + in;
}

void winograd_weights_turned(const struct square *s, int64_t channels, const float *w, float *to)
{
  for (int64_t o = 0; o < s->outs; o++) {
    const float *from[KERNEL * KERNEL], *turned[KERNEL * KERNEL];
    taps(channels, w, s->out + o, s->in, from);
    for (int k = 0; k < KERNEL * KERNEL; k++) turned[k] = from[KERNEL * KERNEL - 1 - k];
    read_all(weights_vector, KERNEL * KERNEL, turned, s->ins, to + o * BLOCK);
  }
}

typedef float taps_across[KERNEL * KERNEL][LANES][WIDE]; /* of LANES in and WIDE out */

/* As many out as there are, "lanes" in: from [out][in] to [in][out]. */
static void turn(const struct square *s, int64_t channels, const float *w, int64_t in, int64_t out,
                 taps_across to)
{
  int64_t ins = least(LANES, s->ins - in), outs = least(WIDE, s->outs - out),
          row = KERNEL * KERNEL * channels;
  w += (s->out + out) * row + s->in + in;
  if (ins == LANES && outs == WIDE) {
    for (int k = 0; k < KERNEL * KERNEL; k++)
      for (int v = 0; v < WIDE; v += LANES) {
        lanes r[LANES];
        UNROLL for (int j = 0; j < LANES; j++) r[j] = LOAD(w + (v + j) * row + k * channels);
        transpose8(r);
        UNROLL for (int j = 0; j < LANES; j++) STORE(to[k][j] + v, r[j]);
      }
    return;
  }
  memset(to, 0, sizeof(taps_across));
  for (int k = 0; k < KERNEL * KERNEL; k++)
    for (int64_t o = 0; o < outs; o++)
      for (int64_t i = 0; i < ins; i++) to[k][i][o] = w[o * row + k * channels + i];
}

void winograd_weights(const struct square *s, int64_t channels, const float *w, float *to)
{
  taps_across across;
  for (int64_t out = 0; out < s->outs; out += WIDE)
    for (int64_t in = 0; in < s->ins; in += LANES) {
      turn(s, channels, w, in, out, across);
      for (int64_t i = 0; i < least(LANES, s->ins - in); i++) {
        const float *from[KERNEL * KERNEL];
        for (int k = 0; k < KERNEL * KERNEL; k++) from[k] = across[k][i];
        weights_vector(from, 0, to + (in + i) * BLOCK + out);
      }
    }
}

void winograd_gradient(const struct square *s, int64_t channels, const float *from, float *dw)
{
  for (int64_t o = 0; o < s->outs; o++, from += BLOCK) {
    float *to[POINTS], *list[POINTS];
    int64_t i = 0;
    for (int k = 0; k < KERNEL * KERNEL; k++)
      to[k] = dw + ((s->out + o) * KERNEL * KERNEL + k) * channels + s->in;
    for (; i + WIDE <= s->ins; i += WIDE) gradient_vector(from + i, to, i);
    if (i == s->ins) continue;
    struct rest r;
    rest_list(&r, list);
    gradient_vector(from + i, list, 0);
    rest_write(&r, KERNEL * KERNEL, to, i, s->ins - i);
  }
}
