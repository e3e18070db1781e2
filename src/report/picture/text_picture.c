/* Texts coloured by what a net makes of each token, as an SVG file: a row for each text and method, a column for each
 * net, so that before and after stand side by side. Letters are of one width, so that lines can be broken without
 * knowing the font. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "report/html.h"
#include "report/picture/heat.h"
#include "report/picture/text_tokens.h"

enum { LETTERS = 64 }; /* of a line */
static const double SIZE = 13, ADVANCE = 7.9, LINE = 20, MARGIN = 16;
static const double HEADING = 64; /* of a text: what the net says, and what is drawn */
static const double FULL = 0.55; /* of the scale of colours: letters must stay readable on them */

struct picture {
  const r4_subject *subject;
  size_t subjects;
  const r4_data *d;
  const r4_heat_options *o;
  size_t tokens;
  float *a;           /* [methods, subjects, examples, tokens] */
  int32_t *predicted; /* [subjects, examples] */
  float *mask, *ids, *work;
  double *sum, y;
  size_t *counted;
  struct html svg;
};

static const float *values(const struct picture *p, size_t method, size_t who, size_t i)
{
  return p->a + ((method * p->subjects + who) * r4_data_count(p->d) + i) * p->tokens;
}

static double column_width(void)
{
  return LETTERS * ADVANCE + 2 * MARGIN;
}

/* ---- Tokens ---- */

static size_t letters(const char *s)
{
  size_t n = 0;
  for (; *s; s++) n += ((unsigned char)*s & 0xc0) != 0x80;
  return n;
}

static void add_token(struct picture *p, double x, double y, const char *piece, struct colour c, bool masked)
{
  double width = (double)letters(piece) * ADVANCE;
  html_add(&p->svg, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#", x, y - SIZE, width,
           LINE - 3);
  char hex[8];
  snprintf(hex, sizeof hex, "%02x%02x%02x", c.rgb[0], c.rgb[1], c.rgb[2]);
  html_add(&p->svg, "%s\"/><text x=\"%.1f\" y=\"%.1f\">%s</text>", hex, x, y, piece);
  if (masked)
    html_add(&p->svg, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"2.5\" class=\"m\"/>", x, y + 3.5,
             width);
  html_add(&p->svg, "\n");
}

/* The text in lines from y on; returns where the next could stand. */
static double add_text(struct picture *p, size_t i, const float *a, double scale, bool is_width, double left,
                       double y)
{
  size_t length = r4_data_length(p->d, i), first = tokens_first(p->mask, length), at = 0;
  size_t end = first + TOKENS_SHOWN < length ? first + TOKENS_SHOWN : length;
  if (first)
    html_add(&p->svg, "<text x=\"%.1f\" y=\"%.1f\" class=\"s\">%zu tokens before ..</text>\n", left, y,
             first);
  if (first) y += LINE;
  for (size_t k = first; k < end; k++) {
    char number[TOKEN_NUMBER];
    bool apart;
    const char *piece = token_piece(p->d, (size_t)p->ids[k], number, &apart);
    size_t wide = letters(piece), blank = apart && at > 0;
    if (at && at + blank + wide > LETTERS) at = 0, blank = 0, y += LINE;
    double v = scale > 0 ? FULL * fmax(-1, fmin(1, (double)a[k] / scale)) : 0;
    struct colour c = is_width ? heat_width(v) : heat_signed(v);
    add_token(p, left + (double)(at + blank) * ADVANCE, y, piece, c, token_is_masked(p->mask, k));
    at += blank + wide;
  }
  y += LINE;
  if (end == length) return y;
  html_add(&p->svg, "<text x=\"%.1f\" y=\"%.1f\" class=\"s\">.. and %zu tokens more</text>\n", left, y,
           length - end);
  return y + LINE;
}

/* ---- Rows ---- */

static bool is_width(const char *method)
{
  for (size_t k = 0; k < r4_attribution_count(); k++) {
    r4_attribution_info i = r4_attribution_describe(k);
    if (!strcmp(i.name, method)) return i.width;
  }
  return false;
}

static void add_heading(struct picture *p, size_t i, size_t method, size_t who, double left, double scale)
{
  const float *a = values(p, method, who, i);
  int32_t label = r4_data_example(p->d, i).label, said = p->predicted[who * r4_data_count(p->d) + i];
  double share = r4_mask_share(p->tokens, a, p->mask);
  if (isfinite(share)) p->sum[method * p->subjects + who] += share, p->counted[method * p->subjects + who]++;
  html_add(&p->svg, "<text x=\"%.1f\" y=\"%.1f\" class=\"h\">%s</text>", left, p->y, p->subject[who].name);
  html_add(&p->svg, "<text x=\"%.1f\" y=\"%.1f\" class=\"s\">predicts %s%s</text>", left, p->y + LINE,
           r4_data_class_name(p->d, (size_t)said),
           p->o->answers   ? ""
           : said == label ? " (right)"
                           : " (wrong)");
  html_add(&p->svg, "<text x=\"%.1f\" y=\"%.1f\" class=\"s\">%s: ", left, p->y + 1.9 * LINE,
           p->o->method[method]);
  html_add(&p->svg, "share of masked tokens: %s%s; full colour: %s</text>\n",
           isfinite(share) ? figure_share(share).s : "none", isfinite(share) ? " %" : "",
           figure_real(scale, 3).s);
}

static void add_row(struct picture *p, size_t i, size_t method)
{
  size_t n = r4_data_count(p->d);
  double next = p->y, common = 0;
  const bool width = is_width(p->o->method[method]);
  r4_data_values(p->d, i, p->ids);
  if (!r4_data_mask(p->d, i, p->mask)) memset(p->mask, 0, p->tokens * sizeof *p->mask);
  if (p->o->common_scale)
    for (size_t k = 0; k < p->subjects; k++)
      common = fmax(common, heat_scale(p->tokens, values(p, method, k, i), p->work));
  for (size_t k = 0; k < p->subjects && n; k++) {
    const float *a = values(p, method, k, i);
    double left = MARGIN + (double)k * column_width();
    double scale = p->o->common_scale ? common : heat_scale(p->tokens, a, p->work);
    add_heading(p, i, method, k, left, scale);
    double end = add_text(p, i, a, scale, width, left, p->y + HEADING);
    if (end > next) next = end;
  }
  p->y = next + LINE / 2;
}

static void add_example(struct picture *p, size_t i)
{
  r4_example one = r4_data_example(p->d, i);
  const char *name = p->o->answers ? one.id ? one.id : one.file : r4_data_class_name(p->d, (size_t)one.label);
  html_add(&p->svg, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"1\" fill=\"#999\"/>\n", MARGIN, p->y,
           (double)p->subjects * column_width() - MARGIN);
  p->y += LINE * 1.2;
  html_add(&p->svg, "<text x=\"%.1f\" y=\"%.1f\" class=\"h\">%s</text>\n", MARGIN, p->y,
           name ? name : "a text");
  p->y += LINE * 1.3;
  for (size_t m = 0; m < p->o->methods; m++) add_row(p, i, m);
}

/* ---- The picture ---- */

static r4_status compute(struct picture *p, r4_error *e)
{
  size_t n = r4_data_count(p->d);
  r4_status s = R4_OK;
  for (size_t k = 0; k < p->subjects && !s; k++) {
    s = heat_predict(&p->subject[k], p->d, p->predicted + k * n, e);
    for (size_t m = 0; m < p->o->methods && !s; m++)
      s = r4_attribute(p->o->method[m], p->subject[k].net, p->subject[k].weights, p->d, &p->o->attribution,
                       (float *)values(p, m, k, 0), e);
  }
  return s;
}

static void *room(size_t n, size_t size, r4_status *s, r4_error *e)
{
  void *p = *s ? NULL : mem_new(n ? n : 1, size, "a picture of texts", e);
  if (!p && !*s) *s = R4_E_MEMORY;
  return p;
}

static r4_status make_room(struct picture *p, r4_error *e)
{
  size_t n = r4_data_count(p->d), maps = p->o->methods * p->subjects;
  r4_status s = R4_OK;
  p->a = room(maps * n * p->tokens, sizeof *p->a, &s, e);
  p->predicted = room(p->subjects * n, sizeof *p->predicted, &s, e);
  p->mask = room(p->tokens, sizeof *p->mask, &s, e);
  p->ids = room(p->tokens, sizeof *p->ids, &s, e);
  p->work = room(p->tokens, sizeof *p->work, &s, e);
  p->sum = room(maps, sizeof *p->sum, &s, e);
  p->counted = room(maps, sizeof *p->counted, &s, e);
  return s;
}

/* The height is known when all is written: the rows come first, and their frame around them. */
static r4_status write(struct picture *p, const char *file, r4_error *e)
{
  struct html head = {0};
  p->y = MARGIN + LINE;
  html_add(&p->svg, "<text x=\"%.1f\" y=\"%.1f\" class=\"t\">%s</text>\n", MARGIN, p->y,
           p->o->title ? p->o->title : "");
  p->y += LINE;
  html_add(
    &p->svg,
    "<text x=\"%.1f\" y=\"%.1f\" class=\"s\">red raises what is explained, blue lowers it; masked tokens are "
    "underlined</text>\n",
    MARGIN, p->y);
  p->y += LINE;
  for (size_t i = 0; i < r4_data_count(p->d); i++) add_example(p, i);
  double width = (double)p->subjects * column_width() + MARGIN, height = p->y + MARGIN;
  html_add(
    &head,
    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
    "font-family=\"DejaVu Sans Mono, Liberation Mono, monospace\" font-size=\"%.0f\" "
    "xml:space=\"preserve\">\n",
    width, height, width, height, SIZE);
  html_copy(&head,
            "<style>.t{font-size:18px}.h{font-weight:bold}.s{fill:#555;font-size:11px}.m{fill:#000}</style>\n"
            "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
  char *first = text_done(&head.text, file, e), *rest = text_done(&p->svg.text, file, e);
  struct text all = {0};
  if (first && rest) text_add(&all, "%s%s</svg>\n", first, rest);
  r4_status s = first && rest ? file_write_text(file, &all, e) : R4_E_MEMORY;
  r4_string_free(first);
  r4_string_free(rest);
  return s;
}

r4_status r4_text_picture(const r4_subject *subject, size_t subjects, const r4_data *d,
                          const r4_heat_options *options, const char *file, double *share, r4_error *e)
{
  NEEDS(subject, "a subject", R4_E_ARGUMENT);
  NEEDS(d, "data", R4_E_ARGUMENT);
  NEEDS(options, "options", R4_E_ARGUMENT);
  NEEDS(file, "a file", R4_E_ARGUMENT);
  r4_error own = {0};
  if (!e) e = &own;
  if (!r4_data_vocabulary(d)) return r4_fail(e, R4_E_ARGUMENT, "the examples are not texts");
  struct picture p = {.subject = subject,
                      .subjects = subjects,
                      .d = d,
                      .o = options,
                      .tokens = (size_t)r4_shape_count(r4_data_shape(d))};
  r4_status s = make_room(&p, e);
  if (!s) s = compute(&p, e);
  if (!s) s = write(&p, file, e);
  for (size_t k = 0; !s && share && k < options->methods * subjects; k++)
    share[k] = p.counted[k] ? p.sum[k] / (double)p.counted[k] : NAN;
  void *const memory[] = {p.a, p.predicted, p.mask, p.ids, p.work, p.sum, p.counted};
  for (size_t k = 0; k < sizeof memory / sizeof *memory; k++) r4_mem_free(memory[k]);
  return s;
}
