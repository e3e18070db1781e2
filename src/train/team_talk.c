#include "train/team_talk.h"

#include <string.h>

#include "base/hash.h"

int team_rank(const r4_team *t)
{
  return t ? t->rank : 0;
}

int team_ranks(const r4_team *t)
{
  return t ? t->ranks : 1;
}

/* Along a tree: in round k = 1, 2, 4 .., who has it (a rank below k) sends it k ranks further. */
r4_status team_broadcast(const r4_team *t, void *bytes, size_t size, r4_error *e)
{
  r4_status s = R4_OK;
  for (int k = 1; !s && k < team_ranks(t); k *= 2) {
    if (t->rank < k && t->rank + k < t->ranks)
      s = t->send(t->user, t->rank + k, bytes, size, e);
    else if (t->rank >= k && t->rank < 2 * k)
      s = t->receive(t->user, t->rank - k, bytes, size, e);
  }
  return s;
}

r4_status team_most(const r4_team *t, int *value, r4_error *e)
{
  r4_status s = R4_OK;
  int other, last = team_ranks(t) - 1;
  if (team_rank(t)) s = t->send(t->user, 0, value, sizeof *value, e);
  for (int k = 1; !s && !team_rank(t) && k <= last; k++) {
    s = t->receive(t->user, k, &other, sizeof other, e);
    if (!s && other > *value) *value = other;
  }
  return s ? s : team_broadcast(t, value, sizeof *value, e);
}

static void digest_of(const void *bytes, size_t size, uint8_t digest[HASH_BYTES])
{
  struct hash h;
  hash_start(&h);
  hash_add(&h, bytes, size);
  hash_end(&h, digest);
}

r4_status team_agrees(const r4_team *t, const char *what, const void *bytes, size_t size, r4_error *e)
{
  uint8_t own[HASH_BYTES], first[HASH_BYTES];
  digest_of(bytes, size, own);
  memcpy(first, own, sizeof first);
  r4_status s = team_broadcast(t, first, sizeof first, e);
  int differs = s ? 0 : memcmp(own, first, sizeof own) ? team_rank(t) : 0; /* the last rank that does */
  if (!s) s = team_most(t, &differs, e);
  if (s || !differs) return s;
  if (differs != team_rank(t)) return r4_fail(e, R4_E_TEAM, "process %d has other %s", differs, what);
  return r4_fail(e, R4_E_ARGUMENT, "process %d of %d has other %s than process 0", differs, t->ranks, what);
}
