#include "train/run/manifest.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/file.h"
#include "base/mem.h"
#include "objective/objective.h"
#include "train/task.h"

enum { MOST_BYTES = 1 << 24 };
static const char IDENTITY[] = "settings_and_data_sha256", CHANGES[] = "changes";

/* "AMD EPYC 7763 64-Core Processor", from the line "model name : ..." of /proc/cpuinfo. */
static void cpu_name(char *to, size_t size)
{
  char line[256];
  snprintf(to, size, "unknown");
  FILE *f = fopen("/proc/cpuinfo", "r");
  while (f && fgets(line, sizeof line, f)) {
    const char *colon = strchr(line, ':');
    if (strncmp(line, "model name", 10) || !colon) continue;
    snprintf(to, size, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
    break;
  }
  if (f) fclose(f);
}

static void add_machine(struct json_writer *w)
{
  char cpu[128], dnn[R4_VERSION_SIZE];
  struct utsname os;
  cpu_name(cpu, sizeof cpu);
  r4_onednn_version(dnn);
  jw_open(w, "machine", '{');
  jw_text(w, "cpu", cpu);
  if (!uname(&os)) jw_text(w, "system", os.sysname);
  jw_whole(w, "threads", r4_threads(0, false));
  jw_text(w, "compiler", __VERSION__);
  jw_text(w, "onednn", dnn);
  jw_close(w, '}');
}

static void add_data(struct json_writer *w, const struct run *r)
{
  jw_open(w, "data", '{');
  jw_text(w, "about", r4_data_about(r->train));
  jw_text(w, "sha256", r->data_hash);
  jw_text(w, UNMASKED, r->data_hash_unmasked);
  jw_whole(w, "train", (int64_t)r4_data_count(r->train));
  jw_whole(w, "val", r->val.data ? (int64_t)r4_data_count(r->val.data) : 0);
  if (r->folder) run_describe_source(w, r->s, r->folder);
  jw_close(w, '}');
}

static void add_lambda(struct json_writer *w, double chosen)
{
  jw_open(w, "lambda", '{');
  jw_text(w, "setting", "auto");
  jw_real(w, "chosen", chosen);
  jw_close(w, '}');
}

static void add_weights(struct json_writer *w, const char *key, const double *weight, size_t n)
{
  if (!weight) return;
  jw_open(w, key, '[');
  for (size_t k = 0; k < n; k++) jw_real(w, NULL, weight[k]);
  jw_close(w, ']');
}

static void add_now(struct json_writer *w, const char *key)
{
  char text[32];
  time_t t = time(NULL);
  struct tm utc;
  strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &utc));
  jw_text(w, key, text);
}

static void add_identity(struct json_writer *w, const struct run *r)
{
  char identity[HASH_HEX];
  hash_hex(r->identity, identity);
  jw_text(w, IDENTITY, identity);
}

/* Closes the object, and writes it. */
static r4_status finish(struct json_writer *w, const char *path, r4_error *e)
{
  jw_close(w, '}');
  text_add(&w->text, "\n");
  return file_write_text(path, &w->text, e);
}

/* What settings that are left to r4 have become: config.yaml has them as they were given, because a run that is resumed
 * is compared with these. */
static void add_resolved(struct json_writer *w, const struct run *r)
{
  const r4_objective_options o = run_objective(r);
  r4_method_info m = r4_method_describe(r->s->method);
  char *objective = run_objective_text(r);
  jw_open(w, "resolved", '{');
  jw_text(w, "objective", objective ? objective : "");
  jw_text(w, "fill", r4_fill_name(task_fill(r->s, r->train)));
  if (m.guided) jw_text(w, "explain", explain_words[o.explain + 1]);
  if (m.guided) jw_real(w, "penalty.after", r->penalty_after);
  for (size_t k = 0; k < m.terms; k++) {
    jw_open(w, m.term[k], '{');
    jw_real(w, "lambda", o.lambda[k]);
    jw_text(w, "penalty.form", o.form == R4_FORM_TARGET ? "target" : form_words[objective_form(&o, k)]);
    jw_close(w, '}');
  }
  jw_close(w, '}');
  r4_string_free(objective);
}

static void describe(struct json_writer *w, const struct run *r)
{
  jw_open(w, NULL, '{');
  jw_text(w, "r4", R4_VERSION);
  add_now(w, "began");
  jw_whole(w, "seed", r->s->seed);
  jw_text(w, "method", r->s->method);
  if (r->s->searched) add_lambda(w, r->s->lambda);
  add_resolved(w, r);
  jw_text(w, "precision", r->state.bf16 ? "bf16" : "float");
  jw_text(w, "net", r4_net_layers(r->net));
  jw_whole(w, "weights", (int64_t)r->size);
  jw_whole(w, "masked_features", (int64_t)r->masked);
  add_data(w, r);
  add_weights(w, "class_weights", r->class_weights, r4_data_classes(r->train));
  add_weights(w, "group_weights", r->groups.weight, r->groups.n);
  add_identity(w, r);
  add_machine(w);
}

r4_status manifest_write(const struct run *r, const char *path, r4_error *e)
{
  struct json_writer w = {0};
  describe(&w, r);
  return finish(&w, path, e);
}

char *manifest_text(const struct run *r)
{
  struct json_writer w = {0};
  describe(&w, r);
  jw_close(&w, '}');
  return text_take(&w.text);
}

/* ---- Changes ---- */

/* With its key, if it is the member of an object. */
static void add_copy(struct json_writer *w, const struct js *v)
{
  const char *key = js_key(v);
  int64_t whole = 0;
  double real = 0;
  bool flag = false, object = js_kind(v) == JS_OBJECT;
  switch (js_kind(v)) {
  case JS_OBJECT:
  case JS_LIST:
    jw_open(w, key, object ? '{' : '[');
    for (const struct js *m = NULL; (m = js_next(v, m));) add_copy(w, m);
    jw_close(w, object ? '}' : ']');
    break;
  case JS_WHOLE:
    js_whole(v, &whole);
    jw_whole(w, key, whole);
    break;
  case JS_REAL:
    js_number(v, &real);
    jw_real(w, key, real);
    break;
  case JS_FLAG:
    js_flag(v, &flag);
    jw_flag(w, key, flag);
    break;
  case JS_TEXT:
  case JS_NULL:
    jw_text(w, key, js_text(v));
    break;
  }
}

static void add_change(struct json_writer *w, const struct run *r, const r4_settings *was,
                       const struct setting *t)
{
  char *from = setting_text(t, was), *to = setting_text(t, r->settings);
  jw_open(w, NULL, '{');
  add_now(w, "when");
  jw_whole(w, "epoch", r->state.epoch);
  jw_whole(w, "step", r->state.step);
  jw_text(w, "setting", t->info.key);
  jw_text(w, "from", from);
  jw_text(w, "to", to);
  jw_close(w, '}');
  r4_string_free(from);
  r4_string_free(to);
}

static void add_changes(struct json_writer *w, const struct run *r, const r4_settings *was,
                        const struct js *before)
{
  const struct setting *t;
  jw_open(w, CHANGES, '[');
  for (const struct js *m = NULL; js_kind(before) == JS_LIST && (m = js_next(before, m));) add_copy(w, m);
  for (size_t k = 0; (t = setting_at(k)); k++)
    if (setting_differs(t, was, r->settings)) add_change(w, r, was, t);
  jw_close(w, ']');
}

r4_status manifest_read(const char *path, struct js **root, r4_error *e)
{
  uint8_t *data = NULL;
  size_t size = 0;
  *root = NULL;
  r4_status s = file_read(path, MOST_BYTES, &data, &size, e);
  if (!s) s = js_parse(path, data, size, root, e);
  r4_mem_free(data);
  if (s || js_kind(*root) == JS_OBJECT) return s;
  js_free(*root);
  *root = NULL;
  return r4_fail(e, R4_E_PARSE, "%s: not a manifest", path);
}

r4_status manifest_note(const struct run *r, const r4_settings *was, const char *path, r4_error *e)
{
  struct js *old;
  r4_status s = manifest_read(path, &old, e);
  if (s) return s;
  struct json_writer w = {0};
  jw_open(&w, NULL, '{');
  for (const struct js *m = NULL; (m = js_next(old, m));) {
    if (!strcmp(js_key(m), IDENTITY) || !strcmp(js_key(m), CHANGES)) continue;
    add_copy(&w, m);
  }
  add_identity(&w, r);
  add_changes(&w, r, was, js_get(old, CHANGES));
  js_free(old);
  return finish(&w, path, e);
}
