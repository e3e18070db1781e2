/* r4 reproduce: all rows of a published table, trained, measured and set beside the published figures.
 *
 * experiments/NAME/table.csv has a line per row: its name, its preset as seen from that folder, the published figures,
 * empty where there are none, and settings (key=value ..) that it changes, in quotes if there is a comma in them.
 * Finished seeds are not trained again, and what was measured of them is kept in their folders. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/reproduce.h"

#define AT(field) offsetof(struct reproduce_settings, field)
static const struct option options[] = {
  {"NAME", OPTION_WORD, AT(name), NULL, 0, 0,
   "decoy-mnist, a table below it (decoy-mnist/as-published), or a folder of your own: a table.csv with the "
   "columns name and preset, and the presets in it"},
  {"methods", OPTION_TEXT, AT(methods), NULL, 0, 0, "rows to reproduce, by preset, such as erm,cert-r4 (default: "
                                                    "all)"},
  {"seeds", OPTION_WHOLE, AT(seeds), "4", 1, MAX_SEEDS, "number of seeds of each row"},
  {"splits", OPTION_WHOLE, AT(splits), "1", 1, MAX_SPLITS,
   "number of splits, for data that are split by data.seed: 0 to N - 1, all seeds each; 1: as the rows say"},
  {"set KEY=VALUE", OPTION_LIST, AT(set), NULL, 0, 0, "change one setting of all rows; may be repeated"},
  {"out FOLDER", OPTION_TEXT, AT(out), NULL, 0, 0, "folder for the runs and the results (default: runs/NAME)"},
  {"jobs", OPTION_WHOLE, AT(jobs), "0", 0, MAX_SEEDS, "seeds trained at once; 0: as many as CPUs"},
  {"form", OPTION_TEXT, AT(form), "markdown", 0, 0, "what to print: text, markdown, latex, csv or json"},
  {"json", OPTION_FLAG, AT(json), NULL, 0, 0, "same as --form json"},
  {"quiet", OPTION_FLAG, AT(quiet), NULL, 0, 0, "no progress"},
  PLAN_OPTIONS(struct reproduce_settings),
  {0},
};

/* ---- The table ---- */

/* As the tables print them, "Cert-R4, R3", or "cert_r4": as presets are called. */
static void name_methods(const char *given, char *to, size_t size)
{
  size_t n = 0;
  for (; *given && n + 1 < size; given++)
    if (*given != ' ') to[n++] = *given == '_' ? '-' : (char)tolower((unsigned char)*given);
  to[n] = 0;
}

static bool is_wanted(const char *list, const char *preset)
{
  size_t n = strlen(preset);
  if (!*list) return true;
  for (const char *at = list; (at = strstr(at, preset)); at += n) {
    bool begins = at == list || at[-1] == ',', ends = !at[n] || at[n] == ',';
    if (begins && ends) return true;
  }
  return false;
}

const char *row_preset(const struct row *r)
{
  const char *slash = strrchr(r->preset, '/');
  return slash ? slash + 1 : r->preset;
}

struct row_settings row_changes(const struct table *t, const struct row *r)
{
  struct row_settings to;
  snprintf(to.text, sizeof to.text, "%s%s%s", r->settings, *r->settings && *t->set ? " " : "", t->set);
  return to;
}

/* False after a message. */
static bool take_set(struct table *t)
{
  size_t n = 0;
  for (size_t k = 0; k < t->o->set.n && n < sizeof t->set; k++)
    n += (size_t)snprintf(t->set + n, sizeof t->set - n, "%s%s", k ? " " : "", t->o->set.word[k]);
  if (n >= sizeof t->set) fprintf(stderr, "r4 reproduce: --set: more than %d characters together\n", SETTINGS_SIZE - 1);
  return n < sizeof t->set;
}

static const char *field(const struct table *t, size_t row, const char *column)
{
  const char *text = r4_table_at(t->file, row, column);
  return text ? text : "";
}

static struct row row_of(const struct table *t, size_t k)
{
  return (struct row){
    .name = field(t, k, "name"),
    .preset = field(t, k, "preset"),
    .avg = field(t, k, "avg"),
    .avg_sd = field(t, k, "avg_sd"),
    .worst = field(t, k, "worst"),
    .worst_sd = field(t, k, "worst_sd"),
    .kappa = field(t, k, "kappa"),
    .settings = field(t, k, "settings"),
  };
}

static bool has_preset(const struct table *t, const char *name, size_t n)
{
  for (size_t k = 0; k < t->rows; k++) {
    const char *preset = row_preset(&t->row[k]);
    if (strlen(preset) == n && !strncmp(preset, name, n)) return true;
  }
  return false;
}

/* Every name of --methods must be that of a row: says what is wrong, or nothing. */
static void check_methods(const struct table *t, const char *path, char *text, size_t size)
{
  for (const char *name = t->o->methods; *name && !*text;) {
    size_t n = strcspn(name, ",");
    if (!has_preset(t, name, n))
      snprintf(text, size, "--methods: \"%.*s\" is not a preset of %s", n < 100 ? (int)n : 100, name, path);
    name += n + (name[n] == ',');
  }
}

/* Returns an exit code. */
static int read_table(struct table *t)
{
  char path[PATH_SIZE], text[PATH_SIZE + 200] = "";
  r4_error e = {0};
  snprintf(path, sizeof path, "%s/table.csv", t->folder);
  t->file = r4_table_read(path, &e);
  if (!t->file) return cli_fail("reproduce", e.status, e.text);
  for (size_t k = 0; k < r4_table_rows(t->file) && !*text; k++) {
    struct row r = row_of(t, k);
    if (!*r.preset || strlen(r.settings) >= SETTINGS_SIZE / 2)
      snprintf(text, sizeof text, "%s: row %zu: expected a preset, and settings below %d characters", path,
               k + 1, SETTINGS_SIZE / 2);
    else if (t->rows == MAX_ROWS)
      snprintf(text, sizeof text, "%s: more than %d rows", path, MAX_ROWS);
    else if (is_wanted(t->o->methods, row_preset(&r)))
      t->row[t->rows++] = r;
  }
  if (!*text) check_methods(t, path, text, sizeof text);
  if (!*text && !t->rows) snprintf(text, sizeof text, "%s has no rows", path);
  return *text ? cli_fail("reproduce", R4_E_ARGUMENT, text) : EXIT_DONE;
}

/* ---- The runs ---- */

/* The row's settings, "data.seed=2" for a split, then those of the command line. */
static void write_settings(const struct table *t, const struct row *r, int64_t split, char to[SETTINGS_SIZE])
{
  const char *own = r->settings;
  snprintf(to, SETTINGS_SIZE, "%s", own);
  if (t->o->splits > 1)
    snprintf(to, SETTINGS_SIZE, "%s%sdata.seed=%lld", own, *own ? " " : "", (long long)split);
}

static r4_settings *row_settings(const struct table *t, const struct row *r, char settings[SETTINGS_SIZE],
                                 int *code)
{
  char preset[PATH_SIZE], *rest = settings;
  struct words set = {0};
  snprintf(preset, sizeof preset, "%s/%s.yaml", t->folder, r->preset);
  for (char *word; (word = strsep(&rest, " "));)
    if (*word) set.word[set.n++] = word; /* half as many as characters at most: they fit */
  return train_settings("reproduce", preset, &set, &t->o->set, code);
}

/* OUT/r3, or OUT/r3_lambda=10_eps=0.1 with settings. What would end a name becomes _. */
static void name_run(const struct table *t, const struct row *r, const char *settings, char run[PATH_SIZE])
{
  snprintf(run, PATH_SIZE, "%s/%s%s%s", t->out, row_preset(r), *settings ? " " : "", settings);
  for (char *c = run + strlen(t->out) + 1; *c; c++)
    if (*c == ' ' || *c == '/') *c = '_';
}

/* The runs of row k: one for each split, after those of the rows before. Returns an exit code. */
static int add_runs(struct table *t, size_t k)
{
  const struct row *r = &t->row[k];
  int code = EXIT_DONE;
  for (int64_t split = 0; split < t->o->splits && !code; split++) {
    char settings[SETTINGS_SIZE];
    struct listed_run *run = &t->list.run[t->list.runs++];
    write_settings(t, r, split, settings);
    name_run(t, r, settings, run->folder);
    snprintf(run->doing, sizeof run->doing, "[%zu/%zu] %.60s: ", k + 1, t->rows, r->name);
    run->settings = row_settings(t, r, settings, &code);
  }
  return code;
}

struct columns table_columns(const struct table *t)
{
  struct columns c = {0};
  for (const struct row *r = t->row; r < t->row + t->rows; r++)
    if (r->done) columns_add_list(&c, &r->ours.list);
  return c;
}

/* "[3/12] R3: group average 98.1, worst group 97.3, kappa, masked 2.36, lost by swap 0.1; 9 min left" */
static void tell(const struct table *t, const struct row *r)
{
  if (t->o->quiet) return;
  fprintf(stderr, "[%td/%zu] %s:", r - t->row + 1, t->rows, shown(r->name).text);
  run_list_tell(&t->list, &r->ours.list, "");
}

/* With the last of its splits a row is done, in whatever order these come. */
static int take_row(struct table *t, struct row *r)
{
  size_t splits = (size_t)t->o->splits, first = (size_t)(r - t->row) * splits;
  for (size_t k = first; k < first + splits; k++)
    if (r->done || !t->list.run[k].done) return EXIT_DONE;
  int code = run_list_figures(&t->list, first, splits, &r->ours);
  r->done = !code;
  return code;
}

static int write_all(void *user)
{
  struct table *t = user;
  int code = EXIT_DONE;
  for (size_t k = 0; k < t->rows && !code; k++) code = take_row(t, &t->row[k]);
  return code ? code : results_write_all(t);
}

static int after(void *user, size_t k, bool made)
{
  struct table *t = user;
  struct row *r = &t->row[k / (size_t)t->o->splits];
  bool was = r->done;
  (void)made;
  int code = take_row(t, r);
  if (code || was || !r->done || t->list.plan->work) return code;
  code = results_write_all(t);
  if (!code) tell(t, r);
  return code;
}

static int print_all(void *user)
{
  struct table *t = user;
  int code = EXIT_DONE;
  for (size_t k = 0; k < t->rows && !code; k++) code = take_row(t, &t->row[k]);
  return code ? code : results_print(t, t->o->form);
}

/* ---- The command ---- */

static int make_all(struct table *t)
{
  int code = EXIT_DONE;
  t->list = (struct run_list){.command = "reproduce",
                              .out = t->out,
                              .plan = &t->o->plan,
                              .run = calloc(t->rows * (size_t)t->o->splits, sizeof *t->list.run),
                              .seeds = t->o->seeds,
                              .jobs = t->o->jobs,
                              .rows = true,
                              .split = R4_TEST,
                              .quiet = t->o->quiet,
                              .after = after,
                              .write = write_all,
                              .print = print_all,
                              .user = t};
  if (!t->list.run) return cli_fail("reproduce", R4_E_MEMORY, "");
  for (size_t k = 0; k < t->rows && !code; k++) code = add_runs(t, k);
  if (!code) code = run_list_go(&t->list);
  listed_runs_free(t->list.run, t->list.runs);
  return code;
}

int reproduce_list(int argc, char **argv, const struct plan_work *w)
{
  struct reproduce_settings o;
  static struct table t;
  if (!options_read("reproduce", options, &o, argc, argv)) return EXIT_USAGE;
  plan_words(&o.plan, argc, argv, w);
  char methods[PATH_SIZE];
  name_methods(o.methods, methods, sizeof methods);
  o.methods = methods;
  if (o.json) o.form = "json";
  if (!results_have_form(o.form)) return EXIT_USAGE;
  t.o = &o;
  if (!take_set(&t)) return EXIT_USAGE;
  if (!train_find_experiment(o.name, t.folder, sizeof t.folder)) {
    fprintf(stderr, "r4 reproduce: no experiment \"%s\": expected %s/table.csv or experiments/%s/table.csv\n",
            o.name, o.name, o.name);
    return EXIT_USAGE;
  }
  int length = snprintf(t.out, sizeof t.out, *o.out ? "%s" : "runs/%s", *o.out ? o.out : o.name);
  if (length >= (int)sizeof t.out) {
    fprintf(stderr, "r4 reproduce: --out is a path of %d characters, too long\n", length);
    return EXIT_USAGE;
  }
  int code = read_table(&t);
  if (!code) code = make_all(&t);
  for (size_t k = 0; k < t.rows; k++) figures_free(&t.row[k].ours.list);
  r4_table_free(t.file);
  return code;
}

static int run(int argc, char **argv)
{
  return reproduce_list(argc, argv, NULL);
}

const struct command command_reproduce = {
  .name = "reproduce",
  .summary = "reproduce a published table",
  .details =
    "Trains every row of the table with several seeds, measures it, and prints our figures next to the published\n"
    "ones; writes results.txt, .md, .csv and .json to the folder, and the time of training as costs.md and .csv.\n"
    "When started again, it continues where it stopped, with the same results. Finished seeds are neither trained\n"
    "nor measured again: eval.json next to each model keeps its figures, and is rejected, with the reason, if it is\n"
    "incomplete, was edited, or belongs to another version, settings, data or weights.",
  .options = options,
  .run = run,
  .threads = THREADS_LATER,
};
