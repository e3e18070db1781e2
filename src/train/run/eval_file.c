/* eval.json in the folder of a seed: what was measured of its model, kept so that nothing is measured twice;
 * eval-val.json of the validation part.
 *
 * The file speaks for itself, see kept.h. Numbers read back as they were written. */
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "measure/figure/figure.h"
#include "measure/swap.h"
#include "train/run/kept.h"

enum { FORMAT = 4 };

static char *place(const char *folder, r4_split part, r4_error *e)
{
  const char *name = part == R4_TEST ? "eval.json" : part == R4_VAL ? "eval-val.json" : "eval-train.json";
  return file_join(folder, name, e);
}

/* ---- What is in it ---- */

#define METRIC(field)                               \
  {                                                 \
#field, offsetof(r4_measured, metrics.field), 0 \
  }
#define GROUPS(name, field, groups)                                    \
  {                                                                    \
#name, offsetof(r4_measured, field), offsetof(r4_measured, groups) \
  }

struct member {
  const char *name;
  size_t offset, groups; /* groups: of how many there are, for lists */
};

static const struct member reals[] = {
  METRIC(loss),
  METRIC(accuracy),
  METRIC(avg_group_accuracy),
  METRIC(worst_group_accuracy),
  METRIC(eps),
  METRIC(kappa_masked_max),
  METRIC(kappa_masked_mean),
  METRIC(kappa_core_max),
  METRIC(kappa_core_mean),
  METRIC(answers.most_share),
};

static const struct member wholes[] = {
  METRIC(worst_group),
  METRIC(masked_examples),
  METRIC(core_examples),
  METRIC(answers.most),
  METRIC(answers.not_finite),
  {"swap.donors", offsetof(r4_measured, swapped[0].donors), 0},
  {"swap.inside", offsetof(r4_measured, swapped[0].inside), 0},
  {"swap.pasted", offsetof(r4_measured, swapped[0].pasted), 0},
  {"swap.removed", offsetof(r4_measured, swapped[0].removed), 0},
};

static const struct member real_lists[] = {
  GROUPS(group_accuracy, metrics.group_accuracy, metrics.groups),
  GROUPS(swap.flipped, swapped[0].flipped, swapped[0].groups),
  GROUPS(swap.lost, swapped[0].lost, swapped[0].groups),
  GROUPS(swap.removed_lost, swapped[0].removed_lost, swapped[0].groups),
};

static const struct member whole_lists[] = {
  GROUPS(group_count, metrics.group_count, metrics.groups),
  GROUPS(swap.examples, swapped[0].examples, swapped[0].groups),
  GROUPS(swap.found, swapped[0].found, swapped[0].groups),
  GROUPS(swap.removed_examples, swapped[0].removed_examples, swapped[0].groups),
  GROUPS(swap.removed_found, swapped[0].removed_found, swapped[0].groups),
};

#define COUNT(list) (sizeof(list) / sizeof *(list))

static double real_at(const r4_measured *f, size_t offset)
{
  double v;
  memcpy(&v, (const char *)f + offset, sizeof v);
  return v;
}

static size_t whole_at(const r4_measured *f, size_t offset)
{
  size_t v;
  memcpy(&v, (const char *)f + offset, sizeof v);
  return v;
}

/* ---- Writing ---- */

static void put_list(struct json_writer *w, const struct member *m, const r4_measured *f, bool real)
{
  jw_open(w, m->name, '[');
  for (size_t g = 0; g < whole_at(f, m->groups); g++)
    if (real)
      jw_real(w, NULL, real_at(f, m->offset + g * sizeof(double)));
    else
      jw_whole(w, NULL, (int64_t)whole_at(f, m->offset + g * sizeof(size_t)));
  jw_close(w, ']');
}

static bool is_member(const char *key)
{
  for (size_t k = 0; k < COUNT(reals); k++)
    if (!strcmp(reals[k].name, key)) return true;
  return false;
}

/* All but the sum and the last bracket. */
static void put_all(struct json_writer *w, const char *key, const r4_measured *f)
{
  kept_open(w, "measured", FORMAT, key);
  jw_flag(w, "constant", f->metrics.answers.constant);
  jw_text(w, "swap.none", f->swapped->none);
  jw_whole(w, "swap.draws", f->swapped->draws);
  for (size_t k = 0; k < COUNT(reals); k++)
    jw_real(w, reals[k].name, real_at(f, reals[k].offset));
  for (size_t k = 0; k < f->values; k++)
    if (!is_member(f->value[k].key)) jw_real(w, f->value[k].key, f->value[k].value);
  for (size_t k = 0; k < COUNT(wholes); k++)
    jw_whole(w, wholes[k].name, (int64_t)whole_at(f, wholes[k].offset));
  for (size_t k = 0; k < COUNT(real_lists); k++) put_list(w, &real_lists[k], f, true);
  for (size_t k = 0; k < COUNT(whole_lists); k++) put_list(w, &whole_lists[k], f, false);
}

static r4_status write_file(const char *path, const char *key, const r4_measured *m, r4_error *e)
{
  struct json_writer w = {0};
  put_all(&w, key, m);
  return kept_write(path, &w, e);
}

r4_status r4_measured_save(const r4_measured *m, const char *folder, r4_split part, const char *data_hash,
                           r4_error *e)
{
  NEEDS(m, "what was measured", R4_E_ARGUMENT);
  NEEDS(folder, "a folder", R4_E_ARGUMENT);
  NEEDS(data_hash, "the hash of the data", R4_E_ARGUMENT);
  r4_error own = {0};
  if (!e) e = &own;
  char key[R4_HASH_SIZE], *path = place(folder, part, e);
  r4_status s = path ? kept_key(folder, data_hash, m->metrics.eps, key, e) : e->status;
  if (!s) s = write_file(path, key, m, e);
  r4_mem_free(path);
  return s;
}

/* ---- Reading ---- */

static bool take_whole(const struct js *v, size_t *to)
{
  int64_t n;
  bool good = js_whole(v, &n) && n >= 0;
  if (good) *to = (size_t)n;
  return good;
}

static bool take_one(const struct js *v, bool real, char *to)
{
  return real ? js_real(v, (double *)(void *)to) : take_whole(v, (size_t *)(void *)to);
}

static bool take_list(const struct js *root, const struct member *m, bool real, r4_measured *f)
{
  const struct js *list = js_get(root, m->name);
  size_t n = js_size(list), *groups = (size_t *)(void *)((char *)f + m->groups);
  if (js_kind(list) != JS_LIST || n > R4_MAX_GROUPS || (*groups && *groups != n)) return false;
  *groups = n;
  for (size_t g = 0; g < n; g++)
    if (!take_one(js_at(list, g), real, (char *)f + m->offset + g * sizeof(double))) return false;
  return true;
}

static bool take_all(const struct js *root, r4_measured *f)
{
  int64_t draws;
  bool good = js_flag(js_get(root, "constant"), &f->metrics.answers.constant) &&
              js_whole(js_get(root, "swap.draws"), &draws);
  for (size_t k = 0; k < COUNT(reals) && good; k++)
    good = take_one(js_get(root, reals[k].name), true, (char *)f + reals[k].offset);
  for (size_t k = 0; k < COUNT(wholes) && good; k++)
    good = take_one(js_get(root, wholes[k].name), false, (char *)f + wholes[k].offset);
  for (size_t k = 0; k < COUNT(real_lists) && good; k++) good = take_list(root, &real_lists[k], true, f);
  for (size_t k = 0; k < COUNT(whole_lists) && good; k++) good = take_list(root, &whole_lists[k], false, f);
  if (!good) return false;
  f->swaps = 1;
  f->swapped->draws = (int)draws;
  f->swapped->content = R4_FILL_SWAP;
  if (js_text(js_get(root, "swap.none"))) f->swapped->none = swap_reason(js_text(js_get(root, "swap.none")));
  return true;
}

/* Those that follow from the counts, and those that were written down: a file that is older than a figure does not have
 * it. */
static r4_status take_figures(const struct js *root, r4_measured *f, r4_error *e)
{
  r4_status s = figures_measure(NULL, NULL, f, e);
  for (const struct js *v = js_next(root, NULL); v && !s; v = js_next(root, v)) {
    double value;
    if (js_real(v, &value)) figures_keep(f, js_key(v), value);
  }
  return s;
}

static r4_status read_file(const char *path, const char *key, r4_measured *m, r4_error *e)
{
  struct js *root = NULL;
  r4_status s = kept_read(path, "measured", FORMAT, key, &root, e);
  if (!s && !take_all(root, m)) s = r4_fail(e, R4_E_PARSE, "%s: some figures are missing", path);
  if (!s) s = take_figures(root, m, e);
  js_free(root);
  return s;
}

r4_status r4_measured_load(r4_measured *m, const char *folder, r4_split part, const char *data_hash,
                           double eps, r4_error *e)
{
  NEEDS(m, "room for the result", R4_E_ARGUMENT);
  NEEDS(folder, "a folder", R4_E_ARGUMENT);
  NEEDS(data_hash, "the hash of the data", R4_E_ARGUMENT);
  r4_error own = {0};
  if (!e) e = &own;
  *m = (r4_measured){0};
  char key[R4_HASH_SIZE], *path = place(folder, part, e);
  if (!path) return e->status;
  r4_status s = file_exists(path) ? R4_OK : r4_fail(e, R4_E_IO, "%s: is not there", path);
  if (!s) s = kept_key(folder, data_hash, eps, key, e);
  if (!s) s = read_file(path, key, m, e);
  r4_mem_free(path);
  return s;
}
