#include "box_range.h"

#include <string.h>

static bool read_valid(const char *valid, struct box_range *to)
{
  const char *comma = strchr(valid, ',');
  size_t low = comma ? (size_t)(comma - valid) : 0;
  if (!comma || low >= sizeof to->low || strlen(comma + 1) >= sizeof to->high) return false;
  snprintf(to->low, sizeof to->low, "%.*s", (int)low, valid);
  snprintf(to->high, sizeof to->high, "%s", comma + 1);
  return true;
}

bool box_range(const char *command, const char *valid, const r4_settings *s, const r4_data *d, struct box_range *to)
{
  r4_setting_value set = {0};
  r4_settings_get(s, "range", &set, NULL);
  *to = (struct box_range){.there = strcmp(valid, "none") != 0};
  if (!to->there) return true;
  if (*valid && !read_valid(valid, to)) {
    fprintf(stderr, "r4 %s: --valid %s: expected two decimals, such as 0,1, or none\n", command, shown(valid).text);
    return false;
  }
  if (*valid) return true;
  to->there = set.n == 2 || r4_data_shape(d).rank == 3;
  snprintf(to->low, sizeof to->low, "%.17g", set.n == 2 ? set.reals[0] : 0);
  snprintf(to->high, sizeof to->high, "%.17g", set.n == 2 ? set.reals[1] : 1);
  return true;
}
