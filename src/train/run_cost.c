/* What training took, by its log. */
#include "base/file.h"
#include "base/mem.h"
#include "train/log.h"

static r4_status add_line(void *context, const struct js *line, r4_error *e)
{
  r4_run_cost *to = context;
  double seconds;
  (void)e;
  if (!js_number(js_get(line, "seconds"), &seconds)) return R4_OK;
  to->seconds += seconds;
  to->epochs++;
  return R4_OK;
}

r4_status r4_run_cost_read(const char *folder, r4_run_cost *to, r4_error *e)
{
  NEEDS(folder, "a folder", R4_E_ARGUMENT);
  NEEDS(to, "room for the result", R4_E_ARGUMENT);
  *to = (r4_run_cost){0};
  char *path = file_join(folder, "log.jsonl");
  if (!path) return r4_fail(e, R4_E_MEMORY, "%s: out of memory", folder);
  r4_status s = log_read(path, add_line, to, e);
  r4_mem_free(path);
  return s;
}
