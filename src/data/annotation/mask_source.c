#include "data/annotation/mask_source.h"

#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "r4_tools.h"

static const struct mask_source *const sources[] = {&boxes_source, &coco_source, &label_studio_source};

enum { SOURCES = sizeof sources / sizeof *sources };

size_t r4_mask_source_count(void)
{
  return SOURCES;
}

r4_format_info r4_mask_source_describe(size_t k)
{
  return k < SOURCES ? (r4_format_info){sources[k]->name, sources[k]->about} : (r4_format_info){0};
}

/* ---- Reading ---- */

static const struct mask_source *source_of(const struct mask_text *t, r4_error *e)
{
  struct text known = {0};
  for (size_t k = 0; k < SOURCES; k++)
    if (sources[k]->matches(t)) return sources[k];
  for (size_t k = 0; k < SOURCES; k++)
    text_add(&known, "%s%s (%s)", k ? "; " : "", sources[k]->name, sources[k]->about);
  char *text = text_take(&known);
  r4_fail(e, R4_E_PARSE, "%s: not a known kind of annotations: %s", t->file, text ? text : "");
  r4_string_free(text);
  return NULL;
}

static r4_status read_text(const struct mask_text *t, const char *categories, struct annotations *to,
                           r4_error *e)
{
  struct categories wanted;
  const struct mask_source *source = source_of(t, e);
  if (!source) return R4_E_PARSE;
  r4_status s = categories_read(&wanted, categories, e);
  if (s) return s;
  s = source->read(t, &wanted, to, e);
  if (!s) s = categories_check(&wanted, t->file, e);
  if (!s) s = annotations_finish(to, e);
  categories_clear(&wanted);
  return s;
}

struct annotations *mask_source_parse(const char *file, uint8_t *bytes, size_t size, const char *categories,
                                      r4_error *e)
{
  struct annotations *a = annotations_new(file, e);
  struct js *root = NULL;
  struct hash h;
  if (!a) return NULL;
  hash_start(&h);
  hash_add(&h, bytes, size);
  hash_end(&h, a->digest);
  char first = size ? (char)bytes[strspn((const char *)bytes, " \t\r\n")] : 0;
  bool json = first == '{' || first == '[';
  r4_status s = json ? js_parse(file, bytes, size, &root, e) : R4_OK;
  if (!s) s = read_text(&(struct mask_text){file, bytes, size, root}, categories, a, e);
  js_free(root);
  if (!s) return a;
  annotations_free(a);
  return NULL;
}

static struct annotations *read_file(const char *path, const char *categories, r4_error *e)
{
  enum { LIMIT = 1 << 30 };
  uint8_t *bytes = NULL;
  size_t size = 0;
  if (file_read(path, LIMIT, &bytes, &size, e)) return NULL;
  struct annotations *a = mask_source_parse(path, bytes, size, categories, e);
  r4_mem_free(bytes);
  return a;
}

/* ---- Finding ---- */

/* What the user names: in the folder, or else from here. */
static r4_status open_named(const char *folder, const char *named, const char *categories,
                            struct annotations **to, r4_error *e)
{
  char *inside = *named == '/' ? NULL : file_join(folder, named, e);
  if (*named != '/' && !inside) return R4_E_MEMORY;
  r4_error why = {0};
  const char *path = inside && file_exists(inside) ? inside : named;
  if (!file_exists(path))
    r4_fail(&why, R4_E_IO, "masks: there is no %s%s%s", inside ? inside : named, inside ? ", and no " : "",
            inside ? named : "");
  else
    *to = read_file(path, categories, &why);
  r4_mem_free(inside);
  return *to ? R4_OK : r4_fail(e, why.status, "%s", why.text);
}

/* The place in which a folder has annotations; NULL: none. */
static r4_status find_place(const char *folder, const char **place, r4_error *e)
{
  *place = NULL;
  for (size_t k = 0; k < SOURCES; k++) {
    if (*place && !strcmp(*place, sources[k]->place)) continue;
    char *path = file_join(folder, sources[k]->place, e);
    if (!path) return R4_E_MEMORY;
    bool there = file_exists(path);
    r4_mem_free(path);
    if (there && *place)
      return r4_fail(e, R4_E_PARSE, "%s: has %s and %s, expected one: select it with masks", folder, *place,
                     sources[k]->place);
    if (there) *place = sources[k]->place;
  }
  return R4_OK;
}

static const char NONE[] = "none";

const char *mask_source_place(const char *folder)
{
  const char *place = NULL;
  return find_place(folder, &place, NULL) ? NULL : place ? place : NONE;
}

r4_status mask_source_open(const char *folder, const char *named, const char *categories,
                           struct annotations **to, r4_error *e)
{
  const char *place = NULL;
  *to = NULL;
  if (named && !strcmp(named, NONE)) return R4_OK;
  if (named && *named) return open_named(folder, named, categories, to, e);
  r4_status s = find_place(folder, &place, e);
  if (!s && place) s = file_check_inside(folder, place, e);
  if (!s && !place && categories && *categories)
    return r4_fail(e, R4_E_ARGUMENT,
                   "%s: mask_categories is set, but there are no annotations: no %s and no %s", folder,
                   boxes_source.place, coco_source.place);
  if (s || !place) return s;
  char *path = file_join(folder, place, e);
  if (!path) return R4_E_MEMORY;
  r4_error why = {0};
  *to = read_file(path, categories, &why);
  r4_mem_free(path);
  return *to ? R4_OK : r4_fail(e, why.status, "%s", why.text);
}
