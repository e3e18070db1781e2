/* Families of regions from text, and their masks. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "certify/cover.h"

enum { DIGITS = 9, USUAL_MASKS = 6 };

struct cover_kind {
  const char *name, *expected;
  bool texts;
  /* Reads what is behind the colon; false: it is not that. */
  bool (*read)(r4_cover *c, const char *text);
  r4_status (*fit)(r4_cover *c, const char *family, r4_error *e);
  struct cover_hidden (*hidden)(const r4_cover *c, size_t k, size_t length);
};

bool cover_is_of_texts(const r4_cover *c)
{
  return c->kind->texts;
}

struct cover_hidden cover_hidden(const r4_cover *c, size_t k, size_t length)
{
  return c->kind->hidden(c, k, length);
}

/* ---- Text ---- */

/* A whole number of at most 9 digits. */
static bool read_whole(const char **text, size_t *to)
{
  size_t n = strspn(*text, "0123456789");
  if (!n || n > DIGITS) return false;
  *to = 0;
  for (size_t k = 0; k < n; k++) *to = 10 * *to + (size_t)((*text)[k] - '0');
  *text += n;
  return true;
}

/* ceil(share side), where the share is digits / ones: exact, as no decimal is a float. */
static size_t ceil_share(size_t digits, size_t ones, size_t side)
{
  return (digits * side + ones - 1) / ones;
}

/* A decimal above 0 and below 1/2: what it is of both sides, rounded up. */
static bool read_share(r4_cover *c, const char *text)
{
  size_t before = 0, digits = 0, ones = 1;
  if (!read_whole(&text, &before) || before || *text++ != '.') return false;
  const char *first = text;
  if (!read_whole(&text, &digits) || *text) return false;
  for (; first < text; first++) ones *= 10;
  c->strip[0] = ceil_share(digits, ones, c->height);
  c->strip[1] = ceil_share(digits, ones, c->width);
  return digits > 0 && 2 * digits < ones;
}

/* A number, and maybe another one behind a comma. */
static bool read_side(r4_cover *c, const char *text)
{
  c->k = USUAL_MASKS;
  if (!read_whole(&text, &c->side) || !c->side) return false;
  if (*text == ',' && (text++, !read_whole(&text, &c->k))) return false;
  return !*text && c->k >= 2 && c->k <= COVER_MOST;
}

/* ---- Axes ---- */

static struct cover_axis axis_of(size_t n, size_t p, size_t k)
{
  if (p > n) p = n;
  size_t s = (n - p + k) / k, m = p + s - 1 < n ? p + s - 1 : n; /* ceil((n - p + 1) / k) */
  return (struct cover_axis){.n = n, .width = m, .stride = s, .corners = (n - m + s - 1) / s + 1};
}

static size_t corner(const struct cover_axis *a, size_t j)
{
  return j + 1 < a->corners ? j * a->stride : a->n - a->width;
}

/* ---- Edges and frame ---- */

static r4_status fit_strips(r4_cover *c, const char *family, r4_error *e)
{
  for (int k = 0; k < 2; k++) {
    size_t side = k ? c->width : c->height;
    if (2 * c->strip[k] >= side)
      return r4_fail(e, R4_E_ARGUMENT,
                     "cover %.60s: strips of %zu pixels at two edges leave nothing of a side of %zu", family,
                     c->strip[k], side);
  }
  return R4_OK;
}

static r4_status fit_edges(r4_cover *c, const char *family, r4_error *e)
{
  c->masks = 4;
  snprintf(c->about, sizeof c->about, "any one edge strip of at most %.20s of the side",
           strchr(family, ':') + 1);
  return fit_strips(c, family, e);
}

static r4_status fit_frame(r4_cover *c, const char *family, r4_error *e)
{
  c->masks = 1;
  snprintf(c->about, sizeof c->about, "the outer frame of %.20s of the side", strchr(family, ':') + 1);
  return fit_strips(c, family, e);
}

/* Above, below, on the left, on the right. */
static struct cover_hidden edge(const r4_cover *c, size_t k, size_t length)
{
  (void)length;
  size_t rows = k < 2 ? c->strip[0] : c->height, columns = k < 2 ? c->width : c->strip[1];
  return (struct cover_hidden){.top = k == 1 ? c->height - rows : 0,
                               .left = k == 3 ? c->width - columns : 0,
                               .height = rows,
                               .width = columns};
}

static struct cover_hidden frame(const r4_cover *c, size_t k, size_t length)
{
  (void)k;
  (void)length;
  return (struct cover_hidden){.top = c->strip[0],
                               .left = c->strip[1],
                               .height = c->height - 2 * c->strip[0],
                               .width = c->width - 2 * c->strip[1],
                               .outside = true};
}

/* ---- Squares ---- */

/* Two masks or more along an axis hide less than all of it: with q = n - p + 1 >= 2 and k >= 2, s = ceil(q / k) < q,
 * so that p + s - 1 < n. Two squares of which none goes from edge to edge leave some corner. */
static r4_status fit_square(r4_cover *c, const char *family, r4_error *e)
{
  size_t shorter = c->height < c->width ? c->height : c->width;
  if (c->side >= shorter)
    return r4_fail(e, R4_E_ARGUMENT,
                   "cover %.60s: images are %zu x %zu pixels, expected a square of at most %zu", family,
                   c->width, c->height, shorter - 1);
  c->down = axis_of(c->height, c->side, c->k);
  c->across = axis_of(c->width, c->side, c->k);
  c->masks = c->down.corners * c->across.corners;
  snprintf(c->about, sizeof c->about, "any one square of at most %zu x %zu pixels", c->side, c->side);
  return R4_OK;
}

static struct cover_hidden square(const r4_cover *c, size_t k, size_t length)
{
  (void)length;
  return (struct cover_hidden){.top = corner(&c->down, k / c->across.corners),
                               .left = corner(&c->across, k % c->across.corners),
                               .height = c->down.width,
                               .width = c->across.width};
}

/* ---- Tokens ---- */

/* The longest text has the most masks. A shorter one repeats its last: a mask more than once changes nothing. */
static r4_status fit_tokens(r4_cover *c, const char *family, r4_error *e)
{
  if (c->side >= c->width)
    return r4_fail(e, R4_E_ARGUMENT,
                   "cover %.60s: texts have up to %zu tokens, expected a window of at most %zu", family,
                   c->width, c->width - 1);
  c->across = axis_of(c->width, c->side, c->k);
  c->masks = c->k;
  if (2 * c->across.width >= c->width)
    return r4_fail(e, R4_E_ARGUMENT,
                   "cover %.60s: two masks of %zu tokens leave nothing of the longest texts, of %zu", family,
                   c->across.width, c->width);
  snprintf(c->about, sizeof c->about, "any one window of at most %zu token%s", c->side,
           c->side == 1 ? "" : "s");
  return R4_OK;
}

static struct cover_hidden window(const r4_cover *c, size_t k, size_t length)
{
  struct cover_axis a = axis_of(length, c->side, c->k);
  return (struct cover_hidden){
    .left = corner(&a, k < a.corners ? k : a.corners - 1), .height = 1, .width = a.width};
}

/* ---- Making ---- */

static const struct cover_kind kinds[] = {
  {"edges", "edges:F with F above 0 and below 0.5, such as edges:0.33", false, read_share, fit_edges, edge},
  {"square", "square:P or square:P,K with P pixels a side and K from 2 to 16, such as square:32", false, read_side,
   fit_square, square},
  {"frame", "frame:F with F above 0 and below 0.5, such as frame:0.25", false, read_share, fit_frame, frame},
  {"tokens", "tokens:N or tokens:N,K with N tokens and K from 2 to 16, such as tokens:3", true, read_side,
   fit_tokens, window},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

static r4_status read(r4_cover *c, const char *family, r4_shape s, r4_error *e)
{
  size_t n = strcspn(family, ":");
  for (const struct cover_kind *k = kinds; k < kinds + KINDS && !c->kind; k++)
    if (strlen(k->name) == n && !strncmp(k->name, family, n)) c->kind = k;
  if (!c->kind)
    return r4_fail(e, R4_E_ARGUMENT, "cover is \"%.60s\", expected edges:F, square:P, frame:F or tokens:N",
                   family);
  if (s.rank != (c->kind->texts ? 1 : 3))
    return r4_fail(e, R4_E_ARGUMENT, "cover %.60s is for %s, and examples are %s", family,
                   c->kind->texts ? "texts" : "images", s.rank == 3 ? "images" : "not");
  if (!family[n] || !c->kind->read(c, family + n + 1))
    return r4_fail(e, R4_E_ARGUMENT, "cover is \"%.60s\", expected %s", family, c->kind->expected);
  return c->kind->fit(c, family, e);
}

r4_cover *r4_cover_new(const char *family, r4_shape example, r4_error *e)
{
  NEEDS(family, "a family", NULL);
  r4_error own = {0};
  if (!e) e = &own;
  r4_cover *c = mem_new(1, sizeof *c, "a cover", e);
  if (!c) return NULL;
  bool image = example.rank == 3;
  *c = (r4_cover){.height = image ? (size_t)example.dim[0] : 1,
                  .width = (size_t)example.dim[image],
                  .channels = image ? (size_t)example.dim[2] : 1};
  if (!read(c, family, example, e)) return c;
  r4_mem_free(c);
  return NULL;
}

void r4_cover_free(r4_cover *c)
{
  r4_mem_free(c);
}

size_t r4_cover_masks(const r4_cover *c)
{
  return c->masks;
}

size_t r4_cover_constants(const r4_cover *c)
{
  return c->channels;
}

const char *r4_cover_about(const r4_cover *c)
{
  return c->about;
}

/* The constant is put there, not mixed in: nothing of what was there is left, be it infinite. */
void r4_cover_put(const r4_cover *c, size_t k, size_t length, const float *constant, float *x)
{
  const struct cover_hidden h = cover_hidden(c, k, length);
  for (size_t row = 0; row < c->height; row++)
    for (size_t column = 0; column < c->width; column++) {
      bool inside = row >= h.top && row < h.top + h.height && column >= h.left && column < h.left + h.width;
      float *pixel = x + (row * c->width + column) * c->channels;
      if (inside != h.outside) memcpy(pixel, constant, c->channels * sizeof *pixel);
    }
}
