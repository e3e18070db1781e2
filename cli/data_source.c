/* Reading a data set as the options say. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd_data.h"

bool source_meaning(const char *command, const char *word, r4_mask_meaning *meaning)
{
  static const char *const words[] = {"", "irrelevant", "relevant"};
  for (int k = 0; k < 3; k++) {
    if (strcmp(words[k], word)) continue;
    *meaning = (r4_mask_meaning)k;
    return true;
  }
  fprintf(stderr, "r4 %s: --mask-means needs irrelevant or relevant, got \"%s\"\n", command, word);
  return false;
}

bool source_values(const char *command, const char *word, struct values *values)
{
  values->n = 0;
  for (const char *at = word; *at;) {
    char *end;
    long v = strtol(at, &end, 10);
    if (!strchr("0123456789", *at) || (*end && (*end != ',' || !end[1])) || v > 65535 ||
        values->n == MOST_VALUES) {
      fprintf(stderr, "r4 %s: --mask-values needs whole numbers from 0 to 65535 such as 2,3, got \"%s\"\n",
              command, word);
      return false;
    }
    values->v[values->n++] = (double)v;
    at = *end ? end + 1 : end;
  }
  return true;
}

bool source_split(const char *command, const char *word, int *split)
{
  static const char *const words[] = {"train", "val", "test", ""};
  for (int k = 0; k < 4; k++) {
    if (strcmp(words[k], word)) continue;
    *split = k < R4_SPLITS ? k : -1;
    return true;
  }
  fprintf(stderr, "r4 %s: --split needs train, val or test, got \"%s\"\n", command, word);
  return false;
}

bool out_check(const char *command, const char *option, const char *file, const char *ending, bool force)
{
  size_t n = strlen(file), m = strlen(ending);
  if (n <= m || strcmp(file + n - m, ending)) {
    fprintf(stderr, "r4 %s: needs --%s and a file that ends in %s", command, option, ending);
    fprintf(stderr, n ? ", got \"%s\"\n" : "\n", file);
    return false;
  }
  if (force || access(file, F_OK)) return true;
  fprintf(stderr, "r4 %s: %s exists already; --force overwrites it\n", command, file);
  return false;
}

r4_data *source_open(const char *command, const struct source *s, int *code)
{
  r4_error e = {0};
  struct values values;
  *code = EXIT_USAGE;
  if (!source_values(command, s->mask_values, &values)) return NULL;
  r4_data_options o = {.soft_masks = s->soft_masks,
                       .mask_values = values.v,
                       .mask_value_count = values.n,
                       .masks = s->masks,
                       .mask_categories = s->mask_categories,
                       .tokenizer = s->tokenizer,
                       .length = s->length,
                       .mask_words = s->mask_words,
                       .height = s->size,
                       .width = s->size,
                       .seed = (uint64_t)s->seed};
  if (!source_meaning(command, s->mask_means, &o.mask_means)) return NULL;
  r4_data *d = r4_data_open(s->path, &o, &e);
  if (!d) *code = cli_fail(command, e.status, e.text);
  return d;
}
