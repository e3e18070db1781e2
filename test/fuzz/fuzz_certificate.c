/* The readers of r4-check: a certificate, a model with its net, or an archive with its arrays, by the first byte. What
 * is refused comes back here; what is taken for a net is computed once. */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "../../check/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* It keeps what it needs to its end. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
  return "detect_leaks=0:quarantine_size_mb=8";
}

static jmp_buf back;
enum { MOST = 1 << 14 };
static void *taken[MOST]; /* by value_new too, which frees them itself: those are left alone */
static size_t count;
static bool computing;

void refuse(const char *format, ...)
{
  (void)format;
  longjmp(back, 1);
}

void *take(size_t n, size_t size)
{
  void *p = n && size > ((size_t)1 << 26) / n ? NULL : calloc(n ? n : 1, size);
  if (!p || count == MOST) refuse("out of memory");
  if (!computing) taken[count++] = p;
  return p;
}

static void compute(const struct net *n)
{
  struct certificate c = {.semantics = ANY_FLOAT};
  struct batch b = {.x = {.shape = n->in}};
  int64_t id[64] = {0};
  bool vary[64] = {0};
  if (*n->missing || shape_size(&n->in) > 64) return;
  for (size_t k = 0; k < LANES; k++) b.id[k] = id, b.vary[k] = vary, b.length[k] = k;
  computing = true;
  b.x = value_new(n->in);
  net_margins(n, &c, &b);
}

static void read(struct bytes file, uint8_t which)
{
  struct certificate c = {0};
  struct model m = {0};
  struct net n = {.first = NULL};
  if (which % 3 == 0) {
    certificate_read(file, &c);
  } else if (which % 3 == 1) {
    model_read(file, &m);
    net_build(&m, &n, which & 4);
    compute(&n);
  } else {
    array_read(file, "x");
    array_read(file, "mask");
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  if (!size) return 0;
  computing = false;
  uint8_t *copy = malloc(size); /* as long as it is, so that a sanitizer sees reads behind its end */
  memcpy(copy, data + 1, size - 1);
  if (!setjmp(back)) read((struct bytes){copy, size - 1}, data[0]);
  while (count) free(taken[--count]);
  free(copy);
  return 0;
}
