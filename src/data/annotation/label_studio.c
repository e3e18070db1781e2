/* Label Studio, exported as "JSON": a list of tasks
 *
 *     {"data": {"image": "/data/upload/1/0a1b2c3d-a.png"}, "annotations": [{"result": [region, ...]}, ...]}
 *
 * A region has original_width, original_height and a value, in per cent of these: x, y, width, height (and rotation, in
 * degrees, clockwise around its first corner), or points [[x, y], ...], or the rle of a brush; and its labels.
 * Annotations of several people are united, and cancelled ones are left out. Results without a place in the image do
 * not count. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "data/annotation/label_studio_brush.h"
#include "data/annotation/mask_source.h"
#include "picture/image.h"

enum { WHERE = 400 };

struct reader {
  const char *file;
  struct categories *wanted;
  struct annotations *to;
  size_t image, height, width; /* of the task in hand; 0: no region has told it yet */
  char where[WHERE];
  r4_error *e;
};

static bool matches(const struct mask_text *t)
{
  return js_kind(t->json) == JS_LIST;
}

static r4_status bad(const struct reader *r, const char *what)
{
  return r4_fail(r->e, R4_E_PARSE, "%s: %s", r->where, what);
}

/* ---- Names ---- */

static int hex_digit(char c)
{
  if (c >= '0' && c <= '9') return c - '0';
  return (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* Addresses write some characters as %20. */
static void unescape(char *s)
{
  char *to = s;
  for (; *s; s++, to++) {
    bool escaped = *s == '%' && hex_digit(s[1]) >= 0 && hex_digit(s[2]) >= 0 && (s[1] != '0' || s[2] != '0');
    *to = escaped ? (char)(hex_digit(s[1]) << 4 | hex_digit(s[2])) : *s;
    if (escaped) s += 2;
  }
  *to = 0;
}

/* The path in an address: what is behind "?d=" where files are local, else without host and question. */
static char *path_of(const char *address)
{
  const char *local = strstr(address, "?d="), *host = strstr(address, "://");
  const char *from = local ? local + 3 : host ? host + 3 + strcspn(host + 3, "/") : address;
  struct text t = {0};
  from += strspn(from, "/");
  text_add(&t, "%.*s", (int)(local ? strlen(from) : strcspn(from, "?")), from);
  char *path = text_take(&t);
  if (path) unescape(path);
  return path;
}

/* What is uploaded gets eight digits and a dash before its name. */
static const char *without_prefix(const char *path)
{
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  for (int k = 0; k < 8; k++)
    if (hex_digit(name[k]) < 0) return NULL;
  return name[8] == '-' && name[9] ? name + 9 : NULL;
}

/* The address of the image: "image", or else the first text that ends as one. */
static const char *address_of(const struct js *data)
{
  const char *address = js_text(js_get(data, "image"));
  for (const struct js *v = NULL; !address && js_size(data) && (v = js_next(data, v));)
    if (js_text(v) && is_image_name(js_text(v))) address = js_text(v);
  return address;
}

static r4_status add_image(struct reader *r, const struct js *task)
{
  const char *address = address_of(js_get(task, "data"));
  if (!address || !*address) return bad(r, "data has no image");
  char *path = path_of(address);
  if (!path) return r4_fail(r->e, R4_E_MEMORY, "%s: out of memory", r->file);
  r4_status s = annotations_add_image(r->to, path, without_prefix(path), 0, 0, &r->image, r->e);
  r4_mem_free(path);
  r->height = r->width = 0;
  return s;
}

/* ---- Regions ---- */

/* Without labels a region is wanted if all are. */
static bool is_wanted(struct reader *r, const struct js *value)
{
  static const char *const keys[] = {"rectanglelabels", "polygonlabels", "brushlabels", "labels"};
  bool any = false, wanted = false;
  for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
    const struct js *list = js_get(value, keys[k]);
    for (const struct js *v = NULL; js_size(list) && (v = js_next(list, v));) {
      if (!js_text(v)) continue;
      any = true;
      wanted = categories_want(r->wanted, js_text(v)) || wanted;
    }
  }
  return any ? wanted : !r->wanted->n;
}

static r4_status read_size(struct reader *r, const struct js *region)
{
  int64_t width, height;
  double turned = 0;
  if (!js_whole(js_get(region, "original_width"), &width) ||
      !js_whole(js_get(region, "original_height"), &height) || width < 1 || height < 1 ||
      width > IMAGE_MAX_PIXELS || height > IMAGE_MAX_PIXELS / width)
    return bad(r, "expected original_width and original_height in pixels");
  if (js_number(js_get(region, "image_rotation"), &turned) && turned != 0)
    return bad(r, "the image was rotated when this was marked, which is not supported");
  if (r->height && ((size_t)height != r->height || (size_t)width != r->width))
    return bad(r, "another original_width or original_height than before in this task");
  r->height = r->to->image[r->image].height = (size_t)height;
  r->width = r->to->image[r->image].width = (size_t)width;
  return R4_OK;
}

static r4_status read_rectangle(struct reader *r, const struct js *value)
{
  static const char *const keys[] = {"x", "y", "width", "height"};
  double v[4], turn = 0, scale[2] = {(double)r->width / 100, (double)r->height / 100};
  for (int k = 0; k < 4; k++)
    if (!js_number(js_get(value, keys[k]), &v[k]))
      return bad(r, "expected numbers for x, y, width and height");
  js_number(js_get(value, "rotation"), &turn);
  for (int k = 0; k < 4; k++) v[k] *= scale[k % 2];
  if (turn == 0) return annotations_add_box(r->to, r->image, v[0], v[1], v[2], v[3], r->where, r->e);
  double angle = turn * acos(-1) / 180, c = cos(angle), s = sin(angle);
  double right[2] = {v[2] * c, v[2] * s}, down[2] = {-v[3] * s, v[3] * c};
  const double corner[] = {v[0],
                           v[1],
                           v[0] + right[0],
                           v[1] + right[1],
                           v[0] + right[0] + down[0],
                           v[1] + right[1] + down[1],
                           v[0] + down[0],
                           v[1] + down[1]};
  return annotations_add_polygon(r->to, r->image, 4, corner, r->where, r->e);
}

static r4_status read_polygon(struct reader *r, const struct js *points)
{
  double *point = mem_new(js_size(points) + 1, 2 * sizeof *point, r->file, r->e);
  if (!point) return R4_E_MEMORY;
  r4_status s = R4_OK;
  size_t n = 0;
  for (const struct js *v = NULL; !s && js_size(points) && (v = js_next(points, v)); n++) {
    double *to = point + 2 * n;
    if (js_size(v) != 2 || !js_number(js_at(v, 0), &to[0]) || !js_number(js_at(v, 1), &to[1]))
      s = bad(r, "expected points, each a list of two numbers");
    to[0] *= (double)r->width / 100;
    to[1] *= (double)r->height / 100;
  }
  if (!s) s = annotations_add_polygon(r->to, r->image, n, point, r->where, r->e);
  r4_mem_free(point);
  return s;
}

/* What a region is shows in what its value has. */
static r4_status read_region(struct reader *r, const struct js *region)
{
  const struct js *value = js_get(region, "value"), *points = js_get(value, "points"),
                  *rle = js_get(value, "rle");
  bool box = js_get(value, "width") && js_get(value, "height") && js_get(value, "x"),
       round = js_get(value, "radiusX");
  if (!points && !rle && !box && !round) return R4_OK;
  if (!is_wanted(r, value)) return R4_OK;
  if (round) return bad(r, "an ellipse, expected a rectangle, a polygon or a brush");
  r4_status s = read_size(r, region);
  if (s) return s;
  if (rle) return label_studio_read_brush(rle, r->image, r->height, r->width, r->where, r->to, r->e);
  return points ? read_polygon(r, points) : read_rectangle(r, value);
}

/* ---- Tasks ---- */

static r4_status read_result(struct reader *r, const struct js *annotation, size_t task, size_t number)
{
  const struct js *result = js_get(annotation, "result");
  bool cancelled = false;
  r4_status s = R4_OK;
  size_t k = 0;
  if (js_flag(js_get(annotation, "was_cancelled"), &cancelled) && cancelled) return R4_OK;
  if (js_kind(result) != JS_LIST) return bad(r, "an annotation without a result");
  for (const struct js *v = NULL; !s && js_size(result) && (v = js_next(result, v)); k++) {
    snprintf(r->where, WHERE, "%.200s: task [%zu], annotations[%zu], result[%zu]", r->file, task, number, k);
    s = read_region(r, v);
  }
  return s;
}

static r4_status read_task(struct reader *r, const struct js *task, size_t number)
{
  const struct js *list = js_get(task, "annotations");
  size_t k = 0;
  snprintf(r->where, WHERE, "%.200s: task [%zu]", r->file, number);
  if (js_kind(list) != JS_LIST)
    return bad(r, "has no annotations, expected an export of Label Studio as JSON");
  r4_status s = add_image(r, task);
  for (const struct js *v = NULL; !s && js_size(list) && (v = js_next(list, v)); k++)
    s = read_result(r, v, number, k);
  return s;
}

static r4_status read(const struct mask_text *t, struct categories *wanted, struct annotations *to,
                      r4_error *e)
{
  struct reader r = {.file = t->file, .wanted = wanted, .to = to, .e = e};
  r4_status s = R4_OK;
  size_t k = 0;
  for (const struct js *v = NULL; !s && js_size(t->json) && (v = js_next(t->json, v)); k++)
    s = read_task(&r, v, k);
  return s;
}

const struct mask_source label_studio_source = {"Label Studio", "JSON, a list of tasks with annotations",
                                                "annotations.json", matches, read};
