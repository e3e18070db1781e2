/* How the seeds of a run ended, as training wrote it down. */
#include "runs.h"

/* Runs of before there was such a file have none. */
static bool read_one(const char *command, const char *folder, r4_outcome *to)
{
  r4_error e = {0};
  char path[PATH_SIZE + 16];
  snprintf(path, sizeof path, "%s/outcome.json", folder);
  if (!is_file(path)) return false;
  r4_status s = r4_outcome_read(folder, to, &e);
  if (s) fprintf(stderr, "r4 %s: %s; how this seed ended is unknown\n", command, shown(e.text).text);
  return !s;
}

/* "1 of 2 seeds: the penalty counted in none of 36 steps: this is not a net that was trained with r3" */
static void write_sentence(const struct run *r, int64_t steps, struct outcomes *to)
{
  char some[64] = "";
  r4_setting_value method = {0};
  r4_settings_get(r->settings, "method", &method, NULL);
  if (to->unpenalised < r->seeds)
    snprintf(some, sizeof some, "%zu of %zu seeds: ", to->unpenalised, r->seeds);
  snprintf(to->says, sizeof to->says,
           "%sthe penalty took effect in none of %lld steps: this net was not trained with %s", some,
           (long long)steps, method.text);
}

void outcomes_read(const char *command, const struct run *r, struct outcomes *to)
{
  int64_t steps = 0;
  *to = (struct outcomes){0};
  for (size_t k = 0; k < r->seeds; k++) {
    to->known[k] = read_one(command, r->folder[k], &to->of[k]);
    if (!to->known[k] || !to->of[k].unpenalised) continue;
    if (!to->unpenalised++) steps = to->of[k].steps;
  }
  if (to->unpenalised) write_sentence(r, steps, to);
}
