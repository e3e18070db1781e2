/* What is probably wrong with texts. */
#include "base/mem.h"
#include "base/plain.h"
#include "data/counts.h"
#include "data/lint.h"

/* How many training texts of each class have each token where no mask covers it: [ids, classes]. */
static void count_tokens(const r4_data *d, size_t ids, uint32_t *count)
{
  uint32_t *last = count + ids * d->classes->n; /* the last text that had the token, + 1 */
  for (size_t i = 0; i < d->n; i++) {
    const struct record *r = d->record + i;
    const int32_t *id = column_row(data_x(d), r->row);
    const uint8_t *mask = data_mask_bytes(d, i);
    if (r->split != R4_TRAIN) continue;
    for (size_t k = 0; k < column_length(data_x(d), r->row); k++) {
      if ((mask && mask[k]) || last[id[k]] == i + 1) continue;
      last[id[k]] = (uint32_t)i + 1;
      count[(size_t)id[k] * d->classes->n + (size_t)r->label]++;
    }
  }
}

/* A token that is in at least 1 % of the training texts, of which 95 % are of one class, though that class has no more
 * than 80 % of all. */
void lint_words(struct lint *l)
{
  const r4_data *d = l->d;
  const size_t classes = d->classes->n, ids = (size_t)r4_data_vocabulary(d);
  if (!ids || classes > 64) return;
  uint32_t *count = r4_mem_new(ids * (classes + 1), sizeof *count);
  if (!count) {
    l->status = R4_E_MEMORY;
    return;
  }
  count_tokens(d, ids, count);
  const size_t all = r4_data_counts(d, -1, -1).examples[R4_TRAIN];
  size_t found = 0, token = 0, class = 0, most = 0, with = 0;
  for (size_t c = 0; c < classes; c++) {
    if (5 * r4_data_counts(d, (int32_t)c, -1).examples[R4_TRAIN] > 4 * all) continue;
    for (size_t k = 0; k < ids; k++) {
      size_t sum = 0, own = count[k * classes + c];
      for (size_t j = 0; j < classes; j++) sum += count[k * classes + j];
      if (100 * sum < all || sum < 10 || 20 * own < 19 * sum) continue;
      found++;
      if (own > most) most = own, with = sum, token = k, class = c;
    }
  }
  char name[64];
  if (d->pieces && token < d->pieces->n)
    plain_print(name, sizeof name, "\"%.40s\"", d->pieces->name[token]);
  else
    plain_print(name, sizeof name, "%zu", token);
  if (found)
    lint_tell(l, WARNING, "word-label",
              "%zu tokens give a class away where no mask covers them: %s is in %zu training texts, %zu of "
              "them of class %s",
              found, name, with, most, d->classes->name[class]);
  r4_mem_free(count);
}
