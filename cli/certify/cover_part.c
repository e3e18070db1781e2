#include "certify/cover_part.h"

#include <stdlib.h>
#include <string.h>

enum { LINE = 1024 };

static void print(FILE *f, const r4_covered *x)
{
  fprintf(f, "%d %d %d %d %d %a %a end\n", (int)x->alone, (int)x->predicted, x->agreed, x->detected,
          x->recovered, (double)x->one_margin, (double)x->margin);
}

/* A line that was cut off by a kill has no "end". */
static bool scan(const char *line, r4_covered *to)
{
  int alone, predicted, agreed, detected, recovered, length = 0;
  float one_margin, margin;
  if (sscanf(line, "%d %d %d %d %d %a %a end\n%n", &alone, &predicted, &agreed, &detected, &recovered,
             &one_margin, &margin, &length) != 7 ||
      !length || line[length])
    return false;
  *to = (r4_covered){.alone = alone,
                     .predicted = predicted,
                     .agreed = agreed,
                     .detected = detected,
                     .recovered = recovered,
                     .one_margin = one_margin,
                     .margin = margin};
  return true;
}

static size_t read_lines(FILE *f, const char *key, size_t n, r4_covered *to)
{
  char line[LINE];
  size_t done = 0, length = strlen(key);
  if (!fgets(line, sizeof line, f) || strncmp(line, key, length) || strcmp(line + length, "\n")) return 0;
  while (done < n && fgets(line, sizeof line, f) && scan(line, &to[done])) done++;
  return done;
}

size_t cover_part_open(struct cover_part *p, const char *path, const char *key, size_t n, r4_covered *to)
{
  *p = (struct cover_part){0};
  FILE *before = fopen(path, "r");
  size_t done = before ? read_lines(before, key, n, to) : 0;
  if (before) fclose(before);
  p->f = fopen(path, "w");
  if (!p->f) return done;
  fprintf(p->f, "%s\n", key);
  cover_part_add(p, done, to);
  return done;
}

void cover_part_add(struct cover_part *p, size_t n, const r4_covered *x)
{
  if (!p->f) return;
  for (size_t i = 0; i < n; i++) print(p->f, &x[i]);
  fflush(p->f);
}

void cover_part_close(struct cover_part *p)
{
  if (p->f) fclose(p->f);
  p->f = NULL;
}
