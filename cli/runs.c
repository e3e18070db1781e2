#include "runs.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "data/cmd_data.h"

bool is_file(const char *path)
{
  struct stat about;
  return !stat(path, &about) && S_ISREG(about.st_mode);
}

bool is_folder(const char *path)
{
  struct stat about;
  return !stat(path, &about) && S_ISDIR(about.st_mode);
}

void runs_seed_folder(const char *run, int64_t seed, char path[PATH_SIZE])
{
  snprintf(path, PATH_SIZE, "%s/seed-%lld", run, (long long)seed);
}

static int by_number(const void *a, const void *b)
{
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

size_t runs_seeds(const char *run, int64_t seed[MAX_SEEDS])
{
  size_t n = 0;
  DIR *folder = opendir(run);
  for (struct dirent *entry; folder && n < MAX_SEEDS && (entry = readdir(folder));) {
    char *end = NULL;
    if (strncmp(entry->d_name, "seed-", 5)) continue;
    long long k = strtoll(entry->d_name + 5, &end, 10);
    if (end > entry->d_name + 5 && !*end && k >= 0) seed[n++] = k;
  }
  if (folder) closedir(folder);
  qsort(seed, n, sizeof *seed, by_number);
  return n;
}

static void add_model(struct run *r, const char *folder, int64_t seed)
{
  char *model = r->model[r->seeds];
  int n = snprintf(model, PATH_SIZE, "%s/model.safetensors", folder);
  if (n >= PATH_SIZE || !is_file(model)) return;
  snprintf(r->folder[r->seeds], PATH_SIZE, "%s", folder);
  r->seed[r->seeds++] = seed;
}

static void find_models(struct run *r, const char *path)
{
  int64_t seed[MAX_SEEDS];
  size_t n = runs_seeds(path, seed);
  for (size_t k = 0; k < n; k++) {
    char folder[PATH_SIZE];
    runs_seed_folder(path, seed[k], folder);
    size_t before = r->seeds;
    add_model(r, folder, seed[k]);
    if (r->seeds == before) r->missing_seed[r->missing++] = seed[k];
  }
  r4_setting_value own = {0};
  if (!n && !r4_settings_get(r->settings, "seed", &own, NULL)) add_model(r, path, own.whole);
}

static int no_models(const char *command, const char *path)
{
  fprintf(stderr, "r4 %s: %s: no seed of this run has a model yet; continue with: r4 train ", command,
          shown(path).text);
  cli_print_word(stderr, path);
  fprintf(stderr, " --resume\n");
  return EXIT_WORLD;
}

/* "; it holds several runs: runs/erm, runs/mydata", if there are runs in this folder. */
static bool name_runs(const char *path, char *to, size_t size)
{
  enum { SHOWN = 5 };
  struct dirent **entry = NULL;
  int n = scandir(path, &entry, NULL, alphasort), found = 0;
  size_t used = 0, length = strlen(path);
  while (length > 1 && path[length - 1] == '/') length--;
  for (int k = 0; k < n; k++) {
    char config[2 * PATH_SIZE];
    const char *name = entry[k]->d_name;
    snprintf(config, sizeof config, "%s/%s/config.yaml", path, name);
    if (*name != '.' && strncmp(name, "seed-", 5) && is_file(config) && used < size && ++found <= SHOWN)
      used += (size_t)snprintf(to + used, size - used, "%s%.*s/%s", found > 1 ? ", " : "", (int)length, path, name);
    free(entry[k]);
  }
  free(entry);
  if (found > SHOWN && used < size) snprintf(to + used, size - used, ", ..");
  return found;
}

static r4_status read_settings(r4_settings *s, const char *path, r4_error *e)
{
  char config[PATH_SIZE];
  size_t length = strlen(path);
  r4_status status = R4_E_ARGUMENT;
  if (snprintf(config, sizeof config, "%s/config.yaml", path) >= PATH_SIZE)
    snprintf(e->text, sizeof e->text, "%.60s...: a path of %zu characters is too long", path, length);
  else
    status = r4_settings_read(s, config, e);
  char inside[R4_ERROR_SIZE - 100];
  if (status == R4_E_IO && name_runs(path, inside, sizeof inside)) {
    snprintf(e->text, sizeof e->text, "%.60s holds several runs: %s", path, inside);
    return R4_E_ARGUMENT;
  }
  length = strlen(e->text);
  if (status == R4_E_IO)
    snprintf(e->text + length, sizeof e->text - length, "; expected a folder made by r4 train");
  return status;
}

/* What is measured is kept in the folders of seeds. The path itself is the user's own choice, and may be a link. */
static int refuse_links(const char *command, const char *path, const struct run *r)
{
  int code = EXIT_DONE;
  for (size_t k = 0; k < r->seeds && !code; k++)
    if (strcmp(r->folder[k], path)) code = folder_refuse_link(command, r->folder[k]);
  return code;
}

struct run *runs_open(const char *command, const char *path, int *code)
{
  r4_error e = {0};
  struct run *r = calloc(1, sizeof *r);
  if (r) r->settings = r4_settings_new();
  r4_status s = r && r->settings ? read_settings(r->settings, path, &e) : R4_E_MEMORY;
  if (!s) find_models(r, path);
  bool linked = !s && refuse_links(command, path, r);
  if (!s && !linked && r->seeds) return r;
  *code = linked ? EXIT_WORLD : s ? cli_fail(command, s, e.text) : no_models(command, path);
  runs_free(r);
  return NULL;
}

void runs_limit(struct run *r, int64_t n)
{
  r4_setting_value first = {0};
  size_t kept = 0, missing = 0;
  r4_settings_get(r->settings, "seed", &first, NULL);
  for (size_t k = 0; k < r->seeds; k++) {
    if (r->seed[k] < first.whole || r->seed[k] >= first.whole + n) continue;
    r->seed[kept] = r->seed[k];
    memmove(r->folder[kept], r->folder[k], PATH_SIZE);
    memmove(r->model[kept++], r->model[k], PATH_SIZE);
  }
  for (size_t k = 0; k < r->missing; k++)
    if (r->missing_seed[k] >= first.whole && r->missing_seed[k] < first.whole + n)
      r->missing_seed[missing++] = r->missing_seed[k];
  r->seeds = kept;
  r->missing = missing;
}

/* Figures of different kinds, or of none, cannot be compared. */
static bool read_scores(const struct run *r, double score[MAX_SEEDS])
{
  r4_val_kind kind = R4_VAL_EXCHANGED;
  bool all = r->seeds > 1;
  for (size_t k = 0; all && k < r->seeds; k++) {
    r4_run_validation v;
    all = !r4_run_validation_read(r->folder[k], &v, NULL) && isfinite(v.score) && (!k || v.kind == kind);
    kind = v.kind;
    score[k] = v.score;
  }
  return all;
}

size_t runs_best(const struct run *r)
{
  double score[MAX_SEEDS];
  size_t best = 0;
  if (!read_scores(r, score)) return 0;
  for (size_t k = 1; k < r->seeds; k++)
    if (score[k] > score[best]) best = k;
  return best;
}

void runs_say_best(const char *command, const struct run *r, const char *hint)
{
  double score[MAX_SEEDS];
  size_t best = runs_best(r);
  fprintf(stderr, "r4 %s: seed %lld of %zu", command, (long long)r->seed[best], r->seeds);
  if (read_scores(r, score))
    fprintf(stderr, ", the best by validation (%.1f %%)", 100 * score[best]);
  else
    fprintf(stderr, ", the first, as validation does not tell them apart");
  fprintf(stderr, "; %s\n", hint);
}

const char *runs_model(const char *command, const char *path, int64_t seed, struct run **r, int *code)
{
  *r = NULL;
  *code = EXIT_WORLD;
  if (is_file(path)) return path;
  struct run *own = *r = runs_open(command, path, code);
  if (own && seed == RUNS_BEST) return own->model[runs_best(own)];
  for (size_t k = 0; own && k < own->seeds; k++)
    if (seed < 0 || own->seed[k] == seed) return own->model[k];
  if (own)
    fprintf(stderr, "r4 %s: %s has no model of seed %lld\n", command, shown(path).text, (long long)seed);
  return NULL;
}

static const char *last_part(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash && slash[1] ? slash + 1 : path;
}

void runs_name(const struct words *runs, char label[][PATH_SIZE], const char *name[])
{
  for (size_t k = 0; k < runs->n; k++) {
    r4_text_printable(runs->word[k], label[k], PATH_SIZE);
    for (size_t n = strlen(label[k]); n > 1 && label[k][n - 1] == '/'; n--) label[k][n - 1] = 0;
  }
  for (size_t k = 0; k < runs->n; k++) {
    name[k] = last_part(label[k]);
    for (size_t i = 0; i < runs->n; i++)
      if (strcmp(label[i], label[k]) && !strcmp(last_part(label[i]), last_part(label[k]))) name[k] = label[k];
  }
}

void runs_free(struct run *r)
{
  if (!r) return;
  r4_settings_free(r->settings);
  free(r);
}
