/* The figures of certified seeds: a table, or JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "certify/certify.h"
#include "json_out.h"
#include "table_out.h"

static const char *const share_name[] = {"accuracy", "certified", "attacked"};

static double mean_radius(const struct certify_job *j)
{
  double sum = 0;
  size_t n = 0;
  for (size_t i = 0; i < r4_data_count(j->data); i++) {
    if (isnan(j->example[i].radius) || !j->o->radius) return NAN;
    if (!r4_data_has_mask(j->data, i)) continue;
    sum += j->example[i].radius;
    n++;
  }
  return n ? sum / (double)n : NAN;
}

static double largest_delta(const struct certify_job *j)
{
  double most = j->o->gradient ? 0 : NAN;
  for (size_t i = 0; i < r4_data_count(j->data) && j->o->gradient; i++) most = fmax(most, j->example[i].delta);
  return most;
}

void certify_row_of(const struct certify_job *j, struct certify_row *to)
{
  *to = (struct certify_row){
    .seed = j->run->seed[j->seed], .attacked = j->attacked, .delta = largest_delta(j), .radius = mean_radius(j)};
  for (int k = 0; k < 3; k++) {
    to->share[k] = r4_certified_shares(j->data, j->example, (r4_certified_share)k, false);
    to->masked[k] = r4_certified_shares(j->data, j->example, (r4_certified_share)k, true);
  }
  for (size_t i = 0; i < r4_data_count(j->data); i++)
    to->broken += j->example[i].holds && j->example[i].broken;
}

/* ---- The table ---- */

static void add_shares(r4_table *t, const char *name, const r4_group_shares *s, bool attacked)
{
  r4_table_cell(t, name);
  cell(t, "%zu", s->examples);
  for (int k = 0; k < 3; k++) {
    bool there = k != R4_SHARE_ATTACKED || attacked;
    cell_number(t, "%.2f", there ? 100 * s[k].all : NAN);
    cell_number(t, "%.2f", there ? 100 * s[k].avg_group : NAN);
    cell_number(t, "%.2f", there ? 100 * s[k].worst_group : NAN);
  }
}

static void add_mean(r4_table *t, const struct certify_row *row, size_t n)
{
  double value[MAX_SEEDS];
  r4_table_cell(t, "mean");
  cell(t, "%zu", row->share[0].examples);
  for (int k = 0; k < 9; k++) {
    for (size_t i = 0; i < n; i++) {
      const r4_group_shares *s = &row[i].share[k / 3];
      value[i] = k / 3 == R4_SHARE_ATTACKED && !row->attacked ? NAN
                 : k % 3 == 0                                 ? s->all
                 : k % 3 == 1                                 ? s->avg_group
                                                              : s->worst_group;
    }
    cell_number(t, "%.2f", 100 * r4_mean_sd_of(n, value).mean);
  }
}

static int print_table(const struct certify_row *row, size_t n)
{
  r4_table *t = r4_table_new();
  r4_table_column(t, "", 'l', 6);
  r4_table_column(t, "examples", 'r', 8);
  for (int k = 0; k < 3; k++) {
    r4_table_column(t, share_name[k], 'r', 9);
    r4_table_column(t, "groups", 'r', 6);
    r4_table_column(t, "worst", 'r', 6);
  }
  for (size_t i = 0; i < n; i++) {
    char name[32];
    snprintf(name, sizeof name, "seed %lld", (long long)row[i].seed);
    add_shares(t, name, row[i].share, row[i].attacked);
    if (row[i].masked->examples && row[i].masked->examples < row[i].share->examples)
      add_shares(t, "  with a mask", row[i].masked, row[i].attacked);
  }
  if (n > 1) add_mean(t, row, n);
  return table_end(stdout, "certify", t, R4_TABLE_PLAIN);
}

/* "12,3055" */
static size_t list_size(const char *ids)
{
  size_t n = 1;
  for (; *ids; ids++) n += *ids == ',';
  return n;
}

static void print_claim(const struct certify_job *j)
{
  const r4_certificate *c = &j->certificate;
  printf("claim %s", c->claim);
  if (c->eps) printf(", eps %s", c->eps);
  if (c->low) printf(", valid values %s to %s", c->low, c->high);
  if (c->words) printf(", of %zu tokens", list_size(c->words));
  if (c->cover) printf(", cover %s", c->cover);
  printf("; semantics %s, method %s\n\n", c->semantics, c->method);
}

/* The checker beside this program, as nobody has installed what was just built; else the one that the shell finds. */
static void find_checker(char path[PATH_SIZE])
{
  char self[PATH_SIZE] = "";
  ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  char *slash = n > 0 ? strrchr(self, '/') : NULL;
  if (slash) *slash = 0;
  bool fits = slash && snprintf(path, PATH_SIZE, "%s/r4-check", self) < PATH_SIZE;
  if (!fits || access(path, X_OK)) snprintf(path, PATH_SIZE, "r4-check");
}

/* A path below the folder that this was started in, without it. */
static const char *from_here(const char *path)
{
  char here[PATH_SIZE];
  size_t n = getcwd(here, sizeof here) ? strlen(here) : 0;
  return n && !strncmp(path, here, n) && path[n] == '/' ? path + n + 1 : path;
}

static void print_check(const struct certify_row *row)
{
  char checker[PATH_SIZE];
  find_checker(checker);
  printf("check it with: ");
  cli_print_word(stdout, from_here(checker));
  printf(" --quiet ");
  cli_print_word(stdout, row->file);
  printf(" ");
  cli_print_word(stdout, row->model);
  printf(" ");
  cli_print_word(stdout, row->data);
  printf("\n");
}

/* "15.73 % (67 of 426)" */
struct counted {
  char text[80];
};
static struct counted counted(const struct certify_row *row)
{
  struct counted to;
  const r4_group_shares *s = &row->share[R4_SHARE_CERTIFIED];
  snprintf(to.text, sizeof to.text, "%.2f %% (%.0f of %zu)", 100 * s->all, s->all * (double)s->examples, s->examples);
  return to;
}

static bool certifies_nothing(const struct certify_row *row, size_t n)
{
  double most = 0;
  for (size_t i = 0; i < n; i++)
    most = fmax(most, (row[i].masked->examples ? row[i].masked : row[i].share)[R4_SHARE_CERTIFIED].all);
  return most == 0;
}

/* "nothing is certified: .." and what helps: a net that has never seen bounds, or smaller ones; or bounds that are too
 * wide, as of a method that is quick. */
static void explain_nothing(const struct certify_job *j)
{
  r4_setting_value method = {0}, eps = {0};
  r4_settings_get(j->run->settings, "method", &method, NULL);
  r4_settings_get(j->run->settings, "eps", &eps, NULL);
  const char *linear = strcmp(j->o->method, "intervals") ? "" : ", or try --method linear, which is tighter and slower";
  bool whole = isnan(eps.real), smaller = !whole && (j->o->range || strtod(j->o->eps, NULL) > eps.real);
  printf("No example with a mask is certified: ");
  if (!method.text || !r4_method_uses(method.text, "eps=range"))
    printf("method %s trains without bounds; train with bound: true%s\n", shown(method.text ? method.text : "erm").text,
           linear);
  else if (smaller)
    printf("it was trained for eps %g; train with eps: %s%s\n", eps.real, j->o->range ? "range" : j->o->eps, linear);
  else
    printf("the bounds are too wide; train longer or with a larger lambda%s\n", linear);
}

static void print_notes(const struct certify_job *j, const struct certify_row *row, size_t n)
{
  size_t all = row->share->examples, masked = row->masked->examples;
  printf("\nShares in per cent: all examples, the mean over groups, the worst group. certified: correct, and proved.");
  if (row->attacked) printf("\n"
                            "attacked: correct, and the attack found no counter-example; the exact share lies between "
                            "the two.");
  printf("\n");
  bool boxes = !row->cover;
  if (boxes && masked < all)
    printf("%zu of %zu examples have no mask: their box is a single point, so they are certified if correct.\n",
           all - masked, all);
  for (size_t i = 0; i < n; i++) {
    if (!isnan(row[i].radius))
      printf("seed %lld: mean certified radius of examples with a mask %.4g\n", (long long)row[i].seed, row[i].radius);
    if (!isnan(row[i].delta))
      printf("seed %lld: largest masked explanation delta* %.6g\n", (long long)row[i].seed, row[i].delta);
    printf("seed %lld: %s certified\n", (long long)row[i].seed, counted(&row[i]).text);
    printf("seed %lld: %s (%.1f s)\n", (long long)row[i].seed, shown(row[i].file).text, row[i].seconds);
  }
  if (boxes && !j->certificate.words && certifies_nothing(row, n)) explain_nothing(j);
  for (size_t i = 0; i < n; i++) print_check(&row[i]);
}

/* A certified example that an attack breaks is a defect of r4, and must not pass unnoticed. */
static void print_broken(const struct certify_row *row, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (row[i].broken)
      fprintf(stderr, "r4 certify: seed %lld: an attack broke %zu certified examples: this is a bug in r4, please "
                      "report it\n", (long long)row[i].seed, row[i].broken);
}

int certify_print(const struct certify_settings *o, const struct certify_job *j, const struct certify_row *row,
                  size_t n)
{
  (void)o;
  print_claim(j);
  int code = print_table(row, n);
  if (!code) print_notes(j, row, n);
  for (size_t i = 0; i < n && row->cover && !code; i++) {
    printf("\nseed %lld\n", (long long)row[i].seed);
    code = cover_print(j->data, row[i].cover);
  }
  print_broken(row, n);
  return code;
}

/* ---- JSON ---- */

static void add_json_shares(r4_json *w, const char *key, const r4_group_shares *s, bool attacked)
{
  char name[40];
  r4_json_open(w, key, '{');
  r4_json_whole(w, "examples", (int64_t)s->examples);
  for (int k = 0; k < 3; k++) {
    const char *prefix = k == R4_SHARE_CORRECT ? "" : k == R4_SHARE_CERTIFIED ? "certified_" : "attacked_";
    if (k == R4_SHARE_ATTACKED && !attacked) continue;
    snprintf(name, sizeof name, "%saccuracy", prefix);
    r4_json_real(w, name, s[k].all);
    snprintf(name, sizeof name, "%savg_group_accuracy", prefix);
    r4_json_real(w, name, s[k].avg_group);
    snprintf(name, sizeof name, "%sworst_group_accuracy", prefix);
    r4_json_real(w, name, s[k].worst_group);
  }
  r4_json_close(w, '}');
}

static int print_row(const struct certify_settings *o, const struct certify_job *j, const struct certify_row *row)
{
  const r4_certificate *c = &j->certificate;
  r4_json *w = r4_json_new();
  r4_json_open(w, NULL, '{');
  r4_json_text(w, "run", o->run);
  r4_json_whole(w, "seed", row->seed);
  r4_json_text(w, "claim", c->claim);
  r4_json_text(w, "semantics", c->semantics);
  r4_json_text(w, "method", c->method);
  if (c->eps) r4_json_text(w, "eps", c->eps);
  if (c->words) r4_json_text(w, "words", c->words);
  if (c->cover) r4_json_text(w, "cover", c->cover);
  add_json_shares(w, "all", row->share, row->attacked);
  add_json_shares(w, "masked", row->masked, row->attacked);
  if (row->attacked) r4_json_whole(w, "certified_and_broken", (int64_t)row->broken);
  if (o->radius) r4_json_real(w, "mean_radius", row->radius);
  if (o->gradient) r4_json_real(w, "delta", row->delta);
  if (row->cover) cover_json(w, j->data, row->cover);
  r4_json_real(w, "seconds", row->seconds);
  r4_json_text(w, "certificate", row->file);
  r4_json_text(w, "model", row->model);
  r4_json_text(w, "data", row->data);
  r4_json_close(w, '}');
  return json_print(stdout, "certify", w);
}

int certify_print_json(const struct certify_settings *o, const struct certify_job *j, const struct certify_row *row,
                       size_t n)
{
  int code = EXIT_DONE;
  for (size_t i = 0; i < n && !code; i++) code = print_row(o, j, &row[i]);
  print_broken(row, n);
  return code;
}
