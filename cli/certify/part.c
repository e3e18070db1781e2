#include "certify/part.h"

#include <stdlib.h>
#include <string.h>

/* Cuts off the end of a whole line. */
static bool is_whole(char *line)
{
  static const char end[] = " end\n";
  size_t n = strlen(line), tail = sizeof end - 1;
  if (n < tail || strcmp(line + n - tail, end)) return false;
  line[n - tail] = 0;
  return true;
}

static size_t read_lines(FILE *f, const struct part_kind *kind, const char *key, size_t n, char *to)
{
  char *line = NULL;
  size_t room = 0, done = 0;
  bool same = getline(&line, &room, f) > 0 && is_whole(line) && !strcmp(line, key);
  while (same && done < n && getline(&line, &room, f) > 0 && is_whole(line) &&
         kind->scan(line, to + done * kind->size, kind->size))
    done++;
  free(line);
  return done;
}

/* Beside it first: whoever is killed here has the old file, or the new one. */
static void begin(struct part *p, const char *path, const char *key, size_t done, const void *item)
{
  char beside[4096];
  if (snprintf(beside, sizeof beside, "%s.new", path) >= (int)sizeof beside) return;
  p->f = fopen(beside, "w");
  if (!p->f) return;
  fprintf(p->f, "%s end\n", key);
  part_add(p, done, item);
  if (!ferror(p->f) && !rename(beside, path)) return;
  part_close(p);
  remove(beside);
}

size_t part_open(struct part *p, const struct part_kind *kind, const char *path, const char *key, size_t n, void *to)
{
  *p = (struct part){.kind = *kind};
  FILE *before = fopen(path, "r");
  size_t done = before ? read_lines(before, kind, key, n, to) : 0;
  if (before) fclose(before);
  begin(p, path, key, done, to);
  return done;
}

void part_add(struct part *p, size_t n, const void *item)
{
  if (!p->f) return;
  for (size_t i = 0; i < n; i++) {
    p->kind.print(p->f, (const char *)item + i * p->kind.size, p->kind.size);
    fputs(" end\n", p->f);
  }
  fflush(p->f);
}

void part_close(struct part *p)
{
  if (p->f) fclose(p->f);
  p->f = NULL;
}
