/* lambda: auto, seen from the command: where the search is, and what came of it. */
#include <math.h>

#include "train.h"

void search_folder(const struct job *j, char path[PATH_SIZE])
{
  snprintf(path, PATH_SIZE, "%s/auto", j->out);
}

static void show_try(const r4_lambda_try *t, bool chosen)
{
  fprintf(stderr, "  %-8g", t->lambda);
  if (t->diverged)
    fprintf(stderr, "  no finite loss");
  else
    fprintf(stderr, "  %7.2f  %7.2f  %5.2f  %7.2f  %-8.3g", 100 * t->score, 100 * t->avg, 100 * t->se,
            100 * t->worst, t->penalty);
  if (t->dead)
    fprintf(stderr, "  collapsed to one class");
  else if (!t->learned && !t->diverged)
    fprintf(stderr, "  no better than guessing");
  fprintf(stderr, "%s\n", chosen ? "  chosen" : "");
}

/* The runs as long as the chosen one, from the smallest lambda to the largest. */
static void show_curve(const r4_lambda_curve *c)
{
  double shown = -INFINITY;
  int64_t epochs = c->tried[c->chosen].epochs;
  fprintf(stderr, "  lambda      score  average  error    worst  penalty\n");
  for (size_t n = 0; n < c->n; n++) {
    size_t next = c->n;
    for (size_t k = 0; k < c->n; k++)
      if (c->tried[k].epochs == epochs && c->tried[k].lambda > shown &&
          (next == c->n || c->tried[k].lambda < c->tried[next].lambda))
        next = k;
    if (next == c->n) return;
    shown = c->tried[next].lambda;
    show_try(&c->tried[next], next == c->chosen);
  }
}

int search_take(const struct job *j)
{
  char folder[PATH_SIZE];
  bool stopped;
  r4_error e = {0};
  r4_lambda_curve curve;
  search_folder(j, folder);
  r4_status s = r4_lambda_search(j->settings, &(r4_train_options){.folder = folder, .resume = true}, &curve,
                                 &stopped, &e);
  if (s) return cli_fail(j->command, s, e.text);
  if (j->quiet) return EXIT_DONE;
  const r4_lambda_try *taken = &curve.tried[curve.chosen];
  fprintf(stderr, "r4 %s: lambda: auto chose %g, %s; %s/curve.json\n", j->command, taken->lambda,
          taken->learned ? "the largest that scores within one standard error of the best"
                         : "but no short run was better than guessing: try more epochs",
          shown(folder).text);
  show_curve(&curve);
  return EXIT_DONE;
}
