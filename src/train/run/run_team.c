/* A run that a team of processes makes together: all compute, process 0 reads and writes the folder. */
#include <string.h>

#include "base/mem.h"
#include "train/run/run.h"

/* What of one process must reach all: the largest counts. */
enum { NOTHING, SAVE, STOP };

r4_status run_vote(const r4_team *t, r4_status s, bool *stop, bool *save, r4_error *e)
{
  int wish = *stop ? STOP : *save ? SAVE : NOTHING;
  s = team_vote(t, s, &wish, e);
  *stop = wish == STOP;
  *save = wish == STOP || wish == SAVE;
  return s;
}

r4_status run_agree(const struct run *r, r4_error *e)
{
  const r4_team *t = r->team;
  if (!t) return R4_OK;
  r4_status s = team_agrees(t, "a version of r4", R4_VERSION, sizeof R4_VERSION, e);
  if (!s) s = team_agrees(t, "settings", r->text, strlen(r->text), e);
  return s ? s : team_agrees(t, "data", r->data_hash, sizeof r->data_hash, e);
}

static r4_status restore(struct run *r, size_t moments, const float *state, int64_t steps, r4_error *e)
{
  return r->team->rank ? r4_optimizer_restore(r->optimizer, moments, state, steps, e) : R4_OK;
}

static r4_status share_optimizer(struct run *r, r4_error *e)
{
  size_t moments = 0;
  int64_t steps = 0;
  const float *own = r4_optimizer_state(r->optimizer, &moments, &steps);
  float *state = mem_new(moments + 1, sizeof *state, "a run", e);
  r4_status s = team_join(r->team, state ? R4_OK : R4_E_MEMORY, e);
  if (!s) memcpy(state, own, moments * sizeof *state);
  if (!s) s = team_broadcast(r->team, state, moments * sizeof *state, e);
  if (!s) s = team_broadcast(r->team, &steps, sizeof steps, e);
  if (!s) s = team_join(r->team, restore(r, moments, state, steps, e), e);
  r4_mem_free(state);
  return s;
}

r4_status run_share(struct run *r, r4_error *e)
{
  const struct {
    void *bytes;
    size_t size;
  } part[] = {{&r->state, sizeof r->state},
              {r->weights, r->size * sizeof *r->weights},
              {r->best, r->size * sizeof *r->best},
              {r->good, r->size * sizeof *r->good},
              {r->groups.q, r->groups.q ? r->groups.n * sizeof *r->groups.q : 0}};
  r4_status s = R4_OK;
  if (!r->team) return s;
  for (size_t k = 0; !s && k < sizeof part / sizeof *part; k++)
    if (part[k].size) s = team_broadcast(r->team, part[k].bytes, part[k].size, e);
  return s ? s : share_optimizer(r, e);
}
