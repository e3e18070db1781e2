/* The data of a run that is there: where they are now, and whether they are still those it was trained on. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "data/annotation/mask_source.h"
#include "data/format/format.h"
#include "data/known/recipe.h"
#include "train/run/manifest.h"
#include "train/task.h"

/* Annotations are taken where they lie: a file that is put there later is none of the run's. */
static const char ANNOTATIONS[] = "annotations";

/* ---- Writing it down ---- */

static const char *source_setting(const struct settings *s)
{
  return recipe_exists(s->data.name) ? "data.from" : "data";
}

static const char *source_written(const struct settings *s)
{
  return recipe_exists(s->data.name) ? s->data.from : s->data.name;
}

/* Where a file of the data is: as it was written, absolutely, and as seen from the run. */
static void describe(struct json_writer *w, const char *key, const char *setting, const char *written, const char *at,
                     const char *folder)
{
  char *absolute = file_absolute(at), *relative = file_relative(folder, at);
  jw_open(w, key, '{');
  jw_text(w, "setting", setting);
  jw_text(w, "written", written);
  jw_text(w, "path", absolute);
  jw_text(w, "from_run", relative);
  jw_close(w, '}');
  r4_mem_free(absolute);
  r4_mem_free(relative);
}

/* Files beside the data that texts need. */
enum { BESIDE = 3 };
static const char *const beside_setting[BESIDE] = {"data.tokenizer", "data.mask_words", "words.list"};

static const char *beside_written(const struct settings *s, size_t k)
{
  const char *const written[BESIDE] = {s->data.tokenizer, s->data.mask_words, s->words};
  return written[k];
}

void run_describe_source(struct json_writer *w, const struct settings *s, const char *folder)
{
  const char *at = task_place(s, source_written(s));
  if (data_source_is_path(at)) {
    describe(w, "source", source_setting(s), source_written(s), at, folder);
    const char *place = *s->data.masks_read ? s->data.masks_read : mask_source_place(at);
    if (!*s->data.masks && place && format_of(at) == &folder_format) jw_text(w, ANNOTATIONS, place);
  }
  bool any = false;
  for (size_t k = 0; k < BESIDE; k++) any |= file_exists(task_place(s, beside_written(s, k)));
  if (!any) return;
  jw_open(w, "files", '[');
  for (size_t k = 0; k < BESIDE; k++) {
    const char *written = beside_written(s, k), *place = task_place(s, written);
    if (file_exists(place)) describe(w, NULL, beside_setting[k], written, place, folder);
  }
  jw_close(w, ']');
}

static r4_status read_manifest(const char *folder, struct js **root, r4_error *e)
{
  char *path = file_join(folder, "manifest.json", e);
  *root = NULL;
  r4_status s = path ? manifest_read(path, root, e) : R4_E_MEMORY;
  r4_mem_free(path);
  return s;
}

/* ---- Finding them again ---- */

/* k: which of the files it is. */
static r4_status remember(struct settings *s, size_t k, const char *written, const char *path, r4_error *e)
{
  struct text name = {0}, place = {0};
  char **to_name = &s->data.found[k].written, **to_place = &s->data.found[k].path;
  text_add(&name, "%s", written);
  text_add(&place, "%s", path);
  r4_mem_free(*to_name);
  r4_mem_free(*to_place);
  *to_name = text_done(&name, path, e);
  *to_place = text_done(&place, path, e);
  return *to_name && *to_place ? R4_OK : R4_E_MEMORY;
}

/* The first that exists of: the absolute path, the path from the run, the path from here. */
static r4_status search(struct settings *s, size_t number, const char *setting, const char *now,
                        const char *folder, const struct js *source, r4_error *e)
{
  const char *written = js_text(js_get(source, "written")), *absolute = js_text(js_get(source, "path")),
             *relative = js_text(js_get(source, "from_run"));
  if (!written || !absolute || !relative)
    return r4_fail(e, R4_E_PARSE, "%s/manifest.json: data.source needs written, path and from_run", folder);
  if (strcmp(written, now)) return R4_OK; /* the settings speak of others by now */
  char *from_run = file_join(folder, relative, e);
  if (!from_run) return R4_E_MEMORY;
  const char *const place[] = {absolute, from_run, written};
  size_t k = 0;
  while (k < 3 && !file_exists(place[k])) k++;
  r4_status status =
    k < 3 ? remember(s, number, written, place[k], e)
          : r4_fail(e, R4_E_IO,
                    "%s \"%.80s\" is not found: neither at %.120s, where it was, nor at %.120s, relative to the run, "
                    "nor at %.80s, relative to the current folder",
                    setting, written, absolute, from_run, written);
  r4_mem_free(from_run);
  return status;
}

static r4_status search_beside(struct settings *s, const char *folder, const struct js *files, r4_error *e)
{
  r4_status status = R4_OK;
  for (const struct js *one = NULL; !status && files && (one = js_next(files, one));) {
    const char *setting = js_text(js_get(one, "setting"));
    for (size_t k = 0; !status && k < BESIDE; k++)
      if (setting && !strcmp(setting, beside_setting[k]))
        status = search(s, 1 + k, setting, beside_written(s, k), folder, one, e);
  }
  return status;
}

static void take_annotations(struct settings *s, const char *place)
{
  if (place) snprintf(s->data.masks_read, sizeof s->data.masks_read, "%.23s", place);
}

/* Takes the place of what the manifest says, or of all of the data if that is not a path. */
static r4_status set_source(r4_settings *s, const struct js *source, const char *instead, r4_error *e)
{
  const char *key = js_text(js_get(source, "setting"));
  struct text assignment = {0};
  text_add(&assignment, "%s=%s", key ? key : "data", instead);
  char *text = text_done(&assignment, "--data", e);
  r4_status status = text ? r4_settings_set(s, text, "--data", e) : R4_E_MEMORY;
  r4_string_free(text);
  return status;
}

r4_status r4_settings_locate(r4_settings *s, const char *folder, const char *instead, r4_error *e)
{
  NEEDS(s, "settings", R4_E_ARGUMENT);
  NEEDS(folder, "a folder", R4_E_ARGUMENT);
  r4_error own = {0};
  if (!e) e = &own;
  r4_error_clear(e);
  struct js *root = NULL;
  r4_status status = read_manifest(folder, &root, e);
  if (status == R4_E_MEMORY) return status;
  r4_error_clear(e); /* without a manifest that can be read: as it is written */
  const struct js *source = js_get(js_get(root, "data"), "source");
  status = R4_OK;
  if (instead)
    status = set_source(s, source, instead, e);
  else if (source)
    status = search(&s->values, 0, source_setting(&s->values), source_written(&s->values), folder, source, e);
  if (!instead) take_annotations(&s->values, js_text(js_get(js_get(root, "data"), ANNOTATIONS)));
  if (!status) status = search_beside(&s->values, folder, js_get(js_get(root, "data"), "files"), e);
  js_free(root);
  return status;
}

/* ---- Whether they are the same ---- */

r4_status r4_run_check_data(const char *folder, const char *hash, const char *unmasked, bool *masks_differ, r4_error *e)
{
  NEEDS(folder, "a folder", R4_E_ARGUMENT);
  NEEDS(hash, "a hash", R4_E_ARGUMENT);
  enum { SHOWN = 12 }; /* digits of a hash that people compare */
  struct js *root;
  r4_error_clear(e);
  r4_status s = read_manifest(folder, &root, e);
  if (s) return s;
  const struct js *data = js_get(root, "data");
  const char *was = js_text(js_get(data, "sha256")), *about = js_text(js_get(data, "about"));
  const char *bare = js_text(js_get(data, UNMASKED));
  bool same = was && !strcmp(was, hash), but_masks = !same && unmasked && bare && !strcmp(bare, unmasked);
  if (masks_differ) *masks_differ = but_masks;
  if (!was)
    s = r4_fail(e, R4_E_PARSE, "%s/manifest.json: has no data.sha256, expected the hash of the data", folder);
  else if (!same && !but_masks)
    s = r4_fail(e, R4_E_ARGUMENT, "%s: trained on data with SHA-256 %.*s... (%.150s), but these have %.*s...",
                folder, SHOWN, was, about ? about : "not described", SHOWN, hash);
  js_free(root);
  return s;
}
