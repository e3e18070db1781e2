#include "text_case.h"

#include <stdio.h>
#include <string.h>

#include "scratch.h"

void assert_text(const r4_data *d, size_t i, const char *expected)
{
  char shown[1000] = "";
  float mask[600], id[600];
  r4_data_mask(d, i, mask);
  r4_data_values(d, i, id);
  for (size_t k = 0; k < r4_data_length(d, i); k++) {
    char one[60];
    snprintf(one, sizeof one, mask[k] > 0 ? "%s(%s)" : "%s%s", k ? " " : "", r4_data_piece(d, (int32_t)id[k]));
    strncat(shown, one, sizeof shown - strlen(shown) - 1);
  }
  assert_string_equal(shown, expected);
}
