/* Names that papers and other programs have for our settings: what whoever guesses is told. They are no settings, as
 * one thing has one name. */
#include <string.h>

#include "config/settings.h"

/* clang-format off */
static const struct {
  const char *usual, *key;
} names[] = {
  {"lr", "rate"},
  {"learning_rate", "rate"},
  {"epsilon", "eps"},
  {"batchsize", "batch"},
  {"batch_size", "batch"},
  {"k", "attack.steps (adv-r4) or samples (rand-r4)"},
  {"iterations", "attack.steps"},
  {"pgd_steps", "attack.steps"},
  {"step_size", "attack.step"},
  {"beta", "weight_penalty"},
  {"l2", "weight_penalty"},
  {"wd", "weight_decay"},
  {"lam", "lambda"},
  {"reg", "lambda"},
  {"optim", "optimizer"},
  {"scheduler", "schedule"},
  {"num_epochs", "epochs"},
  {"n_epochs", "epochs"},
  {"random_seed", "seed"},
  {"random_state", "seed"},
  {"dataset", "data"},
  {"model", "net"},
  {"network", "net"},
  {"arch", "net"},
  {"architecture", "net"},
  {"pretrained", "from"},
  {"objective", "method"},
  {"loss", "method"},
  {"grad_clip", "clip"},
  {"workers", "threads"},
  {"num_workers", "threads"},
  {"mask_means", "data.mask_means"},
  {"mask_words", "data.mask_words"},
  {"masks", "data.masks"},
  {"val", "data.val"},
  {"device", "threads (r4 computes on CPUs)"},
  {NULL, NULL},
};
/* clang-format on */

const char *r4_setting_usual(const char *name)
{
  for (size_t k = 0; name && names[k].usual; k++)
    if (!strcmp(names[k].usual, name)) return names[k].key;
  return NULL;
}

/* One key only is an assignment that can be told. */
const char *r4_setting_meant(const char *name)
{
  const struct setting *t = setting_find(name);
  const char *usual = t ? NULL : r4_setting_usual(name);
  if (!t && usual) t = setting_find(usual);
  return t ? t->info.key : NULL;
}
