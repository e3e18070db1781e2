#include "experiment/run_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/cmd_data.h"
#include "experiment/run_plan.h"
#include "jobs.h"
#include "timer.h"

static int64_t whole_setting(const r4_settings *s, const char *key)
{
  r4_setting_value v = {0};
  r4_settings_get(s, key, &v, NULL);
  return v.whole;
}

static struct summary_of summary_of_run(const struct run_list *l, const struct listed_run *r)
{
  return (struct summary_of){.folder = r->folder,
                             .asked = r->asked,
                             .first = whole_setting(r->settings, "seed"),
                             .seeds = l->seeds,
                             .split = l->split};
}

/* ---- One run, in a process of its own ---- */

int64_t run_list_beside(const struct run_list *l)
{
  return l->rows ? jobs_beside(l->jobs, (size_t)l->seeds) : 1;
}

int64_t run_list_threads(const struct run_list *l, const r4_settings *s)
{
  int64_t wanted = whole_setting(s, "threads");
  if (!wanted) wanted = l->threads;
  return wanted ? wanted : threads_share(jobs_beside(l->jobs, l->rows ? (size_t)l->seeds : SIZE_MAX));
}

static int measure(const struct run_list *l, const struct listed_run *r)
{
  static struct run_figures all;
  const struct summary_of of = summary_of_run(l, r);
  int code = eval_figures((const char(*)[PATH_SIZE])r->folder, 1, l->seeds, l->split, &all);
  if (!code) code = summary_write(l->command, &of, &all);
  figures_free(&all.list);
  return code || all.measured ? code : JOB_KEPT;
}

/* Runs side by side have one seed at work each, whose threads are set, as the bits depend on them. Nets that are dead
 * are a result as well. */
int run_list_make(const struct run_list *l, size_t k, pid_t parent)
{
  const struct listed_run *r = &l->run[k];
  const double missing = (double)l->missing;
  const struct whole_job whole = {.began = l->began, .before = (double)l->made / missing, .part = 1 / missing};
  struct job j = {.command = l->command,
                  .settings = r->settings,
                  .out = r->folder,
                  .jobs = l->rows ? l->jobs : 1,
                  .resume = true,
                  .quiet = l->quiet || !l->rows,
                  .chosen_by = l->chosen_by,
                  .doing = r->doing,
                  .whole = &whole,
                  .parent = parent};
  char assignment[32];
  bool stopped = false;
  bool shared_out = l->rows && !l->threads; /* as training does it */
  int threads = (int)run_list_threads(l, r->settings);
  snprintf(assignment, sizeof assignment, "threads=%d", threads);
  if (!shared_out) r4_settings_set(j.settings, assignment, l->command, NULL);
  train_choose_seeds(&j, l->seeds);
  int code = train_all(&j, &stopped);
  if (stopped || jobs_interrupted()) return JOB_STOPPED;
  if (code > EXIT_NO) return code;
  jobs_let_signals_end(); /* to measure may take long, and leaves nothing that is not whole */
  threads_use(NULL, l->rows ? 0 : threads, false);
  return measure(l, r);
}

/* ---- What came of it ---- */

/* Of data without validation there is nothing to tell: NaN. */
static void take_validation(const struct seed_validation *v, size_t n, struct listed_figures *to)
{
  double avg[MAX_SEEDS], worst[MAX_SEEDS];
  for (size_t k = 0; k < n; k++) {
    avg[k] = v[k].of.avg;
    worst[k] = v[k].of.worst;
    to->score += v[k].of.score / (double)n;
    to->se += v[k].of.se / (double)n; /* of the same examples for all seeds */
    to->changed += v[k].of.changed / (double)n;
    to->exchanged = v[k].of.exchanged;
    to->val_kind = v[k].of.kind;
    to->one_sided = to->one_sided || v[k].one_sided;
  }
  to->val_avg = r4_mean_sd_of(n, avg);
  to->val_worst = r4_mean_sd_of(n, worst);
}

static r4_status take_figures(const struct run_list *l, struct listed_run *r, r4_error *e)
{
  static struct run_figures all;
  static struct seed_validation validation[MAX_NETS];
  const struct summary_of of = summary_of_run(l, r);
  r4_status s = summary_read(&of, 1, &all, validation, e);
  if (s) return s;
  r->figures = (struct listed_figures){.list = all.list,
                                       .kappa = figures_over(&all.list, "kappa_masked_max").mean,
                                       .seeds = l->seeds,
                                       .dead = (int64_t)all.summary.constant,
                                       .unpenalised = (int64_t)all.unpenalised};
  take_validation(validation, all.list.nets, &r->figures);
  r->done = true;
  return R4_OK;
}

int run_list_figures(const struct run_list *l, size_t first, size_t n, struct run_figures *to)
{
  struct summary_of of[MAX_SPLITS];
  r4_error e = {0};
  for (size_t k = 0; k < n; k++) of[k] = summary_of_run(l, &l->run[first + k]);
  return summary_read(of, n, to, NULL, &e) ? cli_fail(l->command, e.status, e.text) : EXIT_DONE;
}

void listed_runs_free(struct listed_run *run, size_t n)
{
  for (size_t k = 0; run && k < n; k++) {
    r4_settings_free(run[k].settings);
    figures_free(&run[k].figures.list);
  }
  free(run);
}

/* False if there is nothing to tell. */
static bool tell_figure(const struct figure_list *f, const r4_value *of, const char *before)
{
  char label[R4_LABEL_SIZE];
  double mean = figures_over(f, of->key).mean;
  r4_figure_info info = r4_figure_describe(of->figure);
  bool share = info.unit == R4_UNIT_SHARE;
  if (!info.first || isnan(mean)) return false;
  r4_value_label(of, label);
  fprintf(stderr, share ? "%s %s %.1f" : "%s %s %.3g", before, label, share ? 100 * mean : mean);
  return true;
}

void run_list_tell(const struct run_list *l, const struct figure_list *f, const char *remark)
{
  struct columns c = {0};
  bool follows = false;
  columns_add_list(&c, f);
  for (size_t k = 0; k < c.n; k++) follows |= tell_figure(f, &c.of[k], follows ? "," : "");
  fprintf(stderr, "%s", remark);
  if (l->made && l->made < l->missing) {
    fprintf(stderr, "; ");
    watch_left(stderr, (timer_now() - l->began) / (double)l->made * (double)(l->missing - l->made));
  }
  fprintf(stderr, "\n");
}

/* "[3/60] cert-r4_eps=0.1: group average 97.1, worst group 95.0, kappa, masked 0.01; 3 min left" */
static void tell(const struct run_list *l, const struct listed_run *r)
{
  const char *slash = strrchr(r->folder, '/');
  if (l->quiet || l->rows) return;
  fprintf(stderr, "[%zu/%zu] %s:", l->done, l->runs, shown(slash ? slash + 1 : r->folder).text);
  run_list_tell(l, &r->figures.list, r->figures.dead          ? ", collapsed"
                                     : r->figures.unpenalised ? ", not penalised"
                                                              : "");
}

/* ---- All of them ---- */

/* Done before, or meanwhile, by another process. */
bool run_list_is_done(struct run_list *l, size_t k)
{
  r4_error e = {0};
  return l->run[k].done || !take_figures(l, &l->run[k], &e);
}

int run_list_ended(struct run_list *l, size_t k, int code)
{
  r4_error e = {0};
  bool made = code == EXIT_DONE;
  if (!made && code != JOB_KEPT) return code;
  if (!l->run[k].done && take_figures(l, &l->run[k], &e)) return cli_fail(l->command, e.status, e.text);
  l->done++;
  l->made += made;
  if (made) tell(l, &l->run[k]);
  return l->after(l->user, k, made && !l->plan->work);
}

/* ---- Side by side, here ---- */

struct work {
  struct run_list *l;
  pid_t self;
};

static bool is_done(void *user, size_t k)
{
  return run_list_is_done(((struct work *)user)->l, k);
}

static int make_one(const void *user, size_t k)
{
  const struct work *w = user;
  return run_list_make(w->l, k, w->self);
}

static int ended(void *user, size_t k, int code)
{
  return run_list_ended(((struct work *)user)->l, k, code);
}

static const char *name_of(const void *user, size_t k)
{
  return ((const struct work *)user)->l->run[k].folder;
}

static int make_all(struct run_list *l)
{
  struct work w = {l, getpid()};
  struct jobs all = {.command = l->command,
                     .n = l->runs,
                     .beside = l->rows ? 1 : jobs_beside(l->jobs, SIZE_MAX),
                     .name = name_of,
                     .is_done = is_done,
                     .work = make_one,
                     .ended = ended,
                     .user = &w};
  int code = l->begin ? l->begin(l->user) : EXIT_DONE;
  if (code) return code;
  for (size_t k = 0; k < l->runs; k++) l->missing += !run_list_is_done(l, k);
  l->began = timer_now();
  code = jobs_run(&all);
  if (all.stopped && code <= EXIT_NO) fprintf(stderr, "stopped and saved; the same command continues\n");
  if (!code) code = l->write(l->user);
  return code ? code : l->print(l->user);
}

/* ---- The list ---- */

/* Nothing is written where a link leads: not from a run, and not from the folder that all are in, if that is ours. */
static int refuse_links(const struct run_list *l)
{
  int code = EXIT_DONE;
  for (size_t k = 0; k < l->runs && !code; k++) {
    char runs[PATH_SIZE];
    const char *folder = l->run[k].folder;
    snprintf(runs, sizeof runs, "%.*s", (int)(strrchr(folder, '/') - folder), folder);
    if (!l->rows) code = folder_refuse_link(l->command, runs);
    if (!code) code = folder_refuse_link(l->command, folder);
  }
  return code;
}

int run_list_go(struct run_list *l)
{
  const struct plan_options *p = l->plan;
  int code = refuse_links(l);
  for (size_t k = 0; k < l->runs && !code; k++) summary_asked(l->run[k].settings, l->run[k].asked);
  if (code) return code;
  if (!p->work) return p->plan || p->slurm ? plan_write(l) : make_all(l);
  code = plan_take(l);
  if (code) return code;
  return p->work->status ? plan_status_print(l) : plan_work_go(l);
}
