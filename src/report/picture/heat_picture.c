/* A picture for people: a row for each example, a heat map for each method and net.
 *
 *     title
 *     image            erm            cert-r4       the net, and the method below; the method alone for one net
 *                      gradient       gradient
 *     mask area 2%     mean mask 43%                over the rows
 *     +--------+       +--------+
 *     |        |       |        |                   the mask is outlined
 *     +--------+       +--------+
 *     label 3          mask 51%  max 0.2            the share inside the mask; what the full colour stands for
 *                      says 7, wrong                under the image for one net
 *     ...
 *     legend
 *
 * Predictions, which have no labels, have their examples side by side, with the probability below each. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/mem.h"
#include "measure/attribution.h"
#include "picture/canvas.h"
#include "report/picture/heat.h"

enum { CELL = 196, GAP = 24, SPACE = 6, ROW = 22, MAX_COLUMNS = 64, TEXT = 128 };
enum { WIDE = 1400 }; /* pixels of a row of several */

static const uint8_t INK[3] = {30, 30, 30}, PALE[3] = {105, 105, 105}, EDGE[3] = {190, 190, 190};
static const uint8_t RIGHT[3] = {0, 110, 80}, WRONG[3] = {190, 70, 0}; /* also told apart by words */
static const uint8_t WHITE[3] = {255, 255, 255};

/* One heat map in each row. */
struct column {
  const char *method, *name;
  bool width;
  const int32_t *predicted; /* [n] */
  float *a;                 /* [n, features] */
};

struct picture {
  const r4_data *d;
  const r4_heat_options *o;
  size_t n, height, width, channels, pixels, features;
  size_t methods, subjects, columns;
  struct column column[MAX_COLUMNS];
  float *a;
  int32_t *predicted;         /* [subjects, n] */
  float *x, *mask, *v, *work; /* of one example */
  struct colour *paint;
  uint8_t *outline; /* the mask as large as in the picture, and a pixel more on each side */
  size_t factor, cell_width, cell_height;
  size_t pitch, row; /* from column to column, and from row to row */
  size_t across;     /* examples in a row: one, but for predictions */
  struct image canvas;
};

/* ---- What is shown ---- */

static r4_status check(const r4_data *d, size_t subjects, const r4_heat_options *o, r4_error *e)
{
  r4_shape shape = r4_data_shape(d);
  if (shape.rank != 3)
    return r4_fail(e, R4_E_SHAPE, "heat maps need images, the examples have %d dimensions: expected 3",
                   shape.rank);
  if (!r4_data_count(d)) return r4_fail(e, R4_E_ARGUMENT, "there are no examples to explain");
  if (!subjects || !o->methods || subjects > MAX_COLUMNS || o->methods > MAX_COLUMNS / subjects)
    return r4_fail(e, R4_E_ARGUMENT, "%zu methods of %zu nets: expected 1 to %d heat maps in a row",
                   o->methods, subjects, MAX_COLUMNS);
  return R4_OK;
}

/* Images are enlarged by the whole factor that brings their longer side nearest to CELL. */
static r4_status measure(struct picture *p, r4_error *e)
{
  size_t side = p->height > p->width ? p->height : p->width;
  p->factor = (CELL + side / 2) / side;
  if (!p->factor) p->factor = 1;
  p->cell_width = p->width * p->factor;
  p->cell_height = p->height * p->factor;
  p->pitch = (p->cell_width > CELL ? p->cell_width : CELL) + GAP;
  p->row = p->cell_height + SPACE + 2 * ROW + GAP / 2;
  size_t block = (p->columns + 1) * p->pitch, fit = WIDE / block;
  p->across = !p->o->answers || !fit ? 1 : fit < p->n ? fit : p->n;
  size_t headings = p->subjects > 1 ? 3 : 2, title = p->o->title ? ROW + SPACE : 0;
  size_t width = GAP + p->across * block, rows = (p->n + p->across - 1) / p->across, legend = 5 * ROW + SPACE + GAP;
  size_t around = GAP + title + headings * ROW + SPACE + legend;
  if (rows > IMAGE_MAX_PIXELS / width / p->row || rows * p->row + around > IMAGE_MAX_PIXELS / width)
    return r4_fail(e, R4_E_ARGUMENT,
                   "%zu examples with %zu heat maps need more than %d million pixels", p->n,
                   p->columns, IMAGE_MAX_PIXELS / 1000000);
  return image_new(&p->canvas, rows * p->row + around, width, 3, e);
}

static void *room(size_t count, size_t size, r4_status *s, r4_error *e)
{
  void *p = *s ? NULL : mem_new(count, size, "heat maps", e);
  if (!p && !*s) *s = R4_E_MEMORY;
  return p;
}

static r4_status prepare(struct picture *p, r4_error *e)
{
  r4_shape shape = r4_data_shape(p->d);
  p->n = r4_data_count(p->d);
  p->height = (size_t)shape.dim[0], p->width = (size_t)shape.dim[1], p->channels = (size_t)shape.dim[2];
  p->pixels = p->height * p->width;
  p->features = p->pixels * p->channels;
  p->columns = p->methods * p->subjects;
  r4_status s = measure(p, e);
  p->a = room(p->columns * p->n, p->features * sizeof *p->a, &s, e);
  p->predicted = room(p->subjects, p->n * sizeof *p->predicted, &s, e);
  p->x = room(p->features, sizeof *p->x, &s, e);
  p->mask = room(p->features, sizeof *p->mask, &s, e);
  p->v = room(p->pixels, sizeof *p->v, &s, e);
  p->work = room(p->pixels, sizeof *p->work, &s, e);
  p->paint = room(p->pixels, sizeof *p->paint, &s, e);
  p->outline = room(p->cell_height + 2, p->cell_width + 2, &s, e);
  return s;
}

static void discard(struct picture *p)
{
  r4_mem_free(p->a);
  r4_mem_free(p->predicted);
  r4_mem_free(p->x);
  r4_mem_free(p->mask);
  r4_mem_free(p->v);
  r4_mem_free(p->work);
  r4_mem_free(p->paint);
  r4_mem_free(p->outline);
  image_clear(&p->canvas);
}

/* Method by method, and of each the nets side by side. */
static r4_status compute(struct picture *p, const r4_subject *subject, r4_error *e)
{
  r4_status s = R4_OK;
  for (size_t k = 0; k < p->columns && !s; k++) {
    const r4_subject *who = &subject[k % p->subjects];
    struct column *c = &p->column[k];
    const struct attribution *method = NULL;
    *c = (struct column){.method = p->o->method[k / p->subjects],
                         .name = who->name,
                         .predicted = p->predicted + k % p->subjects * p->n,
                         .a = p->a + k * p->n * p->features};
    s = attribution_find(c->method, &method, e);
    if (!s) c->width = method->width;
    if (!s) s = r4_attribute(c->method, who->net, who->weights, p->d, &p->o->attribution, c->a, e);
  }
  for (size_t k = 0; k < p->subjects && !s; k++)
    s = heat_predict(&subject[k], p->d, p->predicted + k * p->n, e);
  return s;
}

/* The mean over the examples that have a mask, of the share of c inside it, or of the mask's area if c is NULL. */
static double mean_share(const struct picture *p, const struct column *c)
{
  double sum = 0;
  size_t n = 0;
  for (size_t j = 0; j < p->features && !c; j++) p->x[j] = 1;
  for (size_t i = 0; i < p->n; i++) {
    if (!r4_data_mask(p->d, i, p->mask)) continue;
    double share = r4_mask_share(p->features, c ? c->a + i * p->features : p->x, p->mask);
    if (isnan(share)) continue;
    sum += share;
    n++;
  }
  return sum / (double)n;
}

/* ---- Drawing ---- */

/* In large letters if the room is enough for them, else in small ones. */
static void write_in(struct picture *p, size_t x, size_t y, size_t room, const uint8_t colour[3],
                     const char *text)
{
  const struct font *f = canvas_text_width(text, &font_large) <= room ? &font_large : &font_small;
  canvas_text(&p->canvas, x, y + font_large.height - f->height, f, room, colour, text); /* on the same line */
}

static void write_at(struct picture *p, size_t x, size_t y, const uint8_t colour[3], const char *text)
{
  write_in(p, x, y, p->pitch - GAP, colour, text);
}

static void write_share(struct picture *p, size_t x, size_t y, const uint8_t colour[3], const char *what,
                        double share)
{
  char text[TEXT];
  if (isnan(share))
    snprintf(text, sizeof text, "%s -", what);
  else
    c_locale_print(text, sizeof text, "%s %.*f%%", what, share < 0.0995 ? 1 : 0, 100 * share);
  write_at(p, x, y, colour, text);
}

static void write_answer(struct picture *p, size_t x, size_t y, size_t i, const int32_t *predicted)
{
  char text[TEXT];
  bool right = predicted[i] == r4_data_example(p->d, i).label;
  const char *name = r4_data_class_name(p->d, (size_t)predicted[i]);
  const char *verdict = p->o->answers ? "" : right ? ", right" : ", wrong";
  if (p->o->answers && p->o->probability)
    c_locale_print(text, sizeof text, "%.80s %.2f", name ? name : "?", (double)p->o->probability[i]);
  else
    snprintf(text, sizeof text, "says %.80s%s", name ? name : "?", verdict);
  write_at(p, x, y, p->o->answers ? INK : right ? RIGHT : WRONG, text);
}

static void draw_frame(struct picture *p, size_t x, size_t y, size_t width, size_t height)
{
  canvas_fill(&p->canvas, x - 1, y - 1, width + 2, 1, EDGE);
  canvas_fill(&p->canvas, x - 1, y + height, width + 2, 1, EDGE);
  canvas_fill(&p->canvas, x - 1, y, 1, height, EDGE);
  canvas_fill(&p->canvas, x + width, y, 1, height, EDGE);
}

/* The colours of paint, enlarged, with the outline of the mask. */
static void draw_cell(struct picture *p, size_t x, size_t y)
{
  size_t f = p->factor;
  draw_frame(p, x, y, p->cell_width, p->cell_height);
  for (size_t k = 0; k < p->pixels; k++)
    canvas_fill(&p->canvas, x + k % p->width * f, y + k / p->width * f, f, f, p->paint[k].rgb);
  canvas_outline(&p->canvas, x - 1, y - 1, p->cell_height + 2, p->cell_width + 2, p->outline, WHITE);
}

/* A pixel is in the outline if the mask is at least a half in one of its channels. */
static void enlarge_mask(struct picture *p)
{
  for (size_t y = 0; y < p->cell_height; y++)
    for (size_t x = 0; x < p->cell_width; x++) {
      size_t k = y / p->factor * p->width + x / p->factor;
      bool in = false;
      for (size_t c = 0; c < p->channels; c++) in |= p->mask[k * p->channels + c] >= 0.5f;
      p->outline[(y + 1) * (p->cell_width + 2) + x + 1] = in ? 255 : 0;
    }
}

static uint8_t byte_of(float v)
{
  return (uint8_t)(255 * fminf(fmaxf(v, 0), 1) + 0.5f);
}

/* The label of an example, or the name of its file without folders. */
static void write_label(struct picture *p, size_t x, size_t y, size_t i)
{
  char text[TEXT];
  r4_example about = r4_data_example(p->d, i);
  const char *name = p->o->answers ? about.file : r4_data_class_name(p->d, (size_t)about.label);
  const char *slash = p->o->answers && name ? strrchr(name, '/') : NULL;
  snprintf(text, sizeof text, "%s%.80s", p->o->answers ? "" : "label ",
           slash  ? slash + 1
           : name ? name
                  : "?");
  write_at(p, x, y, INK, text);
}

/* Colours as they are; anything but three channels as the grey of the first. */
static void draw_image(struct picture *p, size_t i, size_t x, size_t y)
{
  size_t green = p->channels == 3 ? 1 : 0, blue = 2 * green;
  r4_data_values(p->d, i, p->x);
  for (size_t k = 0; k < p->pixels; k++) {
    const float *v = p->x + k * p->channels;
    p->paint[k] = (struct colour){{byte_of(v[0]), byte_of(v[green]), byte_of(v[blue])}};
  }
  draw_cell(p, x, y);
  write_label(p, x, y + p->cell_height + SPACE, i);
  if (p->subjects == 1) write_answer(p, x, y + p->cell_height + SPACE + ROW, i, p->predicted);
}

static double scale_of(struct picture *p, const struct column *c, size_t i)
{
  heat_pixels(p->pixels, p->channels, c->a + i * p->features, p->v);
  return heat_scale(p->pixels, p->v, p->work);
}

/* The scale of a heat map: its own, or the largest among the nets of its method. */
static double scale_at(struct picture *p, size_t column, size_t i)
{
  if (!p->o->common_scale) return scale_of(p, &p->column[column], i);
  double most = 0;
  for (size_t k = 0, first = column / p->subjects * p->subjects; k < p->subjects; k++)
    most = fmax(most, scale_of(p, &p->column[first + k], i));
  return most;
}

static void draw_map(struct picture *p, size_t column, size_t i, size_t x, size_t y)
{
  const struct column *c = &p->column[column];
  char text[TEXT];
  double scale = scale_at(p, column, i);
  heat_pixels(p->pixels, p->channels, c->a + i * p->features, p->v);
  for (size_t k = 0; k < p->pixels; k++) {
    double v = p->v[k] == 0 ? 0 : p->v[k] / scale;
    p->paint[k] = c->width ? heat_width(v) : heat_signed(v);
  }
  draw_cell(p, x, y);
  y += p->cell_height + SPACE;
  if (r4_data_has_mask(p->d, i))
    write_share(p, x, y, INK, "mask", r4_mask_share(p->features, c->a + i * p->features, p->mask));
  else if (!p->o->answers)
    write_at(p, x, y, INK, "no mask");
  c_locale_print(text, sizeof text, "max %.2g", scale);
  size_t right = x + p->pitch - GAP - canvas_text_width(text, &font_small);
  canvas_text(&p->canvas, right, y + font_large.height - font_small.height, &font_small, p->pitch, PALE, text);
  if (p->subjects > 1) write_answer(p, x, y + ROW, i, c->predicted);
}

static void draw_example(struct picture *p, size_t i, size_t x, size_t y)
{
  r4_data_mask(p->d, i, p->mask);
  enlarge_mask(p);
  draw_image(p, i, x, y);
  for (size_t k = 0; k < p->columns; k++) draw_map(p, k, i, x + (k + 1) * p->pitch, y);
}

/* ---- Headings and legend ---- */

static size_t draw_title(struct picture *p, size_t y)
{
  if (!p->o->title) return y;
  write_in(p, GAP, y, p->canvas.width - 2 * GAP, INK, p->o->title);
  return y + ROW + SPACE;
}

/* Where the k-th example of a row begins. */
static size_t left_of(const struct picture *p, size_t k)
{
  return GAP + k * (p->columns + 1) * p->pitch;
}

static void draw_heading(struct picture *p, size_t x, size_t y)
{
  bool named = p->subjects > 1;
  write_at(p, x, y, INK, "image");
  for (size_t k = 0; k < p->columns; k++) {
    const struct column *c = &p->column[k];
    write_at(p, x + (k + 1) * p->pitch, y, INK, named ? c->name : c->method);
    if (named) write_at(p, x + (k + 1) * p->pitch, y + ROW, PALE, c->method);
  }
}

static size_t draw_headings(struct picture *p, size_t y)
{
  bool named = p->subjects > 1;
  for (size_t k = 0; k < p->across; k++) draw_heading(p, left_of(p, k), y);
  return y + ROW + (named ? ROW : 0);
}

static size_t draw_means(struct picture *p, size_t y, double *share)
{
  double area = mean_share(p, NULL);
  if (!isnan(area)) write_share(p, GAP, y, PALE, "mask area", area);
  for (size_t k = 0; k < p->columns; k++) {
    double mean = mean_share(p, &p->column[k]);
    if (!isnan(area)) write_share(p, GAP + (k + 1) * p->pitch, y, PALE, "mean mask", mean);
    if (share) share[k] = mean;
  }
  return y + ROW + SPACE;
}

static void draw_bar(struct picture *p, size_t x, size_t y, bool width)
{
  size_t height = font_large.height;
  for (size_t k = 0; k < CELL; k++) {
    double v = (double)k / (CELL - 1);
    struct colour c = width ? heat_width(v) : heat_signed(2 * v - 1);
    canvas_fill(&p->canvas, x + k, y, 1, height, c.rgb);
  }
  draw_frame(p, x, y, CELL, height);
}

static const char *explained(r4_explain e)
{
  static const char *const names[] = {"loss", "logit", "margin", "sum of log p"};
  return names[e];
}

/* Grad-CAM of the loss shows what speaks for the label, so what lowers it. */
static const char *about_gradcam(const struct picture *p)
{
  if (p->o->attribution.explain != R4_EXPLAIN_LOSS) return "";
  for (size_t k = 0; k < p->columns; k++)
    if (!strcmp(p->column[k].method, "gradcam")) return "; gradcam: red lowers it";
  return "";
}

/* The bars of the scales that were used, each with its line, and then what the rest means. */
static void draw_legend(struct picture *p, size_t y)
{
  size_t room = p->canvas.width - 2 * GAP;
  for (int width = 0; width < 2; width++) {
    char note[TEXT] = "how far the gradient can move";
    bool used = false;
    for (size_t k = 0; k < p->columns; k++) used |= p->column[k].width == (width == 1);
    if (!used) continue;
    if (!width && p->o->answers)
      snprintf(note, sizeof note, "blue is against the prediction, red for it");
    else if (!width)
      snprintf(note, sizeof note, "blue lowers, red raises the %s%s", explained(p->o->attribution.explain),
               about_gradcam(p));
    draw_bar(p, GAP, y, width);
    write_in(p, GAP + p->pitch, y, room - p->pitch, INK, note);
    y += ROW;
  }
  const char *const notes[] = {"outline: what must not matter", "mask: share of the map inside it",
                               p->o->common_scale ? "max: 99.5% quantile of the row"
                                                  : "max: 99.5% quantile of each map"};
  size_t first = p->o->answers ? 2 : 0; /* whose labels are not known has no masks either */
  for (size_t k = first; k < sizeof notes / sizeof *notes; k++)
    write_in(p, GAP, y + SPACE + (k - first) * ROW, room, PALE, notes[k]);
}

/* ---- The whole ---- */

static void draw(struct picture *p, double *share)
{
  canvas_fill(&p->canvas, 0, 0, p->canvas.width, p->canvas.height, WHITE);
  size_t y = draw_means(p, draw_headings(p, draw_title(p, GAP)), share);
  for (size_t i = 0; i < p->n; i++) {
    draw_example(p, i, left_of(p, i % p->across), y);
    if (i % p->across + 1 == p->across || i + 1 == p->n) y += p->row;
  }
  draw_legend(p, y);
}

r4_status r4_heat_picture(const r4_subject *subject, size_t subjects, const r4_data *d,
                          const r4_heat_options *options, const char *file, double *share, r4_error *e)
{
  NEEDS(subject, "a subject", R4_E_ARGUMENT);
  NEEDS(options, "options", R4_E_ARGUMENT);
  NEEDS(d, "data", R4_E_ARGUMENT);
  r4_error own = {0};
  if (!e) e = &own;
  r4_status s = check(d, subjects, options, e);
  if (s) return s;
  struct picture p = {.d = d, .o = options, .methods = options->methods, .subjects = subjects};
  s = prepare(&p, e);
  if (!s) s = compute(&p, subject, e);
  if (!s) draw(&p, share);
  if (!s) s = image_write(&p.canvas, file, e);
  discard(&p);
  return s;
}
