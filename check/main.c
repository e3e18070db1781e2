/* r4-check [--quiet] CERTIFICATE MODEL.safetensors DATA.npz */
#include "check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Nothing is freed: what it takes it needs to its end. */
#ifdef __SANITIZE_ADDRESS__
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
  return "detect_leaks=0";
}
#endif

void refuse(const char *format, ...)
{
  va_list args;
  va_start(args, format);
  fputs("r4-check: ", stderr);
  vfprintf(stderr, format, args);
  fputc('\n', stderr);
  _Exit(3);
}

void *take(size_t n, size_t size)
{
  void *p = calloc(n ? n : 1, size);
  if (!p) refuse("out of memory");
  return p;
}

static struct bytes file_read(const char *path)
{
  FILE *f = fopen(path, "rb");
  long size = f && !fseek(f, 0, SEEK_END) ? ftell(f) : -1;
  if (size < 0 || size > 1L << 40) refuse("%s cannot be read", path);
  uint8_t *data = take((size_t)size, 1);
  rewind(f);
  if (fread(data, 1, (size_t)size, f) != (size_t)size) refuse("%s cannot be read", path);
  fclose(f);
  return (struct bytes){data, (size_t)size};
}

static int report(const struct certificate *c, const struct net *net, bool quiet)
{
  static const char *const name[] = {"open", "holds", "cannot tell", "does not hold"};
  size_t count[4] = {0}, correct = 0;
  for (size_t k = 0; k < c->n; k++) {
    const struct line *l = &c->line[k];
    if (!quiet) printf("%zu %s\n", k, name[l->verdict]);
    count[l->verdict]++;
    correct += l->verdict == HOLDS && l->class == l->label;
  }
  if (*net->missing) printf("the part %s has no rule here: nothing can be told of this net\n", net->missing);
  if (c->semantics == THIS_PROGRAM) puts("float tolerance 1e-4 (1 + |z|)");
  printf("%zu lines: %zu hold, %zu do not hold, %zu cannot tell, %zu open\n", c->n, count[HOLDS], count[DOES_NOT_HOLD],
         count[CANNOT_TELL], count[OPEN]);
  size_t share = c->n ? (20000 * correct + c->n) / (2 * c->n) : 0; /* hundredths of a per cent, to the nearest */
  printf("certified accuracy %zu.%02zu %% (%zu of %zu)\n", share / 100, share % 100, correct, c->n);
  return fflush(stdout) ? 3 : count[DOES_NOT_HOLD] || count[CANNOT_TELL];
}

int main(int argc, char **argv)
{
  struct certificate c = {0};
  struct net net = {.first = NULL};
  bool quiet = argc == 5 && !strcmp(argv[1], "--quiet");
  if (argc != 4 + quiet) {
    fputs("usage: r4-check [--quiet] CERTIFICATE MODEL.safetensors DATA.npz\n", stderr);
    return 2;
  }
  check(file_read(argv[1 + quiet]), file_read(argv[2 + quiet]), file_read(argv[3 + quiet]), &c, &net);
  return report(&c, &net, quiet);
}
