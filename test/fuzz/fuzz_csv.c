/* Comma-separated values: every field of every row that is accepted is a string inside the bytes. */
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
  if (!holds) abort();
}

static void read_all(struct csv *c, const char *start)
{
  r4_error e = {0};
  bool row = true;
  size_t line = 1;
  while (!csv_next(c, &row, &e) && row) {
    require(c->line > line);
    line = c->line;
    for (int k = 0; k < c->columns; k++)
      require(c->field[k] >= start && c->field[k] + strlen(c->field[k]) <= c->end);
  }
  require(row ? e.status == R4_E_PARSE : c->at == c->end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  struct csv c;
  r4_error e = {0};
  int column;
  uint8_t *text = malloc(size + 1);
  memcpy(text, data, size);
  text[size] = 0;
  if (!csv_open(&c, text, size, "fuzz", &e)) {
    require(csv_has(&c, c.name[0]) && csv_column(&c, c.name[c.columns - 1], &column, &e) != R4_E_MEMORY);
    read_all(&c, (char *)text);
    csv_close(&c);
  } else {
    require(e.status != R4_OK && e.text[0]);
  }
  free(text);
  return 0;
}
