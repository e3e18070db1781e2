/* A small net for r4 find, which is asked what it looks at: it need not be good, but quick. */
#include <stdio.h>

#include "base/error.h"
#include "r4.h"

static const char *const quick[] = {"net=conv 16 3 p1, relu, maxpool 2, conv 32 3 p1, relu, maxpool 2, conv "
                                    "64 3 p1, relu, maxpool 2, flatten, dense 64, "
                                    "relu, dense {classes}",
                                    "method=erm",
                                    "class_weights=balanced",
                                    "epochs=6",
                                    "batch=32",
                                    "optimizer=adam",
                                    "rate=0.001"};

static r4_status set_all(r4_settings *settings, uint64_t seed, r4_error *e)
{
  char text[40];
  r4_status s = settings ? R4_OK : r4_fail(e, R4_E_MEMORY, "out of memory for settings");
  snprintf(text, sizeof text, "seed=%llu", (unsigned long long)seed);
  if (!s) s = r4_settings_set(settings, text, "the quick net", e);
  for (size_t k = 0; !s && k < sizeof quick / sizeof *quick; k++)
    s = r4_settings_set(settings, quick[k], "the quick net", e);
  return s;
}

r4_trainer *r4_find_quick_net(const r4_data *d, uint64_t seed, r4_error *e)
{
  NEEDS(d, "data", NULL);
  r4_settings *settings = r4_settings_new();
  r4_trainer *t = set_all(settings, seed, e) ? NULL : r4_trainer_new(settings, d, e);
  r4_settings_free(settings);
  return t;
}
