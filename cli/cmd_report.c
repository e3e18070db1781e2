/* r4 report: one page about one or more runs. */
#include <stdlib.h>
#include <string.h>

#include "data/cmd_data.h"
#include "report.h"

#define AT(field) offsetof(struct report_settings, field)
static const struct option options[] = {
  {"RUN", OPTION_WORDS, AT(runs), NULL, 0, 0, "folders made by r4 train; several are compared"},
  {"out FILE", OPTION_TEXT, AT(out), NULL, 0, 0,
   "the page to write, a new .html file (default: report.html, for one RUN in its folder, for several in the current "
   "folder, where an earlier page is overwritten)"},
  {"force", OPTION_FLAG, AT(force), NULL, 0, 0, "overwrite the file"},
  {"title TEXT", OPTION_TEXT, AT(title), NULL, 0, 0, "heading of the page"},
  {"examples", OPTION_WHOLE, AT(examples), "0", 0, 64, "number with heat maps; 0: 6, or fewer for many runs"},
  {"kappa", OPTION_WHOLE, AT(kappa), "256", 1, 1e9,
   "number of examples to measure fragility on, if r4 eval has not measured all"},
  {"ablations RESULTS", OPTION_LIST, AT(ablations), NULL, 0, 0,
   "results of r4 ablate: its folder, or results.json; may be repeated"},
  {"split", OPTION_TEXT, AT(split), SPLIT_AUTO, 0, 0, SPLIT_HELP},
  {"data PATH", OPTION_TEXT, AT(data), NULL, 0, 0, "where the data of the RUNs are now, if they have moved"},
  {"other-data", OPTION_FLAG, AT(other_data), NULL, 0, 0,
   "accept data other than those the RUNs were trained on"},
  {0},
};

/* ---- The page ---- */

/* The data of most runs; of as many, the first. */
static const struct report_data *choose_data(const struct report *r)
{
  const struct report_data *best = NULL;
  size_t most = 0;
  for (size_t k = 0; k < r->runs; k++) {
    size_t n = 0;
    for (size_t i = 0; i < r->runs; i++) n += !strcmp(r->run[i].data->hash, r->run[k].data->hash);
    if (n > most) most = n, best = r->run[k].data;
  }
  return best;
}

static r4_report_run describe(const struct reported *v, const struct report_data *of)
{
  r4_report_run to = {.name = v->name,
                      .settings = v->run->settings,
                      .seeds = v->run->seeds,
                      .seed = v->run->seed,
                      .folder = v->folder,
                      .measured = v->measured};
  if (strcmp(v->data->hash, of->hash)) to.other_data = r4_data_about(v->data->part);
  if (v->model) to.subject = (r4_subject){v->name, r4_model_net(v->model), r4_model_weights(v->model)};
  return to;
}

static int write_page(struct report *r)
{
  r4_error e = {0};
  const struct report_data *of = choose_data(r);
  static r4_report_run run[MAX_WORDS];
  for (size_t k = 0; k < r->runs; k++) run[k] = describe(&r->run[k], of);
  r4_report_options o = {.title = *r->o.title ? r->o.title : NULL,
                         .examples = (size_t)r->o.examples,
                         .notes = r->notes,
                         .note = (const char *const *)r->note,
                         .commands = r->commands,
                         .command = (const char *const *)r->command,
                         .ablations = r->ablations,
                         .ablation = (const r4_ablation *const *)r->ablation};
  r4_status s = r4_report_write(run, r->runs, of->part, &o, r->out, &e);
  size_t n = strlen(e.text);
  if (s == R4_E_IO && !*r->o.out) snprintf(e.text + n, sizeof e.text - n, "; --out writes it elsewhere");
  return s ? cli_fail("report", s, e.text) : EXIT_DONE;
}

/* ---- The command ---- */

/* Whether r4 wrote this page: one like it may be put in its place. */
static bool is_our_page(const char *path)
{
  char begin[1000];
  FILE *f = fopen(path, "r");
  begin[f ? fread(begin, 1, sizeof begin - 1, f) : 0] = 0;
  if (f) fclose(f);
  return strstr(begin, "<meta name=\"generator\" content=\"r4 ");
}

/* The page that is written without --out is written again; what else has its name is not ours. */
static int find_out(struct report *r)
{
  bool own = !*r->o.out && r->o.runs.n == 1;
  int n = own ? snprintf(r->out, sizeof r->out, "%s/report.html", r->o.runs.word[0])
              : snprintf(r->out, sizeof r->out, "%s", *r->o.out ? r->o.out : "report.html");
  if (n >= (int)sizeof r->out) {
    fprintf(stderr, "r4 report: the path of the page is too long\n");
    return EXIT_USAGE;
  }
  own = !*r->o.out && (!is_file(r->out) || is_our_page(r->out));
  return own || out_check("report", "out", r->out, ".html", r->o.force) ? EXIT_DONE : EXIT_USAGE;
}

/* Figures of different data are no comparison, and a page of two runs looks like one. */
static void tell_of_other_data(const struct report *r)
{
  const struct report_data *of = choose_data(r);
  for (size_t k = 0; k < r->runs; k++)
    if (strcmp(r->run[k].data->hash, of->hash))
      fprintf(stderr, "r4 report: %s was measured on other data (%s) than the page is about (%s): it is in a table "
                      "of its "
                      "own\n",
              r->run[k].name, shown(r4_data_about(r->run[k].data->part)).text, shown(r4_data_about(of->part)).text);
}

/* A class without masks has nothing to exchange, so that no figure knows what gives it away. */
static void note_unmasked_classes(struct report *r)
{
  const r4_data *d = choose_data(r)->all;
  size_t with = 0, without = 0, last = 0, classes = r4_data_classes(d);
  for (size_t k = 0; k < classes; k++) {
    r4_counts c = r4_data_counts(d, (int32_t)k, -1);
    if (!(c.examples[R4_TRAIN] + c.examples[R4_VAL] + c.examples[R4_TEST])) continue;
    bool masked = c.masked[R4_TRAIN] + c.masked[R4_VAL] + c.masked[R4_TEST];
    with += masked;
    without += !masked;
    if (!masked) last = k;
  }
  if (with && without)
    report_note(r, "Only some classes have masks: what may give the others away (%s%s) was not measured.",
                shown(r4_data_class_name(d, last)).text, without > 1 ? " and more" : "");
}

/* A run that cannot be read does not keep the others from the page; the exit code is the worst of all. */
static int make_page(struct report *r, r4_split split)
{
  int worst = EXIT_DONE;
  for (size_t k = 0; k < r->o.runs.n; k++) {
    int code = report_add_run(r, k, split);
    if (code) report_note(r, "%s is left out: it could not be measured.", r->label[k]);
    if (code > worst) worst = code;
  }
  if (!r->runs) return worst;
  tell_of_other_data(r);
  note_unmasked_classes(r);
  int code = report_add_ablations(r);
  if (code > worst) worst = code;
  report_add_commands(r);
  code = write_page(r);
  if (!code) printf("%s\n", shown(r->out).text);
  return code > worst ? code : worst;
}

static int run(int argc, char **argv)
{
  struct report *r = calloc(1, sizeof *r);
  r4_split split;
  if (!r) return cli_fail("report", R4_E_MEMORY, "");
  int code = options_read("report", options, &r->o, argc, argv) ? EXIT_DONE : EXIT_USAGE;
  if (!code && !run_split("report", r->o.split, &split)) code = EXIT_USAGE;
  if (!code) code = find_out(r);
  if (!code) runs_name(&r->o.runs, r->label, r->name);
  if (!code) code = make_page(r, split);
  report_free(r);
  return code;
}

const struct command command_report = {
  .name = "report",
  .summary = "write a page about runs: do they use the shortcut?",
  .details =
    "Writes a self-contained HTML file: the answer, heat maps, accuracy by group, the swap test, fragility, "
    "ablations\n"
    "(with --ablations), training curves, settings, and the commands to reproduce it. Uses the figures kept by r4 "
    "eval,\n"
    "and measures missing ones. Runs measured on other data than most are in a table of their own.",
  .options = options,
  .run = run,
  .threads = THREADS_HERE,
};
