/* Settings: what is accepted, as a file or as an assignment, prints as text that reads back the same; what is not has a
 * message. The first byte chooses. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "config/settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
  if (!holds) abort();
}

static r4_settings *defaults(void)
{
  r4_settings *s = r4_settings_new();
  require(s != NULL);
  return s;
}

static void print_and_read(const r4_settings *s)
{
  r4_settings *again = defaults();
  char *text = r4_settings_text(s);
  require(text && settings_parse(again, "text", text, strlen(text), NULL) == R4_OK);
  char *text_again = r4_settings_text(again);
  require(text_again && !strcmp(text, text_again));
  r4_error e;
  require(r4_settings_check(s, NULL) || !r4_settings_check(again, NULL));
  for (size_t k = 0; r4_settings_idle(s, k, &e); k++) require(e.text[0]);
  require(!r4_settings_idle(again, 0, &e)); /* it gives every setting, and so means none */
  r4_string_free(text);
  r4_string_free(text_again);
  r4_settings_free(again);
}

static r4_status assign(r4_settings *s, const uint8_t *data, size_t size, r4_error *e)
{
  char *text = malloc(size + 1);
  memcpy(text, data, size);
  text[size] = 0;
  r4_status status = r4_settings_set(s, text, "--set", e);
  free(text);
  return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  if (!size) return 0;
  r4_error e;
  r4_settings *s = defaults();
  r4_status status =
    data[0] == '=' ? assign(s, data + 1, size - 1, &e) : settings_parse(s, "file", data, size, &e);
  require(status == e.status && (status == R4_OK || e.text[0]));
  print_and_read(s);
  r4_settings_free(s);
  return 0;
}
