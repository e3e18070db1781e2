/* From here to there. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"

/* The length of path without slashes at its end. */
static size_t trimmed(const char *path)
{
  size_t n = strlen(path);
  while (n > 1 && path[n - 1] == '/') n--;
  return n;
}

static char *copy(const char *s, size_t n)
{
  struct text t = {0};
  text_add(&t, "%.*s", (int)n, s);
  return text_take(&t);
}

static bool names_itself(const char *last)
{
  return *last && strcmp(last, ".") && strcmp(last, "..");
}

char *file_absolute(const char *path)
{
  char real[PATH_MAX], *own = copy(path, trimmed(path)), *answer = NULL;
  if (!own || !file_exists(own)) {
    r4_mem_free(own);
    return NULL;
  }
  char *slash = strrchr(own, '/');
  const char *last = slash ? slash + 1 : own;
  if (!names_itself(last)) {
    if (realpath(own, real))
      answer = file_join(real, ".", NULL); /* a name would say more than the path did */
  } else {
    char *folder = slash ? copy(own, slash > own ? (size_t)(slash - own) : 1) : copy(".", 1);
    if (folder && realpath(folder, real)) answer = file_join(real, last, NULL);
    r4_mem_free(folder);
  }
  r4_mem_free(own);
  return answer;
}

/* How much of two absolute paths is common, in whole parts: the index of the slash that ends it, or the length of a. */
static size_t common(const char *a, const char *b)
{
  size_t k = 0, slash = 0;
  for (; a[k] && a[k] == b[k]; k++)
    if (a[k] == '/') slash = k;
  bool whole = !a[k] && (!b[k] || b[k] == '/');
  return whole ? k : !b[k] && a[k] == '/' ? k : slash;
}

char *file_relative(const char *folder, const char *path)
{
  char from[PATH_MAX], *to = file_absolute(path);
  struct text t = {0};
  if (!to || !realpath(folder, from)) {
    r4_mem_free(to);
    return NULL;
  }
  size_t same = common(from, to);
  for (const char *c = from + same; *c; c++)
    if (*c == '/' && c[1]) text_add(&t, "../");
  const char *rest = to + same + (to[same] == '/');
  text_add(&t, "%s", *rest ? rest : ".");
  r4_mem_free(to);
  return text_take(&t);
}
