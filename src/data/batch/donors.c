#include "data/batch/donors.h"

#include "base/binomial.h"
#include "base/mem.h"

static const double RARE = 0.5, EVEN = 0.8, CHANCE = 0.01;

static void sort_by_class(struct donors *s, const r4_data *d, bool all, size_t *at)
{
  for (size_t i = 0; i < d->n; i++) {
    const struct record *r = d->record + i;
    s->examples[r->label]++;
    if (all || r->mask) s->first[r->label + 1]++;
  }
  for (size_t c = 0; c < s->classes; c++) {
    s->first[c + 1] += s->first[c];
    at[c] = s->first[c];
  }
  for (size_t i = 0; i < d->n; i++)
    if (all || d->record[i].mask) s->example[at[d->record[i].label]++] = i;
}

static r4_status find(struct donors *s, const r4_data *d, bool all, r4_error *e)
{
  size_t classes = d->classes->n, *at = mem_new(classes + 1, sizeof *at, "examples by class", e);
  *s = (struct donors){.classes = classes,
                       .example = mem_new(d->n + 1, sizeof *s->example, "examples by class", e),
                       .first = mem_new(classes + 1, sizeof *s->first, "examples by class", e),
                       .examples = mem_new(classes + 1, sizeof *s->examples, "examples by class", e)};
  bool room = at && s->example && s->first && s->examples;
  if (room)
    sort_by_class(s, d, all, at);
  else
    donors_clear(s);
  r4_mem_free(at);
  return room ? R4_OK : R4_E_MEMORY;
}

r4_status donors_find(struct donors *s, const r4_data *d, r4_error *e)
{
  return find(s, d, false, e);
}

r4_status donors_find_all(struct donors *s, const r4_data *d, r4_error *e)
{
  return find(s, d, true, e);
}

void donors_clear(struct donors *s)
{
  r4_mem_free(s->example);
  r4_mem_free(s->first);
  r4_mem_free(s->examples);
  *s = (struct donors){0};
}

size_t donors_all(const struct donors *s)
{
  return s->first[s->classes];
}

size_t donors_own(const struct donors *s, int32_t class)
{
  return s->first[class + 1] - s->first[class];
}

size_t donors_for(const struct donors *s, int32_t class)
{
  return donors_all(s) - donors_own(s, class);
}

size_t donors_own_at(const struct donors *s, int32_t class, size_t k)
{
  return s->example[s->first[class] + k];
}

size_t donors_at(const struct donors *s, int32_t class, size_t k)
{
  return s->example[k < s->first[class] ? k : k + donors_own(s, class)];
}

static bool are_below(double share, double masked, double examples, double others_masked, double others)
{
  double p = others > 0 ? others_masked / others : 0;
  if (!(examples > 0) || !(masked < share * p * examples)) return false;
  return p >= 1 || binomial_at_most(masked, examples, p) < CHANCE;
}

bool masks_are_rare(double masked, double examples, double others_masked, double others)
{
  return are_below(RARE, masked, examples, others_masked, others);
}

bool masks_are_rarer(double masked, double examples, double others_masked, double others)
{
  return are_below(EVEN, masked, examples, others_masked, others);
}

bool donors_are_rare(const struct donors *s, int32_t class)
{
  double n = (double)s->examples[class], others = -n;
  for (size_t c = 0; c < s->classes; c++) others += (double)s->examples[c];
  return masks_are_rare((double)donors_own(s, class), n, (double)donors_for(s, class), others);
}

bool donors_elsewhere(const struct donors *s, int32_t class)
{
  for (size_t c = 0; c < s->classes; c++)
    if (c != (size_t)class && donors_own(s, (int32_t)c) && !donors_are_rare(s, (int32_t)c)) return true;
  return false;
}
