#include <string.h>

#include "r4_tools.h"

enum { WORD = 31 };

static size_t smallest(size_t a, size_t b)
{
  return a < b ? a : b;
}

/* Rows of the usual table, the last three of them. Words are cut at WORD letters. */
size_t r4_word_distance(const char *a, const char *b)
{
  size_t rows[3][WORD + 1], n = strnlen(a, WORD), m = strnlen(b, WORD);
  for (size_t j = 0; j <= m; j++) rows[0][j] = j;
  for (size_t i = 1; i <= n; i++) {
    size_t *row = rows[i % 3], *up = rows[(i + 2) % 3], *up2 = rows[(i + 1) % 3];
    row[0] = i;
    for (size_t j = 1; j <= m; j++) {
      row[j] = smallest(smallest(up[j], row[j - 1]) + 1, up[j - 1] + (a[i - 1] != b[j - 1]));
      bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = smallest(row[j], up2[j - 2] + 1);
    }
  }
  return rows[n % 3][m];
}
