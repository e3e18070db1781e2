/* The folder of a run: config.yaml, and a folder for each seed. Its seeds share their settings, and several processes
 * may train different ones at once. So whoever trains there shares a lock on the folder, and config.yaml is changed
 * only by one that has it alone. */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "data/cmd_data.h"
#include "train.h"

static int64_t whole_setting(const r4_settings *s, const char *key)
{
  r4_setting_value v = {0};
  r4_settings_get(s, key, &v, NULL);
  return v.whole;
}

void train_choose_seeds(struct job *j, int64_t n)
{
  int64_t first = whole_setting(j->settings, "seed");
  j->seeds = n || !j->resume ? 0 : runs_seeds(j->out, j->seed);
  if (j->seeds) return;
  for (; j->seeds < (n ? (size_t)n : 1); j->seeds++) j->seed[j->seeds] = first + (int64_t)j->seeds;
}

/* ---- What is there ---- */

static bool has_seed(const struct job *j, int64_t seed)
{
  for (size_t k = 0; k < j->seeds; k++)
    if (j->seed[k] == seed) return true;
  return false;
}

/* A seed of which something has been trained: the first that this job does not train itself, otherwise any. */
struct trained {
  bool any, other;
  int64_t seed;
};

static struct trained find_trained(const struct job *j)
{
  struct trained t = {0};
  int64_t seed[MAX_SEEDS];
  size_t n = runs_seeds(j->out, seed);
  for (size_t k = 0; k < n && !t.other; k++) {
    char folder[PATH_SIZE], checkpoint[PATH_SIZE + 32], model[PATH_SIZE + 32];
    runs_seed_folder(j->out, seed[k], folder);
    snprintf(checkpoint, sizeof checkpoint, "%s/checkpoint", folder);
    snprintf(model, sizeof model, "%s/model.safetensors", folder);
    if (!is_file(checkpoint) && !is_file(model)) continue;
    t = (struct trained){.any = true, .other = !has_seed(j, seed[k]), .seed = seed[k]};
  }
  return t;
}

bool train_has_others(const struct job *j)
{
  return find_trained(j).other;
}

/* The most epochs that a seed has done. */
static int64_t epochs_done(const struct job *j)
{
  int64_t most = 0;
  for (size_t k = 0; k < j->seeds; k++) {
    char folder[PATH_SIZE];
    r4_run_cost cost = {0};
    runs_seed_folder(j->out, j->seed[k], folder);
    r4_run_cost_read(folder, &cost, NULL);
    if (cost.epochs > most) most = cost.epochs;
  }
  return most;
}

/* From the settings of config.yaml to those of this job, its seed apart. */
struct difference {
  char path[PATH_SIZE + 16]; /* of config.yaml */
  r4_run_change change;
  r4_error what;
};

static struct difference compare(const struct job *j)
{
  struct difference d = {.change = R4_RUN_OTHER};
  char assignment[64];
  r4_settings *was = r4_settings_new();
  snprintf(d.path, sizeof d.path, "%s/config.yaml", j->out);
  snprintf(assignment, sizeof assignment, "seed=%lld", (long long)whole_setting(j->settings, "seed"));
  if (was && !r4_settings_read(was, d.path, &d.what) && !r4_settings_set(was, assignment, "--seeds", &d.what))
    d.change = r4_settings_compare(was, j->settings, &d.what);
  r4_settings_free(was);
  return d;
}

/* ---- What may be done with it ---- */

static r4_status refuse(const struct difference *d, r4_error *e, const char *format, ...)
  __attribute__((format(printf, 3, 4)));

static r4_status refuse(const struct difference *d, r4_error *e, const char *format, ...)
{
  char why[256];
  va_list args;
  va_start(args, format);
  vsnprintf(why, sizeof why, format, args);
  va_end(args);
  snprintf(e->text, sizeof e->text, "%.120s: %.120s%s", d->path, d->what.text, why);
  return e->status = R4_E_ARGUMENT;
}

/* What was trained before keeps its settings, unless all of it goes on or is replaced. */
static r4_status check_trained(const struct job *j, const struct difference *d, r4_error *e)
{
  struct trained t = find_trained(j);
  if (!t.any || d->change <= R4_RUN_ASIDE) return R4_OK;
  if (t.other)
    return refuse(
      d, e, ", but seed %lld in this folder would stay as it was: train it as well, or choose another --out",
      (long long)t.seed);
  if (j->force) return R4_OK;
  if (j->resume && d->change == R4_RUN_LENGTH) {
    int64_t done = epochs_done(j);
    if (done <= whole_setting(j->settings, "epochs")) return R4_OK;
    return refuse(d, e, ", but %lld epochs are done", (long long)done);
  }
  if (j->resume)
    return refuse(
      d, e,
      ": only epochs, patience, checkpoint_seconds, threads and eval.* can change when a run is resumed");
  return refuse(d, e, ": choose another --out, or --force to replace the existing run");
}

/* others: who else trains in the folder, if anybody does. */
static r4_status settle(const struct job *j, r4_lock *l, const r4_error *others, r4_error *e)
{
  struct difference d = compare(j);
  r4_status s = check_trained(j, &d, e);
  bool aside = d.change == R4_RUN_ASIDE && (others->status || !j->resume);
  if (s || d.change == R4_RUN_SAME || aside) return s;
  if (others->status) return refuse(&d, e, ": %.200s", others->text), e->status = R4_E_BUSY;
  s = r4_settings_save(j->settings, d.path, e);
  if (s) return s;
  r4_lock_share(l);
  d = compare(j);
  return d.change == R4_RUN_SAME ? R4_OK : refuse(&d, e, ": another process started at the same time");
}

static int refuse_links(const struct job *j)
{
  char path[PATH_SIZE];
  search_folder(j, path);
  int code = folder_refuse_link(j->command, path);
  for (size_t k = 0; k < j->seeds && !code; k++) {
    runs_seed_folder(j->out, j->seed[k], path);
    code = folder_refuse_link(j->command, path);
  }
  return code;
}

static r4_status make_seed_folders(const struct job *j, r4_error *e)
{
  for (size_t k = 0; k < j->seeds; k++) {
    char path[PATH_SIZE];
    runs_seed_folder(j->out, j->seed[k], path);
    if (folder_make(path)) continue;
    snprintf(e->text, sizeof e->text, "%.300s: %s", path, strerror(errno));
    return e->status = R4_E_IO;
  }
  return R4_OK;
}

r4_lock *train_prepare(const struct job *j, int *code)
{
  char manifest[PATH_SIZE + 16];
  r4_error e = {0}, others = {0};
  snprintf(manifest, sizeof manifest, "%s/manifest.json", j->out);
  if (is_file(manifest)) {
    fprintf(stderr, "r4 %s: %s: is the folder of one seed, expected the folder of its run\n", j->command,
            shown(j->out).text);
    *code = EXIT_USAGE;
    return NULL;
  }
  if ((*code = refuse_links(j))) return NULL;
  r4_lock *l = r4_lock_take(j->out, false, &others);
  if (!l && others.status == R4_E_BUSY)
    l = r4_lock_take(j->out, true, &e);
  else
    e = others;
  r4_status s = l ? settle(j, l, &others, &e) : e.status;
  if (!s) s = make_seed_folders(j, &e);
  if (!s) {
    r4_lock_share(l);
    return l;
  }
  r4_lock_free(l);
  *code = cli_fail(j->command, s, e.text);
  return NULL;
}
