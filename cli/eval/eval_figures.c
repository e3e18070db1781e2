/* What was measured of runs, for the row of a table. */
#include <string.h>

#include "eval/eval.h"
#include "experiment/figures.h"

static void describe_constant(const struct evaluation *v, char *to, size_t size)
{
  char text[200];
  size_t k = 0;
  while (!v->measured[k].metrics.answers.constant) k++;
  constant_text(&v->measured[k].metrics.answers, v->data, text, sizeof text);
  snprintf(to, size, "%zu of %zu seeds collapsed to one class: seed %lld %s; its kappa means nothing",
           v->summary.constant, v->summary.seeds, (long long)v->run->seed[k], text);
}

/* Runs of a training that was logged elsewhere cost nothing. */
static void add_cost(struct run_figures *f, const char *folder)
{
  r4_run_cost c;
  if (r4_run_cost_read(folder, &c, NULL)) return;
  f->cost.epochs += c.epochs;
  f->cost.seconds += c.seconds;
}

/* metrics has room for all. Returns an exit code. */
static int gather(const struct evaluation *v, struct run_figures *f, r4_metrics *metrics)
{
  for (size_t k = 0; k < v->summary.seeds && f->list.nets < MAX_NETS; k++) {
    const r4_measured *m = &v->measured[k];
    r4_value *value = figures_add_net(&f->list, m->values);
    if (!value) return cli_fail("eval", R4_E_MEMORY, "");
    memcpy(value, m->value, m->values * sizeof *value);
    metrics[f->list.nets - 1] = m->metrics;
    add_cost(f, v->run->folder[k]);
  }
  f->measured += v->new;
  if (!f->unpenalised) snprintf(f->unpenalised_says, sizeof f->unpenalised_says, "%s", v->outcomes.says);
  f->unpenalised += v->outcomes.unpenalised;
  return EXIT_DONE;
}

int eval_figures(const char (*path)[PATH_SIZE], size_t n, int64_t seeds, r4_split split,
                 struct run_figures *f)
{
  const struct eval_how o = {.data = "", .eps = -1, .kept = true, .seeds = seeds};
  static r4_metrics metrics[MAX_NETS];
  int code = EXIT_DONE;
  *f = (struct run_figures){0};
  for (size_t k = 0; k < n && !code; k++) {
    struct evaluation v = {.path = path[k],
                           .name = path[k],
                           .split = split == R4_TEST ? "test" : "val",
                           .contents = {1, {R4_FILL_SWAP}}};
    code = eval_measure(&o, &v, split);
    if (code == EXIT_NO && !*f->constant) describe_constant(&v, f->constant, sizeof f->constant);
    if (code == EXIT_NO) code = EXIT_DONE;
    if (!code) code = gather(&v, f, metrics);
    eval_forget(&v);
  }
  f->metrics = metrics;
  if (!code) r4_summarize(metrics, f->list.nets, &f->summary);
  return code;
}
