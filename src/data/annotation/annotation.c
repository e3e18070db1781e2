#include "data/annotation/annotation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

struct annotations *annotations_new(const char *file, r4_error *e)
{
  struct annotations *a = mem_new(1, sizeof *a, file, e);
  if (a) a->file = mem_copy(file, e);
  if (a && a->file) return a;
  annotations_free(a);
  return NULL;
}

void annotations_free(struct annotations *a)
{
  if (!a) return;
  for (size_t k = 0; k < a->images; k++) {
    r4_mem_free(a->image[k].name);
    r4_mem_free(a->image[k].alias);
  }
  void *const parts[] = {a->file, a->image, a->outline, a->point, a->run, a->key, a};
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) r4_mem_free(parts[k]);
}

/* ---- Filling ---- */

r4_status annotations_add_image(struct annotations *a, const char *name, const char *alias, size_t height,
                                size_t width, size_t *image, r4_error *e)
{
  if (mem_more(&a->image, &a->image_room, a->images + 1, sizeof *a->image, a->file, e)) return R4_E_MEMORY;
  struct annotated *to = &a->image[a->images];
  *to = (struct annotated){mem_copy(name, e), alias ? mem_copy(alias, e) : NULL, height, width, 0, 0, false};
  if (!to->name || (alias && !to->alias)) {
    r4_mem_free(to->name);
    r4_mem_free(to->alias);
    return R4_E_MEMORY;
  }
  *image = a->images++;
  return R4_OK;
}

static r4_status add_outline(struct annotations *a, struct outline o, r4_error *e)
{
  if (mem_more(&a->outline, &a->outline_room, a->outlines + 1, sizeof o, a->file, e)) return R4_E_MEMORY;
  a->outline[a->outlines++] = o;
  return R4_OK;
}

r4_status annotations_add_polygon(struct annotations *a, size_t image, size_t n, const double *point,
                                  const char *where, r4_error *e)
{
  enum { FAR = 1000000000 }; /* beyond any image */
  if (n < 3) return r4_fail(e, R4_E_PARSE, "%s: a polygon of %zu points, expected 3 or more", where, n);
  for (size_t k = 0; k < 2 * n; k++)
    if (!(fabs(point[k]) <= FAR))
      return r4_fail(e, R4_E_PARSE, "%s: a coordinate of %g, expected one in the image", where, point[k]);
  if (mem_more(&a->point, &a->point_room, 2 * a->points + 2 * n, sizeof *point, a->file, e))
    return R4_E_MEMORY;
  memcpy(a->point + 2 * a->points, point, 2 * n * sizeof *point);
  r4_status s = add_outline(a, (struct outline){.image = image, .first = a->points, .n = n}, e);
  if (!s) a->points += n;
  return s;
}

r4_status annotations_add_box(struct annotations *a, size_t image, double x, double y, double width,
                              double height, const char *where, r4_error *e)
{
  if (!(width > 0 && height > 0))
    return r4_fail(e, R4_E_PARSE, "%s: a box of %g x %g, expected a width and a height above 0", where, width,
                   height);
  const double corner[] = {x, y, x + width, y, x + width, y + height, x, y + height};
  return annotations_add_polygon(a, image, 4, corner, where, e);
}

r4_status annotations_add_runs(struct annotations *a, size_t image, const struct runs *runs,
                               const char *where, r4_error *e)
{
  uint64_t pixels = (uint64_t)runs->height * runs->width, sum = 0;
  for (size_t k = 0; k < runs->n && sum <= pixels; k++) sum += runs->run[k];
  if (sum != pixels)
    return r4_fail(e, R4_E_PARSE, "%s: runs of %s%llu pixels, expected %u x %u", where,
                   sum > pixels ? "at least " : "", (unsigned long long)sum, runs->width, runs->height);
  if (mem_more(&a->run, &a->run_room, a->runs + runs->n, sizeof *a->run, a->file, e)) return R4_E_MEMORY;
  if (runs->n) memcpy(a->run + a->runs, runs->run, runs->n * sizeof *a->run);
  struct outline o = {image, a->runs, runs->n, true, runs->by_column, runs->height, runs->width};
  r4_status s = add_outline(a, o, e);
  if (!s) a->runs += runs->n;
  return s;
}

/* ---- Joining ---- */

static int by_name(const void *p, const void *q)
{
  const struct annotated *a = p, *b = q;
  int order = strcmp(a->name, b->name);
  return order ? order : (a->first > b->first) - (a->first < b->first);
}

/* What the image b says about a, which has the same name. */
static r4_status join(const struct annotations *all, struct annotated *a, struct annotated *b, r4_error *e)
{
  if (!a->height) a->height = b->height, a->width = b->width;
  bool agree = !b->height || (a->height == b->height && a->width == b->width);
  r4_status s =
    agree ? R4_OK
          : r4_fail(e, R4_E_PARSE, "%s: %s is %zu x %zu pixels once, and %zu x %zu another time",
                    all->file, a->name, a->width, a->height, b->width, b->height);
  r4_mem_free(b->name);
  r4_mem_free(b->alias);
  *b = (struct annotated){0};
  return s;
}

/* Images of one name become one; number[k] is the new number of image k. */
static r4_status join_images(struct annotations *a, size_t *number, r4_error *e)
{
  for (size_t k = 0; k < a->images; k++) a->image[k].first = k;
  if (a->images) qsort(a->image, a->images, sizeof *a->image, by_name);
  size_t n = 0;
  r4_status s = R4_OK;
  for (size_t k = 0; k < a->images; k++) {
    struct annotated *last = n ? a->image + n - 1 : NULL, *one = a->image + k;
    bool same = last && !strcmp(last->name, one->name);
    number[one->first] = same ? n - 1 : n;
    if (same && !s)
      s = join(a, last, one, e);
    else if (same)
      join(a, last, one, NULL);
    else if (n++ < k)
      a->image[n - 1] = *one, *one = (struct annotated){0};
  }
  a->images = n;
  return s;
}

/* Outlines of one image stand together, in the order of the file. */
static r4_status gather_outlines(struct annotations *a, const size_t *number, r4_error *e)
{
  struct outline *sorted = mem_new(a->outlines ? a->outlines : 1, sizeof *sorted, a->file, e);
  if (!sorted) return R4_E_MEMORY;
  for (size_t k = 0; k < a->images; k++) a->image[k].n = 0;
  for (size_t k = 0; k < a->outlines; k++) {
    a->outline[k].image = number[a->outline[k].image];
    a->image[a->outline[k].image].n++;
  }
  for (size_t k = 0, first = 0; k < a->images; first += a->image[k++].n) a->image[k].first = first;
  for (size_t k = 0; k < a->outlines; k++) sorted[a->image[a->outline[k].image].first++] = a->outline[k];
  for (size_t k = 0; k < a->images; k++) a->image[k].first -= a->image[k].n;
  r4_mem_free(a->outline);
  a->outline = sorted;
  a->outline_room = a->outlines ? a->outlines : 1;
  return R4_OK;
}

/* ---- Names ---- */

enum { WHOLE, LAST_PART, ALIAS, RANKS };

static const char *last_part(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static int by_key(const void *p, const void *q)
{
  const struct annotation_key *a = p, *b = q;
  if (a->rank != b->rank) return a->rank - b->rank;
  int order = strcmp(a->text, b->text);
  return order ? order : (a->image > b->image) - (a->image < b->image);
}

static r4_status make_keys(struct annotations *a, r4_error *e)
{
  if (!(a->key = mem_new(a->images ? RANKS * a->images : 1, sizeof *a->key, a->file, e))) return R4_E_MEMORY;
  for (size_t k = 0; k < a->images; k++) {
    const char *const text[RANKS] = {a->image[k].name, last_part(a->image[k].name), a->image[k].alias};
    for (int rank = 0; rank < RANKS; rank++)
      if (text[rank]) a->key[a->keys++] = (struct annotation_key){rank, text[rank], k};
  }
  if (a->keys) qsort(a->key, a->keys, sizeof *a->key, by_key);
  return R4_OK;
}

r4_status annotations_finish(struct annotations *a, r4_error *e)
{
  size_t *number = mem_new(a->images ? a->images : 1, sizeof *number, a->file, e);
  r4_status s = number ? join_images(a, number, e) : R4_E_MEMORY;
  if (!s) s = gather_outlines(a, number, e);
  if (!s) s = make_keys(a, e);
  r4_mem_free(number);
  return s;
}

/* The first of the keys of a rank with this text; NULL if there is none. */
static const struct annotation_key *lookup(const struct annotations *a, int rank, const char *text)
{
  const struct annotation_key wanted = {rank, text, 0};
  size_t low = 0, high = a->keys;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (by_key(&a->key[middle], &wanted) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  bool found = low < a->keys && a->key[low].rank == rank && !strcmp(a->key[low].text, text);
  return found ? a->key + low : NULL;
}

r4_status annotations_find(struct annotations *a, const char *file, size_t *image, r4_error *e)
{
  static const char images[] = "images/";
  const char *inside = strncmp(file, images, strlen(images)) ? file : file + strlen(images);
  const struct annotation_key *key = lookup(a, WHOLE, file);
  *image = 0;
  if (!key) key = lookup(a, WHOLE, inside);
  for (int rank = LAST_PART; !key && rank < RANKS; rank++) {
    key = lookup(a, rank, last_part(file));
    const struct annotation_key *next = key ? key + 1 : NULL;
    if (next && next < a->key + a->keys && next->rank == rank && !strcmp(next->text, key->text))
      return r4_fail(e, R4_E_PARSE, "%s: %s may refer to its %s or its %s", a->file, file,
                     a->image[key->image].name, a->image[next->image].name);
  }
  if (!key) return R4_OK;
  struct annotated *found = a->image + key->image;
  if (found->used)
    return r4_fail(e, R4_E_PARSE, "%s: its %s would be %s, and another image of the folder as well", a->file,
                   found->name, file);
  found->used = true;
  *image = key->image + 1;
  return R4_OK;
}

/* ---- Drawing ---- */

/* Another size than the annotations have is another scale, if the shape is the same up to a pixel. */
static r4_status find_scale(const struct annotations *a, const struct annotated *of, size_t height,
                            size_t width, double scale[2], struct outline_report *report, r4_error *e)
{
  scale[0] = scale[1] = 1;
  if (!of->height || (of->height == height && of->width == width)) return R4_OK;
  report->scaled = !a->any_scale;
  scale[0] = (double)width / (double)of->width;
  scale[1] = (double)height / (double)of->height;
  double off = fabs(scale[0] - scale[1]) * (double)(of->width > of->height ? of->width : of->height);
  if (off <= 1) return R4_OK;
  return r4_fail(e, R4_E_PARSE,
                 "%s: %s is %zu x %zu pixels there, but %zu x %zu in the folder: another shape", a->file,
                 of->name, of->width, of->height, width, height);
}

r4_status annotations_draw(const struct annotations *a, size_t image, size_t height, size_t width,
                           uint8_t *mask, struct outline_report *report, r4_error *e)
{
  const struct annotated *of = a->image + image;
  double scale[2];
  r4_status s = find_scale(a, of, height, width, scale, report, e);
  for (size_t k = of->first; !s && k < of->first + of->n; k++) {
    const struct outline *o = a->outline + k;
    const struct runs runs = {o->height, o->width, o->by_column, o->n, o->is_runs ? a->run + o->first : NULL};
    s = o->is_runs ? outline_runs(&runs, height, width, mask, report, e)
                   : outline_polygon(o->n, a->point + 2 * o->first, scale, height, width, mask, report, e);
  }
  return s;
}
