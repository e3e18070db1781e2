/* r4 reproduce: all rows of a published table, trained, measured and set beside the published figures.
 *
 * experiments/NAME/table.csv has a line per row: its name, its preset as seen from that folder, the published figures,
 * empty where there are none, and settings (key=value ..) that it changes, in quotes if there is a comma in them.
 * Finished seeds are not trained again, and what was measured of them is kept in their folders. */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "data/cmd_data.h"
#include "experiment/reproduce.h"
#include "timer.h"

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
  {"form", OPTION_TEXT, AT(form), "markdown", 0, 0, "of what is printed: text, markdown, csv or json"},
  {"json", OPTION_FLAG, AT(json), NULL, 0, 0, "the same as --form json"},
  {"quiet", OPTION_FLAG, AT(quiet), NULL, 0, 0, "no progress"},
  {0},
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

const char *row_preset(const struct row *r)
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

/* ---- Measuring ---- */

/* Reads what a child writes until it ends; Ctrl-C ends the child. False unless all came. */
static bool read_all(int from, pid_t child, void *to, size_t size)
{
  enum { MILLISECONDS = 100 };
  struct pollfd news = {.fd = from, .events = POLLIN};
  size_t got = 0;
  while (got < size) {
    if (train_interrupted()) kill(child, SIGTERM);
    if (poll(&news, 1, MILLISECONDS) <= 0) continue;
    ssize_t n = read(from, (char *)to + got, size - got);
    if (n <= 0 && !(n < 0 && errno == EINTR)) break;
    if (n > 0) got += (size_t)n;
  }
  return got == size;
}

static bool write_all(int to, const void *from, size_t size)
{
  size_t done = 0;
  for (ssize_t n; done < size && (n = write(to, (const char *)from + done, size - done)) > 0;)
    done += (size_t)n;
  return done == size;
}

/* In a process of its own: once threads have run here, no seed could be trained any more. Returns an exit code. */
static int evaluate(const char (*run)[PATH_SIZE], size_t runs, int64_t seeds, struct run_figures *figures)
{
  int ends[2], status = 0;
  if (pipe(ends)) return cli_fail("reproduce", R4_E_IO, strerror(errno));
  fflush(NULL);
  pid_t child = fork();
  if (!child) {
    close(ends[0]); /* or it would wait for ever to be read, by itself, if the parent was killed */
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    threads_use(NULL, 0, false);
    int code = eval_figures(run, runs, seeds, R4_TEST, figures);
    if (!code && !write_all(ends[1], figures, sizeof *figures)) code = EXIT_WORLD;
    _exit(code);
  }
  close(ends[1]);
  bool whole = child > 0 && read_all(ends[0], child, figures, sizeof *figures);
  close(ends[0]);
  if (child < 0) return cli_fail("reproduce", R4_E_IO, strerror(errno));
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (train_interrupted()) return EXIT_NO;
  if (!WIFEXITED(status))
    return cli_fail("reproduce", R4_E_IO, "the process that measures was ended by a signal");
  return WEXITSTATUS(status) || whole ? WEXITSTATUS(status) : EXIT_WORLD;
}

/* ---- Making a row ---- */

/* How far all rows are, for the time that is left. */
struct progress {
  size_t number, missing, made; /* the row; those that had to be trained when it began, and were since */
  double began;
};

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

/* All seeds of one split. */
static int train_split(const struct table *t, const struct row *r, int64_t split, const struct progress *p,
                       char run[PATH_SIZE], bool *stopped)
{
  char settings[SETTINGS_SIZE], doing[100];
  write_settings(t, r, split, settings);
  name_run(t, r, settings, run);
  snprintf(doing, sizeof doing, "[%zu/%zu] %.60s: ", p->number, t->rows, r->name);
  struct whole_job whole = {.began = p->began,
                            .before =
                              ((double)p->made + (double)split / (double)t->o->splits) / (double)p->missing,
                            .part = 1 / (double)t->o->splits / (double)p->missing};
  struct job j = {.command = "reproduce",
                  .out = run,
                  .jobs = t->o->jobs,
                  .resume = true,
                  .quiet = t->o->quiet,
                  .doing = doing,
                  .whole = &whole};
  int code = EXIT_DONE;
  j.settings = row_settings(t, r, settings, &code);
  if (!j.settings) return code;
  train_choose_seeds(&j, t->o->seeds);
  code = folder_refuse_link("reproduce", run);
  if (!code) code = train_all(&j, stopped);
  r4_settings_free(j.settings);
  return code == EXIT_NO && !*stopped ? EXIT_DONE
                                      : code; /* a dead net is a result as well, and marked in the table */
}

static int make_row(struct table *t, struct row *r, const struct progress *p)
{
  static char run[MAX_SPLITS][PATH_SIZE];
  bool stopped = false;
  int code = EXIT_DONE;
  for (int64_t k = 0; k < t->o->splits && !code && !stopped; k++)
    code = train_split(t, r, k, p, run[k], &stopped);
  if (stopped || code) return stopped && !code ? EXIT_NO : code;
  code = evaluate((const char(*)[PATH_SIZE])run, (size_t)t->o->splits, t->o->seeds, &r->ours);
  r->done = code == EXIT_DONE;
  return code;
}

/* ---- Progress ---- */

static bool is_trained(const struct table *t, const struct row *r)
{
  char settings[SETTINGS_SIZE], run[PATH_SIZE];
  for (int64_t split = 0; split < t->o->splits; split++) {
    int64_t seed[MAX_SEEDS];
    write_settings(t, r, split, settings);
    name_run(t, r, settings, run);
    size_t n = runs_seeds(run, seed), models = 0;
    for (size_t k = 0; k < n; k++) {
      char folder[PATH_SIZE], model[PATH_SIZE + 20];
      runs_seed_folder(run, seed[k], folder);
      snprintf(model, sizeof model, "%s/model.safetensors", folder);
      models += is_file(model);
    }
    if ((int64_t)models < t->o->seeds) return false;
  }
  return true;
}

/* "[3/12] R3: average 98.1, worst group 97.3, kappa 2.36, flipped 0.1; 9 min left" */
static void tell(const struct table *t, const struct row *r, const struct progress *p, bool more)
{
  if (t->o->quiet) return;
  double kappa = row_figure(r, FIGURE_MASKED_MAX).mean; /* not a number if it was not measured */
  fprintf(stderr, "[%zu/%zu] %s: average %.1f, worst group %.1f", p->number, t->rows, shown(r->name).text,
          100 * row_figure(r, FIGURE_AVERAGE).mean, 100 * row_figure(r, FIGURE_WORST).mean);
  if (!isnan(kappa)) fprintf(stderr, ", kappa %.3g", kappa);
  if (r->ours.swapped) fprintf(stderr, ", flipped %.1f", 100 * row_figure(r, FIGURE_FLIPPED).mean);
  if (more && p->made) {
    fprintf(stderr, "; ");
    watch_left(stderr, (timer_now() - p->began) / (double)p->made * (double)(p->missing - p->made));
  }
  fprintf(stderr, "\n");
}

/* ---- The command ---- */

static int make_all(struct table *t)
{
  struct progress p = {.began = timer_now()};
  bool trained[MAX_ROWS];
  int code = EXIT_DONE;
  for (size_t k = 0; k < t->rows; k++) p.missing += !(trained[k] = is_trained(t, &t->row[k]));
  for (size_t k = 0; k < t->rows && !code; k++) {
    p.number = k + 1;
    code = make_row(t, &t->row[k], &p);
    if (!code) code = results_write(t);
    p.made += !trained[k];
    if (!code) tell(t, &t->row[k], &p, p.made < p.missing);
    if (!code && train_interrupted()) code = EXIT_NO;
  }
  if (train_interrupted()) fprintf(stderr, "stopped and saved; the same command goes on\n");
  return code;
}

static int run(int argc, char **argv)
{
  struct reproduce_settings o;
  static struct table t;
  if (!options_read("reproduce", options, &o, argc, argv)) return EXIT_USAGE;
  if (o.json) o.form = "json";
  if (!results_have_form(o.form)) return EXIT_USAGE;
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
  if (!code) code = results_print(&t, o.form);
  r4_table_free(t.file);
  return code;
}

const struct command command_reproduce = {
  .name = "reproduce",
  .summary = "reproduce a published table",
  .details =
    "Trains every row of the table with several seeds, measures, and prints our figures beside the "
    "published\n"
    "ones; also as results.txt, .md, .csv and .json in the folder, and what training took as costs.md "
    "and .csv.\n"
    "When started again, it continues where it stopped, to the same results. What is done is not "
    "trained or\n"
    "measured again: eval.json beside each model keeps its figures, and is refused, with the reason, "
    "if it is\n"
    "not whole, was edited, or is of another version, settings, data or weights.",
  .options = options,
  .run = run,
  .threads = THREADS_LATER,
};
