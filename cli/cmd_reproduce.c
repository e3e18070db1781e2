/* r4 reproduce: all rows of a published table, trained, evaluated and set beside the published figures.
 *
 * experiments/NAME/table.csv has a line per row: its name, its preset as seen from that folder, the published figures,
 * empty where there are none, and settings (key=value ..) that it changes, in quotes if there is a comma in them.
 * Finished seeds are not trained again. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd_data.h"
#include "figures.h"
#include "table_out.h"
#include "train.h"

enum { MAX_SPLITS = 16 };

struct reproduce_settings {
  const char *name, *out, *methods;
  struct words set;
  int64_t seeds, splits, jobs;
  bool json, quiet;
};

#define AT(field) offsetof(struct reproduce_settings, field)
static const struct option options[] = {
  {"NAME", OPTION_WORD, AT(name), NULL, 0, 0, "decoy-mnist, or a table below it: decoy-mnist/as-published"},
  {"methods", OPTION_TEXT, AT(methods), NULL, 0, 0, "rows to make, by preset: erm,cert-r4; all if not given"},
  {"seeds", OPTION_WHOLE, AT(seeds), "4", 1, MAX_SEEDS, "of each row"},
  {"splits", OPTION_WHOLE, AT(splits), "1", 1, MAX_SPLITS,
   "of the data, for data that are split by data.seed: 0 to N - 1, with all seeds each; 1: as the rows say"},
  {"set", OPTION_LIST, AT(set), NULL, 0, 0, "key=value: changes one setting of all rows; may be repeated"},
  {"out", OPTION_TEXT, AT(out), NULL, 0, 0, "folder for the runs and the results; runs/NAME if not given"},
  {"jobs", OPTION_WHOLE, AT(jobs), "0", 0, MAX_SEEDS, "seeds side by side; 0: as many as CPUs"},
  {"json", OPTION_FLAG, AT(json), NULL, 0, 0, "print JSON"},
  {"quiet", OPTION_FLAG, AT(quiet), NULL, 0, 0, "no progress"},
  {0},
};

enum { MAX_ROWS = 32, SETTINGS_SIZE = 256 };

struct row {
  const char *name, *preset, *avg, *worst, *kappa, *settings; /* of table.csv */
  bool done;
  struct run_figures ours;
};

struct table {
  const struct reproduce_settings *o;
  char folder[PATH_SIZE / 2], out[PATH_SIZE / 2];
  r4_table *file;
  size_t rows;
  struct row row[MAX_ROWS];
};

/* ---- The table ---- */

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

static const char *preset_name(const struct row *r)
{
  const char *slash = strrchr(r->preset, '/');
  return slash ? slash + 1 : r->preset;
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
    .worst = field(t, k, "worst"),
    .kappa = field(t, k, "kappa"),
    .settings = field(t, k, "settings"),
  };
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
    else if (is_wanted(t->o->methods, preset_name(&r)))
      t->row[t->rows++] = r;
  }
  if (!*text && !t->rows)
    snprintf(text, sizeof text, "no row of %s is among \"%.100s\"", path, t->o->methods);
  return *text ? cli_fail("reproduce", R4_E_ARGUMENT, text) : EXIT_DONE;
}

/* ---- Making a row ---- */

/* In a process of its own: once threads have run here, no seed could be trained any more. Returns an exit code. */
static int evaluate(const char (*run)[PATH_SIZE], size_t runs, struct run_figures *figures)
{
  int ends[2], status = 0;
  if (pipe(ends)) return cli_fail("reproduce", R4_E_IO, strerror(errno));
  pid_t child = fork();
  if (!child) {
    threads_use(NULL, 0, false);
    int code = eval_figures(run, runs, figures);
    if (!code && write(ends[1], figures, sizeof *figures) != sizeof *figures) code = EXIT_WORLD;
    _exit(code);
  }
  close(ends[1]);
  size_t got = 0;
  for (ssize_t n;
       got < sizeof *figures && (n = read(ends[0], (char *)figures + got, sizeof *figures - got)) > 0;)
    got += (size_t)n;
  close(ends[0]);
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return EXIT_WORLD;
  return WEXITSTATUS(status) || got == sizeof *figures ? WEXITSTATUS(status) : EXIT_WORLD;
}

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
  snprintf(run, PATH_SIZE, "%s/%s%s%s", t->out, preset_name(r), *settings ? " " : "", settings);
  for (char *c = run + strlen(t->out) + 1; *c; c++)
    if (*c == ' ' || *c == '/') *c = '_';
}

/* All seeds of one split. */
static int train_split(const struct table *t, const struct row *r, int64_t split, char run[PATH_SIZE],
                       bool *stopped)
{
  char settings[SETTINGS_SIZE];
  write_settings(t, r, split, settings);
  name_run(t, r, settings, run);
  struct job j = {
    .command = "reproduce", .out = run, .jobs = t->o->jobs, .resume = true, .quiet = t->o->quiet};
  int code = EXIT_DONE;
  j.settings = row_settings(t, r, settings, &code);
  if (!j.settings) return code;
  train_choose_seeds(&j, t->o->seeds);
  code = train_all(&j, stopped);
  if (*stopped) fprintf(stderr, "stopped and saved; the same command goes on\n");
  r4_settings_free(j.settings);
  return code == EXIT_NO && !*stopped ? EXIT_DONE
                                      : code; /* a dead net is a result as well, and marked in the table */
}

static int make_row(struct table *t, struct row *r)
{
  static char run[MAX_SPLITS][PATH_SIZE];
  bool stopped = false;
  int code = EXIT_DONE;
  if (!t->o->quiet) fprintf(stderr, "%s\n", r->name);
  for (int64_t k = 0; k < t->o->splits && !code && !stopped; k++)
    code = train_split(t, r, k, run[k], &stopped);
  if (stopped || code) return code;
  code = evaluate((const char(*)[PATH_SIZE])run, (size_t)t->o->splits, &r->ours);
  r->done = code == EXIT_DONE;
  return code;
}

/* ---- Results ---- */

/* The row of a preset as it is. */
static const struct row *find_row(const struct table *t, const char *preset)
{
  for (const struct row *r = t->row; r < t->row + t->rows; r++)
    if (r->done && !strcmp(preset_name(r), preset) && !*r->settings) return r;
  return NULL;
}

/* (method - ERM) / (ceiling - ERM), of the worst group; NaN without the other two, or without a gap of a point. */
static double gap_closed(const struct table *t, const struct row *r)
{
  const struct row *erm = find_row(t, "erm"), *ceiling = find_row(t, "ceiling");
  if (!erm || !ceiling || r == erm || r == ceiling) return NAN;
  double low = erm->ours.summary.worst.mean, gap = ceiling->ours.summary.worst.mean - low;
  return gap > 0.01 ? (r->ours.summary.worst.mean - low) / gap : NAN;
}

static void add_mean_sd(r4_table *t, const char *star, r4_mean_sd v)
{
  cell(t, isnan(v.mean) ? "-" : "%s%*.2f +- %.2f", star, *star ? 4 : 5, 100 * v.mean, 100 * v.sd);
}

static void add_published(r4_table *t, const char *figure)
{
  r4_table_cell(t, *figure ? figure : "-");
}

/* A star stands at a figure that means nothing. */
static const char *star(const struct row *r)
{
  return *r->ours.constant ? "*" : "";
}

static void add_kappas(r4_table *t, const struct row *r)
{
  const r4_summary *s = &r->ours.summary;
  char text[FIGURE_SIZE];
  cell(t, "%s%s", star(r), figure_text(s->kappa_masked_max.mean, 3, "none", text));
  cell(t, "%s%s", star(r), figure_text(s->kappa_masked_mean.mean, 3, "none", text));
  r4_table_cell(t, figure_text(s->kappa_masked_max.mean / s->kappa_core_max.mean, 2, "-", text));
}

/* Whether what the swap test finds is a column of the table. */
static bool has_swap(const struct table *t)
{
  bool any = false;
  for (const struct row *r = t->row; r < t->row + t->rows; r++) any |= r->done && r->ours.swapped;
  return any;
}

static void add_figures(r4_table *to, const struct table *t, const struct row *r)
{
  static const r4_mean_sd none = {NAN, NAN};
  const r4_summary *s = &r->ours.summary;
  double gap = gap_closed(t, r);
  r4_table_cell(to, r->name);
  add_mean_sd(to, "", s->avg);
  add_mean_sd(to, "", s->worst);
  cell(to, "%5.2f", 100 * s->group[s->worst_mean_group].mean);
  cell(to, isnan(gap) ? "-" : "%.0f", 100 * gap);
  add_kappas(to, r);
  if (has_swap(t)) {
    add_mean_sd(to, "", s->accuracy);
    add_mean_sd(to, star(r), r->ours.swapped ? r->ours.flipped : none);
    add_mean_sd(to, star(r), r->ours.swapped ? r->ours.lost : none);
  }
  add_published(to, r->avg);
  add_published(to, r->worst);
  add_published(to, r->kappa);
}

static r4_table *results_new(const struct table *t)
{
  static const struct {
    const char *heading;
    char side;
    int width;
    bool swap; /* only with what the swap test finds */
  } column[] = {
    {"", 'l', 21, false},       {"average", 'l', 13, false}, {"worst group", 'l', 13, false},
    {"means", 'l', 5, false},   {"gap", 'r', 4, false},      {"kappa", 'l', 8, false},
    {"mean", 'l', 8, false},    {"ratio", 'l', 7, false},    {"accuracy", 'l', 13, true},
    {"flipped", 'l', 13, true}, {"lost", 'l', 13, true},     {"paper", 'r', 6, false},
    {"worst", 'r', 6, false},   {"kappa", 'r', 7, false},
  };
  r4_table *to = r4_table_new();
  for (size_t k = 0; k < sizeof column / sizeof *column; k++)
    if (!column[k].swap || has_swap(t))
      r4_table_column(to, column[k].heading, column[k].side, column[k].width);
  return to;
}

/* What must be known about the figures above. */
static void print_notes(FILE *f, const struct table *t)
{
  bool none = false;
  for (const struct row *r = t->row; r < t->row + t->rows; r++) {
    if (r->done && *r->ours.constant) fprintf(f, "\n\\* %s: %s.\n", r->name, r->ours.constant);
    none |= r->done && isnan(r->ours.summary.kappa_masked_max.mean);
  }
  if (none) fprintf(f, "\nkappa is none where no test example has a mask.\n");
}

static void print_heading(FILE *f, const struct table *t)
{
  fprintf(f, "%s: %lld seeds", t->o->name, (long long)t->o->seeds);
  if (t->o->splits > 1) fprintf(f, " of each of %lld splits of the data", (long long)t->o->splits);
  fprintf(f,
          ", mean +- standard deviation, accuracies in per cent. Worst group: the least of each seed; \"of\n"
          "means\": the least of the groups' means, the published way. Gap: the share of the way from ERM to "
          "the ceiling.\n"
          "kappa: width of the bounds of the input gradient over the masked box, largest and mean; ratio: to "
          "the core box.\n");
  if (has_swap(t))
    fprintf(
      f, "Flipped: the answers that change when the masked content is that of an example of another class; "
         "lost: of the right\n"
         "answers, those that are wrong then.\n");
  fprintf(f, "\n");
}

static int print_markdown(FILE *f, const struct table *t)
{
  r4_table *to = results_new(t);
  print_heading(f, t);
  for (size_t k = 0; k < t->rows; k++)
    if (t->row[k].done) add_figures(to, t, &t->row[k]);
  int code = table_end(f, "reproduce", to, R4_TABLE_MARKDOWN);
  print_notes(f, t);
  return code;
}

static void add_row(r4_json *w, const struct row *r)
{
  const r4_summary *s = &r->ours.summary;
  r4_json_break(w);
  r4_json_open(w, '{');
  json_text(w, "name", r->name);
  json_text(w, "preset", r->preset);
  json_text(w, "settings", r->settings);
  json_mean_sd(w, "accuracy", s->accuracy, 100);
  json_mean_sd(w, "avg_group_accuracy", s->avg, 100);
  json_mean_sd(w, "worst_group_accuracy", s->worst, 100);
  json_real(w, "worst_group_of_means_accuracy", 100 * s->group[s->worst_mean_group].mean);
  json_fragility(w, s);
  if (*r->ours.constant) json_text(w, "notice", r->ours.constant);
  if (r->ours.swapped) {
    json_mean_sd(w, "swap_flipped_share", r->ours.flipped, 100);
    json_mean_sd(w, "swap_lost_share", r->ours.lost, 100);
  }
  json_open(w, "group_accuracy", '[');
  for (size_t g = 0; g < s->groups; g++) r4_json_real(w, 100 * s->group[g].mean);
  r4_json_close(w, ']');
  r4_json_close(w, '}');
}

static int print_json(FILE *f, const struct table *t)
{
  r4_json *w = r4_json_new();
  r4_json_open(w, '{');
  json_text(w, "experiment", t->o->name);
  json_text(w, "r4", R4_VERSION);
  json_whole(w, "seeds", t->o->seeds);
  if (t->o->splits > 1) json_whole(w, "splits", t->o->splits);
  json_open(w, "rows", '[');
  for (size_t k = 0; k < t->rows; k++)
    if (t->row[k].done) add_row(w, &t->row[k]);
  r4_json_close(w, ']');
  r4_json_close(w, '}');
  return json_print(f, "reproduce", w);
}

/* Written after every row, so that what is done is never lost. */
static bool write_results(const struct table *t, const char *name, int (*print)(FILE *, const struct table *))
{
  char path[PATH_SIZE], beside[PATH_SIZE + 8];
  snprintf(path, sizeof path, "%s/%s", t->out, name);
  snprintf(beside, sizeof beside, "%s.part", path);
  FILE *f = fopen(beside, "w");
  bool whole = f && print(f, t) == EXIT_DONE;
  if (f && !fclose(f) && whole && !rename(beside, path)) return true;
  if (!f || whole) fprintf(stderr, "r4 reproduce: %s: %s\n", path, strerror(errno));
  return false;
}

/* ---- The command ---- */

static int make_all(struct table *t)
{
  for (size_t k = 0; k < t->rows; k++) {
    int code = make_row(t, &t->row[k]);
    if (code) return code;
    if (!write_results(t, "results.md", print_markdown) || !write_results(t, "results.json", print_json))
      return EXIT_WORLD;
  }
  return EXIT_DONE;
}

static int run(int argc, char **argv)
{
  struct reproduce_settings o;
  static struct table t;
  if (!options_read("reproduce", options, &o, argc, argv)) return EXIT_USAGE;
  t.o = &o;
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
  if (!code) code = (o.json ? print_json : print_markdown)(stdout, &t);
  r4_table_free(t.file);
  return code;
}

const struct command command_reproduce = {
  .name = "reproduce",
  .summary = "reproduce a published table",
  .details = "Trains every row of the table with several seeds, evaluates, and prints our figures beside the "
             "published\n"
             "ones; also as results.md and results.json in the folder. When started again, it continues "
             "where it stopped.",
  .options = options,
  .run = run,
  .threads = THREADS_LATER,
};
