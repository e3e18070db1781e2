#include "train/shard_sum.h"

#include <string.h>

#include "base/mem.h"

enum {
  LEVELS = 32,  /* of the tree, and the subtrees of one process                      */
  BUCKETS = 16, /* of a gradient                                                    */
  LEAST = 8192, /* floats of a bucket: a message of the latency of a network is free */
};

/* A sum that one process makes by itself: shards from .. to - 1. */
struct subtree {
  size_t from, to;
  int rank;
};

struct bucket {
  size_t begin, end;
};

struct shard_sum {
  size_t n;
  const r4_team *team;
  size_t gradient, total;
  float *level[LEVELS];    /* partial sums; at the end the first is the whole                */
  struct subtree *subtree; /* of all processes, in order                                     */
  size_t subtrees;
  float **of; /* where the sum of each is */
  float *remote; /* the other processes' subtrees, of the elements that this one adds up */
  size_t own;    /* elements of them                                                     */
  struct bucket bucket[BUCKETS + 1];
  size_t buckets, sent; /* in the order in which they are sent */
  /* While the last shard is computed: it is in level deep, to be added onto those down to base. */
  size_t base, deep, settled;
  r4_error error; /* of messages, while somebody else is running */
};

/* ---- Who does what ---- */

/* The largest power of two below n. */
static size_t half(size_t n)
{
  size_t k = 1;
  while (2 * k < n) k *= 2;
  return k;
}

static size_t middle_of(size_t from, size_t to)
{
  return from + half(to - from);
}

/* The one process that has all these shards, or -1. */
static int owner_of(const struct shard_sum *s, size_t from, size_t to)
{
  int rank = 0;
  while (from >= team_first(s->team, s->n, rank + 1)) rank++;
  return to <= team_first(s->team, s->n, rank + 1) ? rank : -1;
}

static void list_subtrees(struct shard_sum *s, size_t from, size_t to)
{
  int rank = owner_of(s, from, to);
  if (rank >= 0) {
    s->subtree[s->subtrees++] = (struct subtree){from, to, rank};
    return;
  }
  list_subtrees(s, from, middle_of(from, to));
  list_subtrees(s, middle_of(from, to), to);
}

/* The part of a bucket that a process adds up. */
static struct bucket slice(const struct shard_sum *s, const struct bucket *b, int rank)
{
  size_t n = b->end - b->begin;
  return (struct bucket){b->begin + team_first(s->team, n, rank), b->begin + team_first(s->team, n, rank + 1)};
}

static size_t length(struct bucket b)
{
  return b.end - b.begin;
}

/* ---- Making ---- */

struct shard_sum *shard_sum_new(size_t shards, const r4_team *team, r4_error *e)
{
  struct shard_sum *s = mem_new(1, sizeof *s, "a sum over shards", e);
  if (!s) return NULL;
  s->n = shards;
  s->team = team;
  s->subtree = mem_new(shards, sizeof *s->subtree, "a sum over shards", e);
  s->of = s->subtree ? mem_new(shards, sizeof *s->of, "a sum over shards", e) : NULL;
  if (s->of) {
    list_subtrees(s, 0, shards);
    return s;
  }
  shard_sum_free(s);
  return NULL;
}

static void forget(struct shard_sum *s)
{
  for (size_t k = 0; k < LEVELS; k++) {
    r4_mem_free(s->level[k]);
    s->level[k] = NULL;
  }
  r4_mem_free(s->remote);
  s->remote = NULL;
}

void shard_sum_free(struct shard_sum *s)
{
  if (!s) return;
  forget(s);
  r4_mem_free(s->subtree);
  r4_mem_free(s->of);
  r4_mem_free(s);
}

/* From the end of the gradient to its beginning, and last what stands behind it. */
static void cut_buckets(struct shard_sum *s)
{
  size_t n = s->gradient / LEAST;
  n = n < 1 ? 1 : n < BUCKETS ? n : BUCKETS;
  for (size_t k = 0; k < n; k++)
    s->bucket[k] = (struct bucket){s->gradient * (n - 1 - k) / n, s->gradient * (n - k) / n};
  s->bucket[n] = (struct bucket){s->gradient, s->total};
  s->buckets = n + 1;
}

static r4_status make_levels(struct shard_sum *s, size_t from, size_t to, size_t k, r4_error *e)
{
  if (!s->level[k]) s->level[k] = mem_new_aligned(s->total, sizeof(float), "a sum over shards", e);
  if (!s->level[k]) return R4_E_MEMORY;
  if (to - from == 1) return R4_OK;
  r4_status status = make_levels(s, from, middle_of(from, to), k, e);
  return status ? status : make_levels(s, middle_of(from, to), to, k + 1, e);
}

static r4_status make_room(struct shard_sum *s, r4_error *e)
{
  int rank = team_rank(s->team);
  size_t others = 0, base = 0;
  r4_status status = R4_OK;
  for (size_t k = 0; !status && k < s->subtrees; k++) {
    const struct subtree *t = &s->subtree[k];
    if (t->rank == rank)
      status = make_levels(s, t->from, t->to, base++, e);
    else
      others++;
  }
  s->own = 0;
  for (size_t k = 0; k < s->buckets; k++) s->own += length(slice(s, &s->bucket[k], rank));
  if (!status && others) s->remote = mem_new_aligned(others * s->own, sizeof(float), "a sum over shards", e);
  return status ? status : others && !s->remote ? R4_E_MEMORY : R4_OK;
}

r4_status shard_sum_size(struct shard_sum *s, size_t gradient, size_t total, r4_error *e)
{
  forget(s);
  s->gradient = gradient;
  s->total = total;
  cut_buckets(s);
  return team_join(s->team, make_room(s, e), e);
}

float *shard_sum_whole(const struct shard_sum *s)
{
  return s->level[0];
}

/* ---- Messages ---- */

static void note(struct shard_sum *s, r4_status status, const r4_error *e)
{
  if (status && !s->error.status) s->error = *e;
}

/* Where other processes' sums of bucket b are: those of one subtree together, bucket after bucket. */
static float *remote_of(const struct shard_sum *s, size_t other, size_t b)
{
  size_t at = 0;
  for (size_t k = 0; k < b; k++) at += length(slice(s, &s->bucket[k], team_rank(s->team)));
  return s->remote + other * s->own + at;
}

/* To each process its part of my sums, and from each its sums for my part. */
static r4_status exchange(struct shard_sum *s, size_t b, r4_error *e)
{
  const r4_team *t = s->team;
  struct bucket mine = slice(s, &s->bucket[b], t->rank);
  size_t other = 0, base = 0;
  r4_status status = R4_OK;
  for (size_t k = 0; !status && k < s->subtrees; k++) {
    if (s->subtree[k].rank != t->rank) {
      status = t->receive(t->user, s->subtree[k].rank, remote_of(s, other++, b), length(mine) * sizeof(float), e);
      continue;
    }
    const float *sum = s->level[base++];
    for (int to = 0; !status && to < t->ranks; to++) {
      struct bucket part = slice(s, &s->bucket[b], to);
      if (to != t->rank) status = t->send(t->user, to, sum + part.begin, length(part) * sizeof(float), e);
    }
  }
  return status;
}

/* What is final of the last shard is added onto the sums that it belongs to, and complete buckets are sent. */
static void close_range(struct shard_sum *s, size_t from, size_t to)
{
  r4_error e = {0};
  for (size_t k = s->deep; k-- > s->base;) {
    float *sum = s->level[k];
    const float *other = s->level[k + 1];
    for (size_t i = from; i < to; i++) sum[i] += other[i];
  }
  if (team_ranks(s->team) == 1) return;
  for (; s->sent < s->buckets - 1 && s->bucket[s->sent].begin >= from; s->sent++)
    note(s, exchange(s, s->sent, &e), &e);
}

void shard_sum_settle(struct shard_sum *s, size_t from)
{
  r4_error e = {0};
  if (from < s->settled) {
    size_t to = s->settled;
    s->settled = from;
    close_range(s, from, to);
  }
  if (s->sent && s->team->nudge) note(s, s->team->nudge(s->team->user, &e), &e);
}

/* ---- Adding up ---- */

/* In level k. */
static void add_up(struct shard_sum *s, size_t from, size_t to, size_t k, shard_make *make, void *user)
{
  if (to - from == 1) {
    make(from, s->level[k], NULL, user);
    return;
  }
  add_up(s, from, middle_of(from, to), k, make, user);
  add_up(s, middle_of(from, to), to, k + 1, make, user);
  float *sum = s->level[k];
  const float *other = s->level[k + 1];
  for (size_t i = 0; i < s->total; i++) sum[i] += other[i];
}

/* The same for the last subtree of this process: what its last shard is added onto waits for it. */
static void add_up_last(struct shard_sum *s, size_t from, size_t to, size_t k, shard_make *make, void *user)
{
  s->base = k;
  for (; to - from > 1; from = middle_of(from, to), k++) add_up(s, from, middle_of(from, to), k, make, user);
  s->deep = k;
  s->settled = s->gradient;
  s->sent = 0;
  make(from, s->level[k], team_ranks(s->team) > 1 ? s : NULL, user);
  if (s->settled) shard_sum_settle(s, 0);
  close_range(s, s->gradient, s->total);
}

static void add_up_own(struct shard_sum *s, shard_make *make, void *user)
{
  size_t base = 0, last = team_first(s->team, s->n, team_rank(s->team) + 1);
  for (size_t k = 0; k < s->subtrees; k++) {
    const struct subtree *t = &s->subtree[k];
    if (t->rank != team_rank(s->team)) continue;
    if (t->to == last)
      add_up_last(s, t->from, t->to, base++, make, user);
    else
      add_up(s, t->from, t->to, base++, make, user);
  }
}

/* ---- All together ---- */

/* Sums of n elements, as the tree has them; next: the subtree that comes next, and where the sums are. */
struct join {
  float *const *of;
  size_t next, n;
};

static float *join_tree(const struct shard_sum *s, struct join *j, size_t from, size_t to)
{
  if (s->subtree[j->next].from == from && s->subtree[j->next].to == to) return j->of[j->next++];
  float *left = join_tree(s, j, from, middle_of(from, to)), *right = join_tree(s, j, middle_of(from, to), to);
  for (size_t i = 0; i < j->n; i++) left[i] += right[i];
  return left;
}

/* My part of bucket b. */
static void join_slice(struct shard_sum *s, size_t b)
{
  int rank = team_rank(s->team);
  struct bucket mine = slice(s, &s->bucket[b], rank);
  size_t other = 0, base = 0;
  for (size_t k = 0; k < s->subtrees; k++)
    s->of[k] = s->subtree[k].rank == rank ? s->level[base++] + mine.begin : remote_of(s, other++, b);
  struct join j = {.of = s->of, .n = length(mine)};
  memmove(s->level[0] + mine.begin, join_tree(s, &j, 0, s->n), length(mine) * sizeof(float));
}

/* My part of bucket b to all, and theirs to me. */
static r4_status tell_all(struct shard_sum *s, size_t b, r4_error *e)
{
  const r4_team *t = s->team;
  struct bucket mine = slice(s, &s->bucket[b], t->rank);
  r4_status status = R4_OK;
  for (int k = 0; !status && k < t->ranks; k++) {
    struct bucket part = slice(s, &s->bucket[b], k);
    if (k == t->rank) continue;
    status = t->receive(t->user, k, s->level[0] + part.begin, length(part) * sizeof(float), e);
    if (!status)
      status = t->send(t->user, k, s->level[0] + mine.begin, length(mine) * sizeof(float), e);
  }
  return status;
}

static r4_status meet(struct shard_sum *s, r4_error *e)
{
  const r4_team *t = s->team;
  r4_status status = exchange(s, s->buckets - 1, e);
  if (!status) status = t->wait(t->user, e);
  for (size_t b = 0; !status && b < s->buckets; b++) {
    join_slice(s, b);
    status = tell_all(s, b, e);
  }
  return status ? status : t->wait(t->user, e);
}

r4_status shard_sum_run(struct shard_sum *s, shard_make *make, void *user, r4_error *e)
{
  s->error = (r4_error){0};
  add_up_own(s, make, user);
  if (s->error.status) {
    if (e) *e = s->error;
    return s->error.status;
  }
  return team_ranks(s->team) > 1 ? meet(s, e) : R4_OK;
}
