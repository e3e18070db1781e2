#include "experiment/summary.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/cmd_data.h"
#include "json_out.h"

/* ---- What it is of ---- */

static uint64_t files; /* a sum over all files of a folder, in whatever order they come */

static int add_file(const char *path, const struct stat *about, int kind, struct FTW *place)
{
  char text[PATH_MAX + 100], hash[R4_HASH_SIZE];
  (void)place;
  if (kind != FTW_F) return 0;
  snprintf(text, sizeof text, "%s %lld %lld.%09ld", path, (long long)about->st_size,
           (long long)about->st_mtim.tv_sec, about->st_mtim.tv_nsec);
  r4_hash(text, strlen(text), hash);
  files += strtoull((hash[16] = 0, hash), NULL, 16);
  return 0;
}

/* Of what lies at a path, if anything does. The folder of all runs of a list is mostly the same, and looked at once. */
static uint64_t stamp_of(const char *path)
{
  static char last[PATH_SIZE];
  static uint64_t stamp;
  if (!strcmp(path, last)) return stamp;
  files = 0;
  nftw(path, add_file, 16, 0);
  if (!is_folder(path)) return files;
  snprintf(last, sizeof last, "%s", path);
  return stamp = files;
}

void summary_asked(const r4_settings *s, char asked[R4_HASH_SIZE])
{
  char *text = NULL, *all = r4_settings_text(s);
  size_t size = 0;
  FILE *f = open_memstream(&text, &size);
  if (f && all) fputs(all, f);
  for (size_t k = 0; k < r4_setting_count() && f; k++) {
    const char *key = r4_setting_describe(k).key;
    r4_setting_value v = {0};
    bool data = !strcmp(key, "from") || !strncmp(key, "data", 4);
    if (data && !r4_settings_get(s, key, &v, NULL) && v.text && *v.text)
      fprintf(f, "%s %llx\n", key, (unsigned long long)stamp_of(v.text));
  }
  if (f) fclose(f);
  r4_hash(text ? text : "", text ? size : 0, asked);
  free(text);
  r4_string_free(all);
}

/* "-" if there is none: figures are not kept where a folder cannot be written. */
static void hash_file(const char *folder, const char *name, char hash[R4_HASH_SIZE])
{
  char path[PATH_SIZE + 32];
  struct stat about = {0};
  snprintf(hash, R4_HASH_SIZE, "-");
  snprintf(path, sizeof path, "%s/%s", folder, name);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  void *bytes = file >= 0 && !fstat(file, &about) && S_ISREG(about.st_mode) && about.st_size
                  ? mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0)
                  : MAP_FAILED;
  if (file >= 0) close(file);
  if (bytes == MAP_FAILED) return;
  r4_hash(bytes, (size_t)about.st_size, hash);
  munmap(bytes, (size_t)about.st_size);
}

/* SHA-256 of the version, of what is asked for, and of the files of all seeds. */
static void find_key(const struct summary_of *of, char key[R4_HASH_SIZE])
{
  enum { FILES = 3 };
  static char text[200 + MAX_SEEDS * FILES * R4_HASH_SIZE];
  const char *const name[FILES] = {"config.yaml", "model.safetensors",
                                   of->split == R4_TEST ? "eval.json" : "eval-val.json"};
  size_t n = (size_t)snprintf(text, sizeof text, "%s, form 2, %s %d %lld %lld", R4_VERSION, of->asked, (int)of->split,
                              (long long)of->first, (long long)of->seeds);
  for (int64_t k = 0; k < of->seeds; k++) {
    char folder[PATH_SIZE];
    runs_seed_folder(of->folder, of->first + k, folder);
    for (int i = 0; i < FILES; i++) {
      hash_file(folder, name[i], text + n);
      n += strlen(text + n);
    }
  }
  r4_hash(text, n, key);
}

static void find_path(const struct summary_of *of, char path[PATH_SIZE + 32])
{
  snprintf(path, PATH_SIZE + 32, "%s/summary%s.json", of->folder, of->split == R4_TEST ? "" : "-val");
}

/* ---- What is in it ---- */

/* Numbers of a run, and of a net beside its figures. */
enum { EPOCHS, SECONDS, UNPENALISED, RUN_NUMBERS };
static const char *const run_key[RUN_NUMBERS] = {"epochs", "seconds", "unpenalised"};

enum { CONSTANT, AVG, WORST, SCORE, SE, CHANGED, EXCHANGED, KIND, ONE_SIDED, NET_NUMBERS };
static const char *const net_key[NET_NUMBERS] = {"constant", "val_avg",       "val_worst", "val_score", "val_se",
                                                 "val_changed", "val_exchanged", "val_kind",  "one_sided"};

static void add_numbers(r4_json *w, int n, const char *const *key, const double *number)
{
  for (int k = 0; k < n; k++) r4_json_real(w, key[k], number[k]);
}

static bool take_numbers(const r4_json_value *v, int n, const char *const *key, double *number)
{
  bool good = true;
  for (int k = 0; k < n && good; k++) good = r4_json_as_real(r4_json_get(v, key[k]), &number[k]);
  return good;
}

/* ---- Writing ---- */

/* All values by key, and, as readers ask by key, the keys. */
static void add_figures(r4_json *w, const struct net_figures *f)
{
  r4_json_open(w, "keys", '[');
  for (size_t k = 0; k < f->n; k++) r4_json_text(w, NULL, f->value[k].key);
  r4_json_close(w, ']');
  r4_json_open(w, "figures", '{');
  for (size_t k = 0; k < f->n; k++) r4_json_real(w, f->value[k].key, f->value[k].value);
  r4_json_close(w, '}');
}

static r4_status add_net(r4_json *w, const struct summary_of *of, const struct run_figures *f, size_t k, r4_error *e)
{
  char folder[PATH_SIZE];
  const r4_metrics *m = &f->metrics[k];
  r4_run_validation v;
  r4_outcome end = {0};
  runs_seed_folder(of->folder, of->first + (int64_t)k, folder);
  r4_status s = r4_run_validation_read(folder, &v, e);
  if (s) return s;
  bool one_sided = !r4_outcome_read(folder, &end, NULL) && end.one_sided;
  const double number[NET_NUMBERS] = {m->answers.constant, v.avg,     v.worst,           v.score,       v.se,
                                      v.changed,           (double)v.exchanged, (double)v.kind, one_sided};
  r4_json_break(w);
  r4_json_open(w, NULL, '{');
  add_figures(w, &f->list.net[k]);
  add_numbers(w, NET_NUMBERS, net_key, number);
  r4_json_open(w, "groups", '[');
  for (size_t g = 0; g < m->groups; g++) r4_json_real(w, NULL, m->group_accuracy[g]);
  r4_json_close(w, ']');
  r4_json_close(w, '}');
  return R4_OK;
}

static r4_status add_all(r4_json *w, const struct summary_of *of, const struct run_figures *f, const char *key,
                         r4_error *e)
{
  const double number[RUN_NUMBERS] = {(double)f->cost.epochs, f->cost.seconds, (double)f->unpenalised};
  r4_status s = R4_OK;
  r4_json_open(w, NULL, '{');
  r4_json_text(w, "r4", R4_VERSION);
  r4_json_text(w, "key", key);
  add_numbers(w, RUN_NUMBERS, run_key, number);
  r4_json_text(w, "constant", f->constant);
  r4_json_text(w, "unpenalised_says", f->unpenalised_says);
  r4_json_open(w, "nets", '[');
  for (size_t k = 0; k < f->list.nets && !s; k++) s = add_net(w, of, f, k, e);
  r4_json_close(w, ']');
  r4_json_checksum(w);
  return s;
}

/* Beside its place, by a name of this process: another may write the same. */
static int write_text(const char *command, const char *path, r4_json *w)
{
  char own[PATH_SIZE + 64], part[PATH_MAX], text[PATH_SIZE + 256];
  snprintf(own, sizeof own, "%s.%ld", path, (long)getpid());
  FILE *f = file_beside(own, part);
  int code = f ? json_print(f, command, w) : EXIT_DONE;
  if (!f) r4_json_free(w);
  if (f && !fclose(f) && !code && !rename(part, path)) return EXIT_DONE;
  snprintf(text, sizeof text, "%s: %s", path, strerror(errno));
  if (f) remove(part);
  return code ? code : cli_fail(command, R4_E_IO, text);
}

int summary_write(const char *command, const struct summary_of *of, const struct run_figures *f)
{
  char key[R4_HASH_SIZE], path[PATH_SIZE + 32];
  r4_error e = {0};
  r4_json *w = r4_json_new();
  find_key(of, key);
  find_path(of, path);
  if (!add_all(w, of, f, key, &e)) return write_text(command, path, w);
  r4_json_free(w);
  return cli_fail(command, e.status, e.text);
}

/* ---- Reading ---- */

/* A key of no figure is left out: it is of another version of the table. */
static bool take_figures(const r4_json_value *v, struct figure_list *to)
{
  const r4_json_value *keys = r4_json_get(v, "keys"), *figures = r4_json_get(v, "figures");
  size_t n = r4_json_size(keys), used = 0;
  r4_value *value = n <= R4_MAX_VALUES ? figures_add_net(to, n) : NULL;
  for (size_t k = 0; k < n && value; k++) {
    const char *key = r4_json_as_text(r4_json_at(keys, k));
    r4_value *x = &value[used];
    if (!key || !r4_json_as_real(r4_json_get(figures, key), &x->value)) return false;
    x->figure = r4_figure_find(key);
    snprintf(x->key, sizeof x->key, "%s", key);
    used += x->figure < r4_figure_count();
  }
  if (value) to->net[to->nets - 1].n = used;
  return value != NULL;
}

static bool take_net(const r4_json_value *v, struct run_figures *f, r4_metrics *m, struct seed_validation *to)
{
  double n[NET_NUMBERS];
  const r4_json_value *groups = r4_json_get(v, "groups");
  bool good = take_numbers(v, NET_NUMBERS, net_key, n) && r4_json_size(groups) <= R4_MAX_GROUPS &&
              take_figures(v, &f->list);
  if (!good) return false;
  *m = (r4_metrics){.answers.constant = n[CONSTANT] != 0, .groups = r4_json_size(groups)};
  for (size_t g = 0; g < m->groups && good; g++)
    good = r4_json_as_real(r4_json_at(groups, g), &m->group_accuracy[g]);
  *to = (struct seed_validation){.of = {.avg = n[AVG],
                                        .worst = n[WORST],
                                        .score = n[SCORE],
                                        .se = n[SE],
                                        .changed = n[CHANGED],
                                        .exchanged = (int64_t)n[EXCHANGED],
                                        .kind = (r4_val_kind)n[KIND]},
                                 .one_sided = n[ONE_SIDED] != 0};
  return good;
}

/* The first sentence of all runs is kept. */
static void take_sentence(const r4_json_value *v, const char *key, char *to, size_t size)
{
  const char *text = r4_json_as_text(r4_json_get(v, key));
  if (text && !*to) snprintf(to, size, "%s", text);
}

static bool take_run(const r4_json_value *root, struct run_figures *f, r4_metrics *metrics,
                     struct seed_validation *validation)
{
  double n[RUN_NUMBERS];
  struct seed_validation none;
  const r4_json_value *nets = r4_json_get(root, "nets");
  bool good = take_numbers(root, RUN_NUMBERS, run_key, n) && f->list.nets + r4_json_size(nets) <= MAX_NETS;
  for (size_t k = 0; k < r4_json_size(nets) && good; k++) {
    size_t at = f->list.nets;
    good = take_net(r4_json_at(nets, k), f, &metrics[at], validation ? &validation[at] : &none);
  }
  if (!good) return false;
  take_sentence(root, "constant", f->constant, sizeof f->constant);
  take_sentence(root, "unpenalised_says", f->unpenalised_says, sizeof f->unpenalised_says);
  f->cost.epochs += (int64_t)n[EPOCHS];
  f->cost.seconds += n[SECONDS];
  f->unpenalised += (size_t)n[UNPENALISED];
  return true;
}

static r4_status refuse(const char *path, const char *why, r4_error *e)
{
  snprintf(e->text, sizeof e->text, "%.300s: %s", path, why);
  return e->status = R4_E_ARGUMENT;
}

static r4_status read_one(const struct summary_of *of, struct run_figures *f, r4_metrics *metrics,
                          struct seed_validation *validation, r4_error *e)
{
  char key[R4_HASH_SIZE], path[PATH_SIZE + 32];
  find_path(of, path);
  r4_json_value *root = r4_json_read_sealed(path, e);
  if (!root) return e->status;
  r4_status s = R4_OK;
  const char *own = r4_json_as_text(r4_json_get(root, "key"));
  find_key(of, key);
  if (!own || strcmp(own, key))
    s = refuse(path, "belongs to other settings, data, weights or figures", e);
  else if (!take_run(root, f, metrics, validation))
    s = refuse(path, "some figures are missing", e);
  r4_json_value_free(root);
  return s;
}

r4_status summary_read(const struct summary_of *of, size_t n, struct run_figures *f,
                       struct seed_validation *validation, r4_error *e)
{
  static r4_metrics metrics[MAX_NETS];
  r4_status s = R4_OK;
  *f = (struct run_figures){.metrics = metrics};
  for (size_t k = 0; k < n && !s; k++) s = read_one(&of[k], f, metrics, validation, e);
  if (s)
    figures_free(&f->list);
  else
    r4_summarize(metrics, f->list.nets, &f->summary);
  return s;
}
