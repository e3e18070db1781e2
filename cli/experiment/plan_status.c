/* r4 work --status: how far a plan is, while others work on it. Nothing is written. */
#include <stdlib.h>
#include <string.h>

#include "experiment/run_plan.h"

struct run_state {
  enum claim_state state; /* of one that is not done */
  char why[CLAIM_WHY];
};

static size_t count(const struct run_list *l, const struct run_state *s, enum claim_state state)
{
  size_t n = 0;
  for (size_t k = 0; k < l->runs; k++) n += !l->run[k].done && s[k].state == state;
  return n;
}

static void print_all(const struct run_list *l, const struct run_state *s, enum claim_state state,
                      const char *word)
{
  for (size_t k = 0; k < l->runs; k++) {
    const char *slash = strrchr(l->run[k].folder, '/');
    if (l->run[k].done || s[k].state != state) continue;
    printf("%s %s: %s\n", word, shown(slash ? slash + 1 : l->run[k].folder).text, s[k].why);
  }
}

/* "12 runs: 7 done, 2 running, 1 failed, 2 left", then who runs which, and why which failed. */
static void print_state(const struct run_list *l, const struct run_state *s)
{
  printf("%zu runs: %zu done, %zu running, %zu failed, %zu left\n", l->runs, l->done,
         count(l, s, CLAIM_TAKEN), count(l, s, CLAIM_FAILED), count(l, s, CLAIM_FREE));
  print_all(l, s, CLAIM_TAKEN, "running");
  print_all(l, s, CLAIM_FAILED, "failed");
  printf("\n");
}

int plan_status_print(struct run_list *l)
{
  int code = EXIT_DONE;
  struct run_state *s = calloc(l->runs + 1, sizeof *s);
  if (!s) return cli_fail("work", R4_E_MEMORY, "");
  for (size_t k = 0; k < l->runs; k++) {
    struct claim c = plan_claim(l, k);
    bool done = run_list_is_done(l, k);
    l->done += done;
    if (!done) s[k].state = claim_look(&c, s[k].why);
  }
  print_state(l, s);
  free(s);
  if (l->done) code = l->print(l->user);
  return code || l->done == l->runs ? code : EXIT_NO;
}
