/* eval.json in the folder of a seed: what was measured of its model. Of no value for another model, other data or
 * another eps: all of them are written beside it, and compared. A model is known by the size and time of its file. */
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"

enum { FORMAT = 1, MOST_BYTES = 1 << 22 };

static const char FILE_NAME[] = "eval.json", MODEL[] = "model.safetensors";

/* ---- What is kept ---- */

/* Reals of the metrics, by name. */
static const struct {
  const char *key;
  size_t offset;
} reals[] = {
#define REAL(field)                     \
  {                                     \
#field, offsetof(r4_metrics, field) \
  }
  REAL(loss),
  REAL(accuracy),
  REAL(avg_group_accuracy),
  REAL(worst_group_accuracy),
  REAL(eps),
  REAL(kappa_masked_max),
  REAL(kappa_masked_mean),
  REAL(kappa_core_max),
  REAL(kappa_core_mean),
#undef REAL
};

static const size_t REALS = sizeof reals / sizeof *reals;

static double *real_at(r4_metrics *m, size_t k)
{
  return (double *)((char *)m + reals[k].offset);
}

/* Size and time of change of the model, as text; "" if there is none. */
static void describe_model(const char *folder, char to[64])
{
  struct stat about;
  char *path = file_join(folder, MODEL);
  *to = 0;
  if (path && !stat(path, &about))
    snprintf(to, 64, "%lld bytes of %lld.%09ld", (long long)about.st_size, (long long)about.st_mtim.tv_sec,
             about.st_mtim.tv_nsec);
  r4_mem_free(path);
}

/* ---- Writing ---- */

static void add_real(struct json_writer *w, const char *key, double v)
{
  jw_key(w, key);
  if (isinf(v))
    jw_text(w, "inf");
  else
    jw_real(w, v);
}

static void add_whole(struct json_writer *w, const char *key, size_t v)
{
  jw_key(w, key);
  jw_whole(w, (int64_t)v);
}

static void add_metrics(struct json_writer *w, const r4_metrics *m)
{
  for (size_t k = 0; k < REALS; k++) add_real(w, reals[k].key, *real_at((r4_metrics *)m, k));
  add_whole(w, "masked_examples", m->masked_examples);
  add_whole(w, "core_examples", m->core_examples);
  add_whole(w, "worst_group", m->worst_group);
  add_whole(w, "most_frequent", m->answers.most);
  add_real(w, "most_frequent_share", m->answers.most_share);
  jw_key(w, "constant");
  jw_flag(w, m->answers.constant);
  jw_key(w, "groups");
  jw_open(w, '[');
  for (size_t g = 0; g < m->groups; g++) {
    jw_open(w, '{');
    add_real(w, "accuracy", m->group_accuracy[g]);
    add_whole(w, "examples", m->group_count[g]);
    jw_close(w, '}');
  }
  jw_close(w, ']');
}

static void add_swapped(struct json_writer *w, const r4_swapped *p)
{
  jw_key(w, "swap");
  jw_open(w, '{');
  add_whole(w, "donors", p->donors);
  add_whole(w, "draws", (size_t)p->draws);
  add_whole(w, "inside", p->inside);
  add_whole(w, "pasted", p->pasted);
  jw_key(w, "groups");
  jw_open(w, '[');
  for (size_t g = 0; g < p->groups && !p->none; g++) {
    jw_open(w, '{');
    add_whole(w, "examples", p->examples[g]);
    add_whole(w, "found", p->found[g]);
    add_real(w, "flipped", p->flipped[g]);
    add_real(w, "lost", p->lost[g]);
    jw_close(w, '}');
  }
  jw_close(w, ']');
  jw_close(w, '}');
}

r4_status r4_measured_save(const r4_measured *m, const char *folder, const char *data_hash, r4_error *e)
{
  NEEDS(m, "what was measured", R4_E_ARGUMENT);
  NEEDS(folder, "a folder", R4_E_ARGUMENT);
  NEEDS(data_hash, "the hash of the data", R4_E_ARGUMENT);
  struct json_writer w = {0};
  char model[64];
  describe_model(folder, model);
  jw_open(&w, '{');
  add_whole(&w, "format", FORMAT);
  jw_key(&w, "r4"), jw_text(&w, R4_VERSION);
  jw_key(&w, "model"), jw_text(&w, model);
  jw_key(&w, "data_sha256"), jw_text(&w, data_hash);
  add_metrics(&w, &m->metrics);
  add_swapped(&w, &m->swapped);
  jw_close(&w, '}');
  text_add(&w.text, "\n");
  char *text = text_take(&w.text), *path = file_join(folder, FILE_NAME);
  r4_status s = text && path ? file_write(path, text, strlen(text), e)
                             : r4_fail(e, R4_E_MEMORY, "%s/%s: out of memory", folder, FILE_NAME);
  r4_string_free(text);
  r4_mem_free(path);
  return s;
}

/* ---- Reading ---- */

/* NaN is null, and infinity a text. */
static bool get_real(const struct js *of, const char *key, double *to)
{
  const struct js *v = js_get(of, key);
  if (!v) return false;
  *to = js_text(v) && !strcmp(js_text(v), "inf") ? INFINITY : NAN;
  return js_number(v, to) || js_kind(v) == JS_NULL || isinf(*to);
}

static bool get_size(const struct js *of, const char *key, size_t *to)
{
  int64_t v;
  if (!js_whole(js_get(of, key), &v) || v < 0) return false;
  *to = (size_t)v;
  return true;
}

static bool get_metrics(const struct js *v, r4_metrics *m)
{
  const struct js *groups = js_get(v, "groups");
  bool good = js_kind(groups) == JS_LIST && js_size(groups) <= R4_MAX_GROUPS;
  for (size_t k = 0; k < REALS; k++) good = good && get_real(v, reals[k].key, real_at(m, k));
  good = good && get_size(v, "masked_examples", &m->masked_examples) &&
         get_size(v, "core_examples", &m->core_examples) && get_size(v, "worst_group", &m->worst_group) &&
         get_size(v, "most_frequent", &m->answers.most) &&
         get_real(v, "most_frequent_share", &m->answers.most_share) &&
         js_flag(js_get(v, "constant"), &m->answers.constant);
  for (const struct js *g = NULL; good && (g = js_next(groups, g)); m->groups++)
    good = get_real(g, "accuracy", &m->group_accuracy[m->groups]) &&
           get_size(g, "examples", &m->group_count[m->groups]);
  return good && (!m->groups || m->worst_group < m->groups);
}

static bool get_swapped(const struct js *v, r4_swapped *p)
{
  const struct js *groups = js_get(v, "groups");
  size_t draws = 0;
  bool good = js_kind(groups) == JS_LIST && js_size(groups) <= R4_MAX_GROUPS &&
              get_size(v, "donors", &p->donors) && get_size(v, "draws", &draws) && draws <= 1000000 &&
              get_size(v, "inside", &p->inside) && get_size(v, "pasted", &p->pasted);
  for (const struct js *g = NULL; good && (g = js_next(groups, g)); p->groups++)
    good = get_size(g, "examples", &p->examples[p->groups]) && get_size(g, "found", &p->found[p->groups]) &&
           get_real(g, "flipped", &p->flipped[p->groups]) && get_real(g, "lost", &p->lost[p->groups]);
  p->content = R4_FILL_SWAP;
  p->draws = (int)draws;
  if (!p->groups) p->none = p->donors ? "no masked content is of another class" : "no example has a mask";
  return good;
}

static bool is_text(const struct js *v, const char *key, const char *expected)
{
  const char *text = js_text(js_get(v, key));
  return text && !strcmp(text, expected);
}

bool r4_measured_load(r4_measured *m, const char *folder, const char *data_hash, double eps)
{
  if (!m || !folder || !data_hash) return false;
  char model[64], *path = file_join(folder, FILE_NAME);
  uint8_t *text = NULL;
  size_t size, format = 0;
  struct js *root = NULL;
  *m = (r4_measured){0};
  describe_model(folder, model);
  bool good = path && *model && !file_read(path, MOST_BYTES, &text, &size, NULL) &&
              !js_parse(path, text, size, &root, NULL) && get_size(root, "format", &format) &&
              format == FORMAT && is_text(root, "r4", R4_VERSION) && is_text(root, "model", model) &&
              is_text(root, "data_sha256", data_hash) && get_metrics(root, &m->metrics) &&
              m->metrics.eps == eps && get_swapped(js_get(root, "swap"), &m->swapped);
  js_free(root);
  r4_mem_free(text);
  r4_mem_free(path);
  return good;
}
