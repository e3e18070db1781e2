#include "find/fill.h"

#include <math.h>

enum { BATCH = 16 };

static size_t build(struct objective *o, r4_id out[PROBE_OUTPUTS])
{
  out[0] = view_logits(o, view_clean(o));
  return 1;
}

r4_status filling_new(struct fill_probe *p, const r4_net *n, const float *weights, const r4_data *d,
                      r4_error *e)
{
  *p = (struct fill_probe){.weights = weights, .d = d, .shape = r4_data_shape(d)};
  p->probe = probe_new(&(struct probe_options){.net = n, .batch = BATCH, .build = build}, e);
  return p->probe ? R4_OK : R4_E_MEMORY;
}

void filling_clear(struct fill_probe *p)
{
  probe_free(p->probe);
}

/* Pixels of a side of the image from "from" on, of which the middle is in the box. */
struct side {
  size_t from, to;
};

static struct side side_of(double from, double length, double grow, int64_t pixels)
{
  double n = (double)pixels, low = (from - grow * length) * n, high = (from + (1 + grow) * length) * n;
  return (struct side){(size_t)fmax(0, floor(low + .5)), (size_t)fmax(0, fmin(n, floor(high + .5)))};
}

static void fill(const struct fill_probe *p, const double box[4], double grow, float *x)
{
  size_t height = (size_t)p->shape.dim[0], width = (size_t)p->shape.dim[1],
         channels = (size_t)p->shape.dim[2];
  struct side rows = side_of(box[1], box[3], grow, p->shape.dim[0]),
              columns = side_of(box[0], box[2], grow, p->shape.dim[1]);
  for (size_t c = 0; c < channels; c++) {
    double sum = 0, n = 0;
    for (size_t k = 0; k < height * width; k++) {
      size_t i = k / width, j = k % width;
      bool in = i >= rows.from && i < rows.to && j >= columns.from && j < columns.to;
      if (!in) sum += (double)x[k * channels + c], n++;
    }
    for (size_t i = rows.from; i < rows.to; i++)
      for (size_t j = columns.from; j < columns.to; j++)
        x[(i * width + j) * channels + c] = n > 0 ? (float)(sum / n) : 0;
  }
}

static double margin_of(const float *z, size_t classes, size_t y)
{
  if (classes == 1) return y ? (double)z[0] : -(double)z[0];
  double most = -INFINITY, sum = 0;
  for (size_t k = 0; k < classes; k++)
    if (k != y) most = fmax(most, (double)z[k]);
  for (size_t k = 0; k < classes; k++)
    if (k != y) sum += exp((double)z[k] - most);
  return (double)z[y] - most - log(sum);
}

/* Margins of n sightings, as they are and filled: rows k and n + k of the batch. */
static r4_status ask(struct fill_probe *p, const r4_sighting *const *s, size_t n, double grow, size_t y,
                     double *before, double *after, r4_error *e)
{
  r4_status status = probe_begin_rows(p->probe, 0, e);
  if (status) return status;
  for (size_t k = 0; k < 2 * n; k++) {
    float *x = probe_room(p->probe, k);
    column_read(data_x(p->d), p->d->record[s[k % n]->example].row, x);
    if (k >= n) fill(p, s[k % n]->box, grow, x);
    probe_end_row(p->probe, k, 0);
  }
  status = probe_run_rows(p->probe, p->weights, 2 * n, e);
  for (size_t k = 0; !status && k < n; k++) {
    size_t classes = probe_width(p->probe, 0);
    before[k] = margin_of(probe_row(p->probe, 0, k), classes, y);
    after[k] = margin_of(probe_row(p->probe, 0, n + k), classes, y);
  }
  return status;
}

static void estimate(r4_clue *c, const double *before, const double *after, size_t n)
{
  double lost = 0, all = 0, squares = 0, N = (double)n;
  for (size_t k = 0; k < n; k++) lost += before[k] - after[k], all += fabs(before[k]);
  if (!(all > 0) || n < 2) return;
  c->lean = lost / all;
  for (size_t k = 0; k < n; k++) {
    double r = before[k] - after[k] - c->lean * fabs(before[k]);
    squares += r * r;
  }
  c->lean_se = sqrt(squares * N / (N - 1)) / all;
}

r4_status fill_lean(struct fill_probe *p, r4_clue *c, const r4_sighting *s, double grow, r4_error *e)
{
  const r4_sighting *chosen[FILLED];
  double before[FILLED], after[FILLED];
  size_t n = 0, most = c->sightings < FILLED ? c->sightings : FILLED;
  r4_status status = R4_OK;
  for (size_t j = 0; j < most; j++) {
    const r4_sighting *one = s + j * c->sightings / most;
    if (one->box[2] > 0) chosen[n++] = one;
  }
  for (size_t from = 0; !status && from < n; from += BATCH / 2) {
    size_t here = n - from < BATCH / 2 ? n - from : BATCH / 2;
    status = ask(p, chosen + from, here, grow, (size_t)c->label, before + from, after + from, e);
  }
  if (!status) estimate(c, before, after, n);
  return status;
}
