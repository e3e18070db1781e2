/* proved.json in the folder of a seed: figures that r4 certify proved of its model, for whoever shows what was
 * measured; proved-val.json and proved-train.json of the other parts. The file speaks for itself, see kept.h. */
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "measure/figure/figure.h"
#include "train/run/kept.h"

enum { FORMAT = 1 };

static char *place(const char *folder, r4_split part, r4_error *e)
{
  static const char *const name[R4_SPLITS] = {
    [R4_TRAIN] = "proved-train.json", [R4_VAL] = "proved-val.json", [R4_TEST] = "proved.json"};
  return file_join(folder, name[part], e);
}

static bool is_proved(size_t figure)
{
  return figure < r4_figure_count() && figure_at(figure)->info.proved;
}

/* ---- Reading ---- */

static void take(const struct js *root, r4_measured *m)
{
  for (const struct js *v = js_next(root, NULL); v; v = js_next(root, v)) {
    double value;
    if (js_real(v, &value) && is_proved(r4_figure_find(js_key(v)))) figures_keep(m, js_key(v), value);
  }
}

r4_status r4_proved_load(r4_measured *m, const char *folder, r4_split part, const char *data_hash, r4_error *e)
{
  NEEDS(m, "room for the result", R4_E_ARGUMENT);
  NEEDS(folder, "a folder", R4_E_ARGUMENT);
  NEEDS(data_hash, "the hash of the data", R4_E_ARGUMENT);
  r4_error own = {0};
  if (!e) e = &own;
  struct js *root = NULL;
  char key[R4_HASH_SIZE], *path = place(folder, part, e);
  if (!path) return e->status;
  r4_status s = file_exists(path) ? R4_OK : r4_fail(e, R4_E_IO, "%s: is not there", path);
  if (!s) s = kept_key(folder, data_hash, 0, key, e);
  if (!s) s = kept_read(path, "proved", FORMAT, key, &root, e);
  if (!s) take(root, m);
  js_free(root);
  r4_mem_free(path);
  return s;
}

/* ---- Writing ---- */

static r4_status write_file(const char *path, const char *key, const r4_measured *m, r4_error *e)
{
  struct json_writer w = {0};
  kept_open(&w, "proved", FORMAT, key);
  for (size_t k = 0; k < m->values; k++)
    if (is_proved(m->value[k].figure)) jw_real(&w, m->value[k].key, m->value[k].value);
  return kept_write(path, &w, e);
}

r4_status r4_proved_save(const r4_measured *m, const char *folder, r4_split part, const char *data_hash, r4_error *e)
{
  NEEDS(m, "what was measured", R4_E_ARGUMENT);
  NEEDS(folder, "a folder", R4_E_ARGUMENT);
  NEEDS(data_hash, "the hash of the data", R4_E_ARGUMENT);
  r4_error own = {0};
  if (!e) e = &own;
  char key[R4_HASH_SIZE], *path = place(folder, part, e);
  r4_measured *all = path ? mem_new(1, sizeof *all, "figures", e) : NULL;
  r4_status s = all ? kept_key(folder, data_hash, 0, key, e) : e->status;
  if (!s) {
    *all = *m;
    r4_proved_load(all, folder, part, data_hash, NULL); /* what is refused is of something else, and is replaced */
    s = write_file(path, key, all, e);
  }
  r4_mem_free(all);
  r4_mem_free(path);
  return s;
}
