#include "find/cells.h"

#include <math.h>
#include <string.h>

struct grid grid_of(const r4_data *d)
{
  const int64_t *dim = data_x(d)->shape.dim;
  struct grid g = {.height = (size_t)dim[0], .width = (size_t)dim[1], .channels = (size_t)dim[2]};
  g.rows = g.height < GRID ? g.height : GRID;
  g.columns = g.width < GRID ? g.width : GRID;
  return g;
}

void cell_box(const struct grid *g, size_t cell, double box[4])
{
  size_t y = cell / g->columns, x = cell % g->columns;
  box[0] = (double)(x * g->width / g->columns) / (double)g->width;
  box[1] = (double)(y * g->height / g->rows) / (double)g->height;
  box[2] = (double)((x + 1) * g->width / g->columns) / (double)g->width - box[0];
  box[3] = (double)((y + 1) * g->height / g->rows) / (double)g->height - box[1];
}

size_t box_ninth(const double box[4])
{
  double x = box[0] + box[2] / 2, y = box[1] + box[3] / 2;
  return (size_t)(fmin(2, floor(3 * y)) * 3 + fmin(2, floor(3 * x)));
}

const char *ninth_words(size_t ninth)
{
  static const char *const words[BOX_PLACES] = {
    "at the top left", "at the top",         "at the top right", "at the left",        "in the middle",
    "at the right",    "at the bottom left", "at the bottom",    "at the bottom right"};
  return words[ninth];
}

const char *box_place(const double box[4])
{
  return ninth_words(box_ninth(box));
}

/* Sums over a cell. */
struct cell_sums {
  double sum[CELL_FEATURES], square, pixels, down, across; /* down, across: pairs */
};

static double light_of(const float *pixel, size_t channels)
{
  double sum = 0;
  for (size_t c = 0; c < channels; c++) sum += (double)pixel[c];
  return sum / (double)channels;
}

static void add_colour(struct cell_sums *s, const float *p)
{
  double r = (double)p[0], g = (double)p[1], b = (double)p[2];
  s->sum[CELL_RED_GREEN] += r - g;
  s->sum[CELL_GREEN_BLUE] += g - b;
  s->sum[CELL_RED_BLUE] += r - b;
  s->sum[CELL_SATURATION] += fmax(r, fmax(g, b)) - fmin(r, fmin(g, b));
}

/* An image, and a mask: a byte for each "step" values. */
struct masked_image {
  const struct grid *g;
  const float *pixel;
  const uint8_t *mask;
  size_t step;
};

static bool counts(const struct masked_image *m, size_t y, size_t x)
{
  return y < m->g->height && x < m->g->width && !(m->mask && m->mask[(y * m->g->width + x) * m->step] >= 128);
}

static void add_pixel(struct cell_sums *s, const struct masked_image *m, size_t y, size_t x)
{
  size_t channels = m->g->channels;
  const float *at = m->pixel + (y * m->g->width + x) * channels;
  if (!counts(m, y, x)) return;
  double light = light_of(at, channels);
  s->pixels++;
  s->sum[CELL_LIGHT] += light;
  s->square += light * light;
  if (channels >= 3) add_colour(s, at);
  if (counts(m, y + 1, x))
    s->down++, s->sum[CELL_DOWN] += fabs(light_of(at + m->g->width * channels, channels) - light);
  if (counts(m, y, x + 1))
    s->across++, s->sum[CELL_ACROSS] += fabs(light_of(at + channels, channels) - light);
}

static void finish_cell(const struct cell_sums *s, size_t pixels, size_t channels, float *to)
{
  double mean = s->sum[CELL_LIGHT] / s->pixels;
  for (size_t k = 0; k < CELL_FEATURES; k++) {
    bool colour = k >= CELL_RED_GREEN && k <= CELL_SATURATION;
    double n = k == CELL_DOWN ? s->down : k == CELL_ACROSS ? s->across : s->pixels;
    double v = k == CELL_SPREAD ? sqrt(fmax(0, s->square / s->pixels - mean * mean)) : s->sum[k] / n;
    to[k] = 2 * s->pixels <= (double)pixels || n == 0 || (colour && channels < 3) ? NAN : (float)v;
  }
}

void cells_of(const r4_data *d, size_t i, const struct grid *g, bool masked, float *pixel, float *to)
{
  struct masked_image m = {g, pixel, masked ? NULL : data_mask_bytes(d, i), 1};
  if (data_mask_layout(d).repeat != g->channels) m.step = g->channels;
  column_read(data_x(d), d->record[i].row, pixel);
  for (size_t cell = 0; cell < g->rows * g->columns; cell++) {
    size_t row = cell / g->columns, column = cell % g->columns, pixels = 0;
    struct cell_sums s = {.pixels = 0};
    for (size_t y = row * g->height / g->rows; y < (row + 1) * g->height / g->rows; y++)
      for (size_t x = column * g->width / g->columns; x < (column + 1) * g->width / g->columns; x++, pixels++)
        add_pixel(&s, &m, y, x);
    finish_cell(&s, pixels, g->channels, to + cell * CELL_FEATURES);
  }
}
