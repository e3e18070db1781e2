/* COCO: one JSON object with
 *
 *     images       [{"id": 1, "file_name": "a.jpg", "width": 640, "height": 480}, ...]
 *     annotations  [{"image_id": 1, "category_id": 7, "segmentation": ..., "bbox": [x, y, width, height]}, ...]
 *     categories   [{"id": 7, "name": "ruler"}, ...]
 *
 * where a segmentation is a list of polygons [x, y, x, y, ...], or runs of pixels, column by column, as numbers or
 * packed into a string; where it is missing or empty the box counts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/annotation/coco_runs.h"
#include "data/annotation/mask_source.h"
#include "picture/image.h"

enum { WHERE = 400 };

struct reader {
  const char *file;
  struct categories *wanted;
  struct annotations *to;
  struct id *image, *category; /* sorted */
  size_t images, categories;
  double *number; /* of the list in hand */
  size_t numbers, room;
  r4_error *e;
};

/* A number that the file gives something, and what it means: the number of an image, whether a category is wanted. */
struct id {
  int64_t id;
  size_t at;
};

static bool matches(const struct mask_text *t)
{
  return js_kind(t->json) == JS_OBJECT && js_get(t->json, "images") && js_get(t->json, "annotations");
}

static r4_status bad(const struct reader *r, const char *where, const char *what)
{
  return r4_fail(r->e, R4_E_PARSE, "%s: %s: %s", r->file, where, what);
}

/* ---- Ids ---- */

static int by_id(const void *a, const void *b)
{
  const struct id *p = a, *q = b;
  return p->id != q->id ? (p->id < q->id ? -1 : 1) : (p->at > q->at) - (p->at < q->at);
}

static const struct id *find_id(const struct id *list, size_t n, int64_t id)
{
  size_t low = 0, high = n;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (list[middle].id < id)
      low = middle + 1;
    else
      high = middle;
  }
  return low < n && list[low].id == id ? list + low : NULL;
}

/* Sorts; an id twice is an error. */
static r4_status sort_ids(const struct reader *r, struct id *list, size_t n, const char *what)
{
  char where[80];
  if (n) qsort(list, n, sizeof *list, by_id);
  for (size_t k = 1; k < n; k++)
    if (list[k].id == list[k - 1].id) {
      snprintf(where, sizeof where, "%s: id %lld", what, (long long)list[k].id);
      return bad(r, where, "stands twice");
    }
  return R4_OK;
}

static r4_status new_ids(const struct reader *r, const struct js *list, const char *what, struct id **to)
{
  if (list && js_kind(list) != JS_LIST) return bad(r, what, "expected a list");
  *to = mem_new(js_size(list) + 1, sizeof **to, r->file, r->e);
  return *to ? R4_OK : R4_E_MEMORY;
}

/* ---- Images and categories ---- */

/* 0 if there is none. */
static bool read_side(const struct js *v, size_t *to)
{
  double side = 0;
  *to = 0;
  if (!v || js_kind(v) == JS_NULL) return true;
  if (!js_number(v, &side) || !(side >= 1 && side <= IMAGE_MAX_PIXELS)) return false;
  *to = (size_t)side;
  return true;
}

static r4_status read_image(struct reader *r, const struct js *v, size_t k)
{
  char where[80];
  size_t height, width;
  const char *name = js_text(js_get(v, "file_name"));
  struct id *to = r->image + r->images;
  snprintf(where, sizeof where, "images[%zu]", k);
  if (!js_whole(js_get(v, "id"), &to->id)) return bad(r, where, "has no id, expected a whole number");
  if (!name || !*name) return bad(r, where, "has no file_name");
  if (!read_side(js_get(v, "height"), &height) || !read_side(js_get(v, "width"), &width) || !height != !width)
    return bad(r, where, "expected a width and a height in pixels, or none of them");
  r4_status s = annotations_add_image(r->to, name, NULL, height, width, &to->at, r->e);
  if (!s) r->images++;
  return s;
}

static r4_status read_images(struct reader *r, const struct js *list)
{
  r4_status s = new_ids(r, list, "images", &r->image);
  for (const struct js *v = NULL; !s && js_size(list) && (v = js_next(list, v));)
    s = read_image(r, v, r->images);
  return s ? s : sort_ids(r, r->image, r->images, "images");
}

/* A category is wanted by its name or by its id. */
static r4_status read_category(struct reader *r, const struct js *v, size_t k)
{
  char where[80], number[24];
  const char *name = js_text(js_get(v, "name"));
  struct id *to = r->category + r->categories;
  snprintf(where, sizeof where, "categories[%zu]", k);
  if (!js_whole(js_get(v, "id"), &to->id) || !name) return bad(r, where, "expected an id and a name");
  snprintf(number, sizeof number, "%lld", (long long)to->id);
  bool by_name = categories_want(r->wanted, name), by_number = categories_want_also(r->wanted, number);
  to->at = by_name || by_number;
  r->categories++;
  return R4_OK;
}

static r4_status read_categories(struct reader *r, const struct js *list)
{
  r4_status s = new_ids(r, list, "categories", &r->category);
  for (const struct js *v = NULL; !s && js_size(list) && (v = js_next(list, v));)
    s = read_category(r, v, r->categories);
  return s ? s : sort_ids(r, r->category, r->categories, "categories");
}

/* ---- Annotations ---- */

static r4_status read_numbers(struct reader *r, const struct js *list, const char *where)
{
  size_t n = js_size(list);
  if (mem_more(&r->number, &r->room, n, sizeof *r->number, r->file, r->e)) return R4_E_MEMORY;
  r->numbers = 0;
  for (const struct js *v = NULL; n && (v = js_next(list, v));)
    if (!js_number(v, &r->number[r->numbers++])) return bad(r, where, "expected a list of numbers");
  return R4_OK;
}

static r4_status read_polygons(struct reader *r, const struct js *list, size_t image, const char *where)
{
  char whole[WHERE];
  snprintf(whole, sizeof whole, "%.200s: %s", r->file, where);
  for (const struct js *v = NULL; (v = js_next(list, v));) {
    if (js_kind(v) != JS_LIST)
      return bad(r, where, "segmentation: expected lists of numbers in a list, one for a polygon");
    r4_status s = read_numbers(r, v, where);
    if (!s && r->numbers % 2) s = bad(r, where, "segmentation: an odd number of coordinates");
    if (!s) s = annotations_add_polygon(r->to, image, r->numbers / 2, r->number, whole, r->e);
    if (s) return s;
  }
  return R4_OK;
}

static r4_status read_box(struct reader *r, const struct js *list, size_t image, const char *where)
{
  char whole[WHERE];
  snprintf(whole, sizeof whole, "%.200s: %s", r->file, where);
  if (js_kind(list) != JS_LIST || js_size(list) != 4)
    return bad(r, where, "has no segmentation, and no bbox of four numbers");
  r4_status s = read_numbers(r, list, where);
  const double *v = r->number;
  return s ? s : annotations_add_box(r->to, image, v[0], v[1], v[2], v[3], whole, r->e);
}

static r4_status read_shape(struct reader *r, const struct js *v, size_t image, const char *where)
{
  const struct js *shape = js_get(v, "segmentation");
  char whole[WHERE];
  if (js_kind(shape) == JS_LIST && js_size(shape)) return read_polygons(r, shape, image, where);
  if (js_kind(shape) != JS_OBJECT) return read_box(r, js_get(v, "bbox"), image, where);
  snprintf(whole, sizeof whole, "%.200s: %s", r->file, where);
  return coco_read_runs(shape, image, whole, r->to, r->e);
}

static r4_status read_annotation(struct reader *r, const struct js *v, size_t k)
{
  char where[80];
  int64_t image_id, category_id;
  snprintf(where, sizeof where, "annotations[%zu]", k);
  if (!js_whole(js_get(v, "image_id"), &image_id))
    return bad(r, where, "has no image_id, expected a whole number");
  const struct id *image = find_id(r->image, r->images, image_id), *category = NULL;
  if (!image) return bad(r, where, "its image_id is that of no image");
  bool has = js_whole(js_get(v, "category_id"), &category_id);
  if (has) category = find_id(r->category, r->categories, category_id);
  if (has && r->categories && !category) return bad(r, where, "its category_id is that of no category");
  if (category ? !category->at : r->wanted->n > 0) return R4_OK;
  return read_shape(r, v, image->at, where);
}

static r4_status read_annotations(struct reader *r, const struct js *list)
{
  if (js_kind(list) != JS_LIST) return bad(r, "annotations", "expected a list");
  size_t k = 0;
  r4_status s = R4_OK;
  for (const struct js *v = NULL; !s && js_size(list) && (v = js_next(list, v)); k++)
    s = read_annotation(r, v, k);
  return s;
}

static r4_status read(const struct mask_text *t, struct categories *wanted, struct annotations *to,
                      r4_error *e)
{
  struct reader r = {.file = t->file, .wanted = wanted, .to = to, .e = e};
  r4_status s = read_images(&r, js_get(t->json, "images"));
  if (!s) s = read_categories(&r, js_get(t->json, "categories"));
  if (!s) s = read_annotations(&r, js_get(t->json, "annotations"));
  r4_mem_free(r.image);
  r4_mem_free(r.category);
  r4_mem_free(r.number);
  return s;
}

const struct mask_source coco_source = {"COCO", "JSON with images, annotations and categories",
                                        "annotations.json", matches, read};
