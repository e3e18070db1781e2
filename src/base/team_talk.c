#include "base/team_talk.h"

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

size_t team_first(const r4_team *t, size_t n, int rank)
{
  return n * (size_t)rank / (size_t)team_ranks(t);
}

static r4_status send(const r4_team *t, int to, const void *bytes, size_t size, r4_error *e)
{
  r4_status s = t->send(t->user, to, bytes, size, e);
  return s ? s : t->wait(t->user, e);
}

static r4_status receive(const r4_team *t, int from, void *bytes, size_t size, r4_error *e)
{
  r4_status s = t->receive(t->user, from, bytes, size, e);
  return s ? s : t->wait(t->user, e);
}

/* Along a tree: in round k = 1, 2, 4 .., who has it (a rank below k) sends it k ranks further. */
r4_status team_broadcast(const r4_team *t, void *bytes, size_t size, r4_error *e)
{
  r4_status s = R4_OK;
  for (int k = 1; !s && k < team_ranks(t); k *= 2) {
    if (t->rank < k && t->rank + k < t->ranks)
      s = send(t, t->rank + k, bytes, size, e);
    else if (t->rank >= k && t->rank < 2 * k)
      s = receive(t, t->rank - k, bytes, size, e);
  }
  return s;
}

r4_status team_gather(const r4_team *t, void *items, size_t size, size_t n, r4_error *e)
{
  char *all = items;
  size_t own = team_first(t, n, team_rank(t)), end = team_first(t, n, team_rank(t) + 1);
  r4_status s = R4_OK;
  if (team_ranks(t) == 1) return s;
  for (int k = 0; !s && k < t->ranks; k++) {
    size_t first = team_first(t, n, k), last = team_first(t, n, k + 1);
    if (k == t->rank) continue;
    s = t->receive(t->user, k, all + first * size, (last - first) * size, e);
    if (!s) s = t->send(t->user, k, all + own * size, (end - own) * size, e);
  }
  return s ? s : t->wait(t->user, e);
}

r4_status team_most(const r4_team *t, int *value, r4_error *e)
{
  r4_status s = R4_OK;
  int other, last = team_ranks(t) - 1;
  if (team_rank(t)) s = send(t, 0, value, sizeof *value, e);
  for (int k = 1; !s && !team_rank(t) && k <= last; k++) {
    s = receive(t, k, &other, sizeof other, e);
    if (!s && other > *value) *value = other;
  }
  return s ? s : team_broadcast(t, value, sizeof *value, e);
}

enum { FAILED = 1 << 20 }; /* larger than any wish */

r4_status team_vote(const r4_team *t, r4_status s, int *wish, r4_error *e)
{
  int most = s ? FAILED : *wish;
  r4_error other = {0};
  if (!t) return s;
  r4_status told = team_most(t, &most, &other);
  *wish = most;
  if (s) return s;
  if (told) {
    if (e) *e = other;
    return told;
  }
  return most == FAILED ? r4_fail(e, R4_E_TEAM, "another process has failed") : R4_OK;
}

r4_status team_join(const r4_team *t, r4_status s, r4_error *e)
{
  int wish = 0;
  return team_vote(t, s, &wish, e);
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
