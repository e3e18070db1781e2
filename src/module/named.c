/* Networks by name: "mlp784-512-10" (sizes of the layers), and those of the paper. */
#include <string.h>

#include "base/text.h"
#include "module/net.h"

#define DERM                                                                                        \
  "conv 32 3 p1, relu, conv 32 4 s2 p1, relu, conv 64 4 p1, relu, conv 64 4 s2 p1, relu, flatten, " \
  "dense 1024, relu, dense 1024, relu, dense 2"

static const struct {
  const char *name;
  r4_shape input;
  const char *layers;
} named[] = {
  {"derm28", {3, {28, 28, 3}}, DERM},
  {"derm64", {3, {64, 64, 3}}, DERM},
};

/* "784-512-10" as "dense 512, relu, dense 10" on [784]. */
static r4_net *mlp(const char *name, r4_error *e)
{
  const char *s = name + strlen("mlp"), *end = name + strlen(name);
  struct text layers = {0};
  r4_shape input = R4_SHAPE(0);
  size_t sizes = 0;
  bool ok = true;
  for (; ok && (!sizes || s < end); sizes++) {
    int64_t size = 0;
    if (sizes) ok = *s++ == '-';
    ok = ok && number_parse(&s, end, 1, &size);
    if (!sizes)
      input.dim[0] = size;
    else if (ok)
      text_add(&layers, "%sdense %lld", sizes > 1 ? ", relu, " : "", (long long)size);
  }
  char *line = text_take(&layers);
  r4_net *n = NULL;
  if (!line)
    r4_fail(e, R4_E_MEMORY, "net: out of memory");
  else if (ok && sizes > 1)
    n = r4_net_new(line, input, e);
  else
    r4_fail(e, R4_E_ARGUMENT, "net \"%.60s\": needs two or more sizes, as in mlp784-512-10", name);
  r4_string_free(line);
  return n;
}

r4_net *r4_net_named(const char *name, r4_error *e)
{
  if (!name) name = "";
  r4_error_clear(e);
  if (!strncmp(name, "mlp", 3)) return mlp(name, e);
  for (size_t k = 0; k < sizeof named / sizeof *named; k++)
    if (!strcmp(named[k].name, name)) return r4_net_new(named[k].layers, named[k].input, e);
  struct text known = {0};
  for (size_t k = 0; k < sizeof named / sizeof *named; k++) text_add(&known, ", %s", named[k].name);
  char *names = text_take(&known);
  r4_fail(e, R4_E_ARGUMENT, "net \"%.60s\": no such name; there are mlpA-B-...%s", name, names ? names : "");
  r4_string_free(names);
  return NULL;
}
