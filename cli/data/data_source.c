/* Reading a data set as the options say. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/cmd_data.h"

static bool read_meaning(const char *command, const char *word, r4_mask_meaning *meaning)
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

static bool read_values(const char *command, struct source *s)
{
  size_t n = 0;
  for (const char *at = s->mask_values; *at;) {
    char *end;
    long v = strtol(at, &end, 10);
    if (!strchr("0123456789", *at) || (*end && (*end != ',' || !end[1])) || v > 65535 ||
        n == MOST_VALUES) {
      fprintf(stderr, "r4 %s: --mask-values needs whole numbers from 0 to 65535 such as 2,3, got \"%s\"\n",
              command, s->mask_values);
      return false;
    }
    s->values[n++] = (double)v;
    at = *end ? end + 1 : end;
  }
  s->read.mask_values = s->values;
  s->read.mask_value_count = n;
  return true;
}

bool source_read(const char *command, struct source *s)
{
  s->read.height = s->read.width = s->size;
  if (s->read.cache && !*s->read.cache) s->read.cache = NULL;
  return read_values(command, s) && read_meaning(command, s->mask_means, &s->read.mask_means);
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

/* To look at photos of many sizes nobody needs to choose one. */
r4_data *source_open(const char *command, struct source *s, int *code)
{
  enum { SIDE = 64 }; /* as r4 find looks at them */
  r4_error e = {0};
  *code = EXIT_USAGE;
  if (!source_read(command, s)) return NULL;
  r4_data *d = r4_data_open(s->path, &s->read, &e);
  if (d || e.status != R4_E_SHAPE || s->size) return d ? d : (*code = cli_fail(command, e.status, e.text), NULL);
  s->read.height = s->read.width = SIDE;
  d = r4_data_open(s->path, &s->read, &e);
  if (!d) return *code = cli_fail(command, e.status, e.text), NULL;
  fprintf(stderr, "r4 %s: the images have different sizes: here all are resized to %d x %d; --size N selects another\n",
          command, SIDE, SIDE);
  return d;
}
