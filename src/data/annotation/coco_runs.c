#include "data/annotation/coco_runs.h"

#include <string.h>

#include "base/mem.h"
#include "picture/image.h"

static r4_status bad(const char *where, const char *what, r4_error *e)
{
  return r4_fail(e, R4_E_PARSE, "%s: segmentation: %s", where, what);
}

/* ---- Counts as numbers ---- */

static r4_status plain_counts(const struct js *list, uint32_t *run, size_t *n, const char *where, r4_error *e)
{
  *n = 0;
  for (const struct js *v = NULL; js_size(list) && (v = js_next(list, v));) {
    int64_t count;
    if (!js_whole(v, &count) || count < 0 || count > IMAGE_MAX_PIXELS)
      return bad(where, "a count that is not a number of pixels", e);
    run[(*n)++] = (uint32_t)count;
  }
  return R4_OK;
}

/* ---- Counts packed into a string ---- */

/* A character c stands for the six bits c - 48: five of a number, lowest first, and whether more of it follows; the
 * last of these five is the sign. Returns how many characters the number has, 0 if it is none. */
static size_t unpack_number(const char *s, int64_t *number)
{
  enum { ZERO = 48, MOST = 7 };
  uint64_t v = 0;
  for (size_t k = 0; k < MOST; k++) {
    if (s[k] < ZERO || s[k] > ZERO + 63) return 0;
    unsigned c = (unsigned)(s[k] - ZERO);
    v |= (uint64_t)(c & 31) << 5 * k;
    if (c & 32) continue;
    if (c & 16) v |= ~UINT64_C(0) << 5 * (k + 1);
    *number = (int64_t)v;
    return k + 1;
  }
  return 0;
}

/* From the fourth on, a count is the difference to the one two before. */
static r4_status packed_counts(const char *s, uint32_t *run, size_t *n, const char *where, r4_error *e)
{
  *n = 0;
  for (size_t length; *s; s += length) {
    int64_t count = 0;
    if (!(length = unpack_number(s, &count))) return bad(where, "counts is not a string of packed runs", e);
    if (*n > 2) count += run[*n - 2];
    if (count < 0 || count > IMAGE_MAX_PIXELS) return bad(where, "a count that is not a number of pixels", e);
    run[(*n)++] = (uint32_t)count;
  }
  return R4_OK;
}

/* ---- Both ---- */

static bool read_size(const struct js *list, struct runs *r)
{
  int64_t height, width;
  if (js_size(list) != 2 || !js_whole(js_at(list, 0), &height) || !js_whole(js_at(list, 1), &width))
    return false;
  if (height < 1 || width < 1 || height > IMAGE_MAX_PIXELS || width > IMAGE_MAX_PIXELS / height) return false;
  r->height = (uint32_t)height;
  r->width = (uint32_t)width;
  return true;
}

r4_status coco_read_runs(const struct js *v, size_t image, const char *where, struct annotations *to,
                         r4_error *e)
{
  const struct js *counts = js_get(v, "counts");
  const char *packed = js_text(counts);
  struct runs runs = {.by_column = true};
  if (!read_size(js_get(v, "size"), &runs)) return bad(where, "expected a size, [height, width]", e);
  if (!packed && js_kind(counts) != JS_LIST)
    return bad(where, "expected counts, a list of numbers or a string", e);
  uint32_t *run = mem_new((packed ? strlen(packed) : js_size(counts)) + 1, sizeof *run, where, e);
  if (!run) return R4_E_MEMORY;
  r4_status s =
    packed ? packed_counts(packed, run, &runs.n, where, e) : plain_counts(counts, run, &runs.n, where, e);
  runs.run = run;
  if (!s) s = annotations_add_runs(to, image, &runs, where, e);
  r4_mem_free(run);
  return s;
}
