/* Going on from a checkpoint, possibly with settings that have changed a little. A checkpoint knows the settings, the
 * data and the version that made it; what is not as it was is named. */
#include <string.h>

#include "train/run/run.h"

/* ---- Who made it ---- */

void run_origin(const struct run *r, struct checkpoint_part part[RUN_ORIGIN_PARTS])
{
  part[0] = (struct checkpoint_part){"version", R4_VERSION, strlen(R4_VERSION)};
  part[1] = (struct checkpoint_part){"data", r->data_hash, sizeof r->data_hash};
  part[2] = (struct checkpoint_part){"settings", r->text, strlen(r->text)};
}

static r4_status find(const struct checkpoint *c, const char *name, const struct checkpoint_part **part,
                      r4_error *e)
{
  *part = checkpoint_find(c, name);
  if (*part) return R4_OK;
  return r4_fail(e, R4_E_PARSE, "%s: has no part \"%s\": it was made by another version of r4", c->path, name);
}

static r4_status check_version(const struct checkpoint *c, r4_error *e)
{
  const struct checkpoint_part *p;
  r4_status s = find(c, "version", &p, e);
  if (s || (p->size == strlen(R4_VERSION) && !memcmp(p->data, R4_VERSION, p->size))) return s;
  return r4_fail(e, R4_E_ARGUMENT, "%s: is from r4 %.*s, this is r4 %s, and their training steps differ",
                 c->path, p->size < 20 ? (int)p->size : 20, (const char *)p->data, R4_VERSION);
}

static r4_status check_data(const struct run *r, const struct checkpoint *c, r4_error *e)
{
  char was[R4_HASH_SIZE];
  r4_status s = checkpoint_take(c, "data", was, sizeof was, e);
  if (s || !memcmp(was, r->data_hash, sizeof was)) return s;
  return r4_fail(e, R4_E_ARGUMENT,
                 "%s: the data have changed: their SHA-256 was %.12s.. and is now %.12s..",
                 c->path, was, r->data_hash);
}

static r4_status read_settings(const struct checkpoint *c, r4_settings **was, r4_error *e)
{
  const struct checkpoint_part *p;
  r4_status s = find(c, "settings", &p, e);
  if (s) return s;
  *was = r4_settings_new();
  return *was ? settings_parse(*was, c->path, p->data, p->size, e)
              : r4_fail(e, R4_E_MEMORY, "%s: out of memory", c->path);
}

r4_status run_check_origin(const struct run *r, const struct checkpoint *c, r4_settings **was, r4_error *e)
{
  r4_error difference;
  r4_status s = check_version(c, e);
  if (!s) s = read_settings(c, was, e);
  if (s) return s;
  if (r4_settings_compare(*was, r->settings, &difference) == R4_RUN_OTHER)
    return r4_fail(e, R4_E_ARGUMENT,
                   "%s: %.200s: only epochs, patience, checkpoint_seconds, threads and eval.* can change "
                   "when a run is resumed",
                   c->path, difference.text);
  return check_data(r, c, e);
}
