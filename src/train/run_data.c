/* The data of a run that is there: whether they are still those it was trained on. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "train/manifest.h"

static r4_status read_manifest(const char *folder, struct js **root, r4_error *e)
{
  char *path = file_join(folder, "manifest.json");
  *root = NULL;
  r4_status s = path ? manifest_read(path, root, e) : r4_fail(e, R4_E_MEMORY, "%s: out of memory", folder);
  r4_mem_free(path);
  return s;
}

r4_status r4_run_check_data(const char *folder, const char *hash, r4_error *e)
{
  enum { SHOWN = 12 }; /* digits of a hash that people compare */
  struct js *root;
  r4_error_clear(e);
  r4_status s = read_manifest(folder, &root, e);
  if (s) return s;
  const struct js *data = js_get(root, "data");
  const char *was = js_text(js_get(data, "sha256")), *about = js_text(js_get(data, "about"));
  if (!was)
    s = r4_fail(e, R4_E_PARSE, "%s/manifest.json: has no data.sha256, expected the hash of the data", folder);
  else if (strcmp(was, hash))
    s = r4_fail(e, R4_E_ARGUMENT, "%s: trained on data with SHA-256 %.*s... (%.150s), but these have %.*s...",
                folder, SHOWN, was, about ? about : "not described", SHOWN, hash);
  js_free(root);
  return s;
}
