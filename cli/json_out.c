#include "json_out.h"

#include "cli.h"

int json_print(FILE *f, const char *command, r4_json *w)
{
  char *text = r4_json_take(w);
  r4_json_free(w);
  if (!text) return cli_fail(command, R4_E_MEMORY, "");
  fprintf(f, "%s\n", text);
  r4_string_free(text);
  return EXIT_DONE;
}
