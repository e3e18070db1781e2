#include "json_out.h"

#include "cli.h"

void json_real(r4_json *w, const char *key, double v)
{
  r4_json_key(w, key);
  r4_json_real(w, v);
}

void json_whole(r4_json *w, const char *key, int64_t v)
{
  r4_json_key(w, key);
  r4_json_whole(w, v);
}

void json_flag(r4_json *w, const char *key, bool v)
{
  r4_json_key(w, key);
  r4_json_flag(w, v);
}

void json_text(r4_json *w, const char *key, const char *s)
{
  r4_json_key(w, key);
  r4_json_text(w, s);
}

void json_open(r4_json *w, const char *key, char bracket)
{
  r4_json_key(w, key);
  r4_json_open(w, bracket);
}

int json_print(FILE *f, const char *command, r4_json *w)
{
  char *text = r4_json_take(w);
  r4_json_free(w);
  if (!text) return cli_fail(command, R4_E_MEMORY, "");
  fprintf(f, "%s\n", text);
  r4_string_free(text);
  return EXIT_DONE;
}
