/* figures.csv in the folder of a run: what was measured of its models. The last column is a check of the others and of
 * the models, so that figures which were edited, or belong to other models, are not taken for measured ones. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fleet.h"
#include "table_out.h"

enum { FIGURES = 12, TEXT_SIZE = 40 };

static const char *const heading[FIGURES] = {
  "average",    "average_sd",    "worst_group", "worst_group_sd", "kappa",           "kappa_sd",
  "kappa_mean", "kappa_mean_sd", "val_average", "val_average_sd", "val_worst_group", "val_worst_group_sd"};

static void list(struct kept_figures *f, double *at[FIGURES])
{
  r4_mean_sd *one[] = {&f->avg, &f->worst, &f->kappa, &f->kappa_mean, &f->val_avg, &f->val_worst};
  for (int k = 0; k < FIGURES; k++) at[k] = k % 2 ? &one[k / 2]->sd : &one[k / 2]->mean;
}

/* ---- The check ---- */

/* FNV-1a: against slips, not against forgers. */
static uint64_t add_bytes(uint64_t hash, const void *bytes, size_t n)
{
  for (const unsigned char *c = bytes; n--; c++) hash = (hash ^ *c) * 1099511628211u;
  return hash;
}

static uint64_t add_file(uint64_t hash, const char *path)
{
  char block[1 << 14];
  FILE *f = fopen(path, "rb");
  for (size_t n; f && (n = fread(block, 1, sizeof block, f));) hash = add_bytes(hash, block, n);
  if (f) fclose(f);
  return hash;
}

static const char *part_name(r4_split part)
{
  return part == R4_TEST ? "test" : "val";
}

static uint64_t check(const char *folder, const struct kept_figures *f)
{
  struct kept_figures copy = *f;
  double *at[FIGURES];
  char text[TEXT_SIZE], path[PATH_SIZE + 32];
  int64_t seed[MAX_SEEDS];
  uint64_t hash = 14695981039346656037u;
  list(&copy, at);
  for (int k = 0; k < FIGURES; k++)
    hash = add_bytes(hash, text, (size_t)snprintf(text, sizeof text, "%.9g,", *at[k]));
  hash = add_bytes(hash, text,
                   (size_t)snprintf(text, sizeof text, "%lld,%s", (long long)f->dead, part_name(f->part)));
  size_t n = runs_seeds(folder, seed);
  for (size_t k = 0; k < n; k++) {
    char one[PATH_SIZE];
    runs_seed_folder(folder, seed[k], one);
    snprintf(path, sizeof path, "%s/model.safetensors", one);
    hash = add_file(hash, path);
  }
  return hash;
}

/* ---- Reading ---- */

static bool read_real(const r4_table *t, const char *column, double *v)
{
  const char *text = r4_table_at(t, 0, column);
  char *end = NULL;
  *v = NAN;
  if (!text) return false;
  if (!*text) return true;
  *v = strtod(text, &end);
  return !*end;
}

static bool read_whole(const r4_table *t, const char *column, int64_t *v)
{
  double real;
  bool good = read_real(t, column, &real) && real >= 0 && real <= MAX_SEEDS;
  *v = good ? (int64_t)real : 0;
  return good;
}

static bool take(const r4_table *t, const char *folder, r4_split part, struct kept_figures *to)
{
  double *at[FIGURES];
  char sum[TEXT_SIZE];
  const char *was = r4_table_at(t, 0, "check");
  list(to, at);
  to->part = part;
  bool good = was && read_whole(t, "seeds", &to->seeds) && read_whole(t, "dead_seeds", &to->dead);
  for (int k = 0; k < FIGURES && good; k++) good = read_real(t, heading[k], at[k]);
  snprintf(sum, sizeof sum, "%016llx", (unsigned long long)check(folder, to));
  return good && !strcmp(sum, was);
}

bool kept_read(const char *command, const char *folder, int64_t seeds, r4_split part, struct kept_figures *to)
{
  char path[PATH_SIZE + 16];
  r4_error e = {0};
  snprintf(path, sizeof path, "%s/figures.csv", folder);
  if (!is_file(path)) return false;
  r4_table *t = r4_table_read(path, &e);
  bool good = t && take(t, folder, part, to);
  r4_table_free(t);
  if (!good)
    fprintf(stderr, "r4 %s: %s does not belong to the models beside it: they are measured again\n", command,
            shown(path).text);
  return good && to->seeds == seeds;
}

/* ---- Writing ---- */

int kept_write(const char *command, const char *folder, const struct kept_figures *f)
{
  char path[PATH_SIZE + 16], part[PATH_SIZE + 24], text[PATH_SIZE + 200];
  struct kept_figures copy = *f;
  double *at[FIGURES];
  list(&copy, at);
  r4_table *t = r4_table_new();
  r4_table_column(t, "seeds", 'l', 0);
  r4_table_column(t, "dead_seeds", 'l', 0);
  r4_table_column(t, "part", 'l', 0);
  for (int k = 0; k < FIGURES; k++) r4_table_column(t, heading[k], 'l', 0);
  r4_table_column(t, "check", 'l', 0);
  cell(t, "%lld", (long long)f->seeds);
  cell(t, "%lld", (long long)f->dead);
  r4_table_cell(t, part_name(f->part));
  for (int k = 0; k < FIGURES; k++) cell(t, isnan(*at[k]) ? "" : "%.9g", *at[k]);
  cell(t, "%016llx", (unsigned long long)check(folder, f));
  snprintf(path, sizeof path, "%s/figures.csv", folder);
  snprintf(part, sizeof part, "%s.part", path);
  FILE *file = fopen(part, "w");
  int code = file ? table_print(file, command, t, R4_TABLE_CSV) : EXIT_WORLD;
  r4_table_free(t);
  if (file && !fclose(file) && !code && !rename(part, path)) return EXIT_DONE;
  snprintf(text, sizeof text, "%s: %s", path, strerror(errno));
  return cli_fail(command, R4_E_IO, text);
}
