/* What a person at a terminal sees while a run is measured: one line that changes. */
#include <stdlib.h>
#include <unistd.h>

#include "eval/eval.h"
#include "timer.h"
#include "train.h"

static const double BETWEEN = 0.2; /* seconds from line to line */

/* "r4 eval: runs/r3: seed 0 (1 of 3): accuracy and kappa, 1200 of 4000 examples" */
static void show(const struct eval_progress *p)
{
  char *text = NULL;
  const struct run *run = p->of->run;
  if (asprintf(&text, "r4 eval: %s: seed %lld (%zu of %zu): %s, %zu%s%.0zu examples", shown(p->of->path).text,
               (long long)run->seed[p->seed], p->seed + 1, run->seeds, p->what, p->asked, p->all ? " of " : "",
               p->all) < 0)
    return;
  watch_line(text);
  free(text);
}

static void was_asked(size_t examples, void *user)
{
  struct eval_progress *p = user;
  p->asked += examples;
  if (p->all && p->asked > p->all) p->asked = p->all;
  if (timer_now() < p->next) return;
  p->next = timer_now() + BETWEEN;
  show(p);
}

void eval_progress_begin(struct eval_progress *p, const struct evaluation *v)
{
  *p = (struct eval_progress){.of = v, .terminal = isatty(STDERR_FILENO)};
  if (p->terminal) r4_watch_asking(was_asked, p);
}

void eval_progress_stage(struct eval_progress *p, const char *what, size_t all)
{
  p->what = what;
  p->asked = 0;
  p->all = all;
}

void eval_progress_end(struct eval_progress *p)
{
  r4_watch_asking(NULL, NULL);
  if (p->terminal && p->next > 0) watch_line("");
}
