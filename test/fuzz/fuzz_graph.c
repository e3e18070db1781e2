/* The text form of a graph: whatever is accepted holds together and prints as text that reads back the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "graph/graph.h"
#include "r4.h"

enum { OUTPUTS = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
  if (!holds) abort();
}

static r4_graph *read_graph(const char *text, r4_id *out, size_t *n)
{
  r4_error e;
  r4_graph *g = r4_graph_parse(text, OUTPUTS, out, n, &e);
  require((g == NULL) == (e.status != R4_OK));
  require(g || e.text[0]);
  require(!g || graph_check(g, &e) == R4_OK);
  return g;
}

static void print_and_read(const r4_graph *g, size_t n, const r4_id *out)
{
  r4_id read[OUTPUTS];
  size_t n_read;
  char *text = r4_graph_text(g, n, out), *dot = r4_graph_dot(g, n, out);
  require(text && dot);
  r4_graph *again = read_graph(text, read, &n_read);
  require(again && n_read == n);
  char *text_again = r4_graph_text(again, n, read);
  require(text_again && !strcmp(text, text_again));
  r4_string_free(text);
  r4_string_free(text_again);
  r4_string_free(dot);
  r4_graph_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  r4_id out[OUTPUTS];
  size_t n;
  char *text = malloc(size + 1);
  memcpy(text, data, size);
  text[size] = 0;
  r4_graph *g = read_graph(text, out, &n);
  if (g) print_and_read(g, n, out);
  r4_graph_free(g);
  free(text);
  return 0;
}
