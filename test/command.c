#include "command.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/json.h"
#include "base/printable.h"
#include "base/utf8.h"

char command_output[1 << 16];

int command_run(const char *line)
{
  char all[2048];
  int n = snprintf(all, sizeof all, "cd %s; (%s) 2>&1", scratch_folder(), line);
  assert_in_range(n, 1, sizeof all - 1);
  FILE *f = popen(all, "r");
  assert_non_null(f);
  command_output[fread(command_output, 1, sizeof command_output - 1, f)] = 0;
  while (fgetc(f) != EOF) continue;
  int status = pclose(f);
  assert_true(WIFEXITED(status));
  return WEXITSTATUS(status);
}

void command_expect(const char *line, int code, ...)
{
  int got = command_run(line);
  va_list texts;
  va_start(texts, code);
  for (const char *text; (text = va_arg(texts, const char *));)
    if (got != code || !strstr(command_output, text))
      fail_msg("%s: code %d, expected %d; \"%.1500s\", expected \"%s\"", line, got, code, command_output,
               text);
  va_end(texts);
  if (got != code) fail_msg("%s: code %d, expected %d; \"%.1500s\"", line, got, code, command_output);
}

void command_harmless(void)
{
  uint32_t code;
  for (const char *s = command_output; *s;) {
    size_t n = utf8_next(s, &code);
    if (!n || (printable_is_control(code) && code != '\n'))
      fail_msg("byte %zu of \"%s\"", (size_t)(s - command_output), command_output);
    s += n;
  }
}

struct js *command_json(void)
{
  struct js *root = NULL;
  r4_error e = {0};
  if (js_parse("output", command_output, strlen(command_output), &root, &e))
    fail_msg("%s: %s", e.text, command_output);
  return root;
}

void command_lacks(const char *text)
{
  if (strstr(command_output, text)) fail_msg("says \"%s\": \"%.1500s\"", text, command_output);
}
