/* doc/paper.md has settings with which objectives are as the paper writes them: they are valid, and what is minimised
 * then is what stands in its table. Runs in the root of the tree. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "check.h"
#include "config/settings.h"
#include "objective/objective.h"
#include "train/task.h"

static char *page;

static int open_page(void **state)
{
  (void)state;
  uint8_t *bytes = NULL;
  size_t size = 0;
  if (file_read("doc/paper.md", 1 << 20, &bytes, &size, NULL)) return -1;
  page = calloc(size + 1, 1);
  memcpy(page, bytes, size);
  r4_mem_free(bytes);
  return 0;
}

static int close_page(void **state)
{
  (void)state;
  free(page);
  return 0;
}

static void set(r4_settings *s, const char *assignment, const char *origin)
{
  r4_error e = {0};
  if (r4_settings_set(s, assignment, origin, &e)) fail_msg("%s", e.text);
}

/* The indented lines below "As written". */
static size_t set_common(r4_settings *s)
{
  size_t n = 0;
  char assignment[100];
  const char *at = strstr(page, "\n## As written\n");
  assert_non_null(at);
  for (at = strstr(at, "\n    "); at && !strncmp(at, "\n    ", 5); at = strchr(at + 1, '\n'), n++) {
    size_t key = strcspn(at + 5, ":"), length = strcspn(at + 1, "\n") - 4;
    snprintf(assignment, sizeof assignment, "%.*s=%.*s", (int)key, at + 5, (int)(length - key - 2), at + 5 + key + 2);
    set(s, assignment, "common");
  }
  return n;
}

/* What stands between the next two backquotes of a row, without \ before |. */
static const char *next_code(const char *row, char *to, size_t size)
{
  size_t n = 0;
  const char *at = strchr(row, '`');
  assert_non_null(at);
  for (at++; *at != '`'; at++)
    if (!(at[0] == '\\' && at[1] == '|') && n + 1 < size) to[n++] = *at;
  to[n] = 0;
  return at + 1;
}

static char *minimised(r4_settings *s)
{
  r4_error e = {0};
  if (r4_settings_check(s, &e)) fail_msg("%s", e.text);
  for (size_t k = 0; r4_settings_idle(s, k, &e); k++) /* not every method has an eps */
    if (strstr(e.text, "(row) has no effect")) fail_msg("%s", e.text);
  r4_objective_options o = task_objective(&s->values);
  o.explain = task_explain(&s->values, NULL);
  o.filled = task_fill(&s->values, NULL) != R4_FILL_NONE;
  assert_true(task_penalty_after(&s->values, NULL) == 0 && !s->values.guard && o.explain == R4_EXPLAIN_LOSS);
  char *text = r4_objective_text(&o);
  assert_non_null(text);
  bool masked = strstr(text, "; the mean of ibp-ex is over examples with a mask");
  masked = masked || !strcmp(s->values.method, "ibp-ex");
  assert_true(masked || strstr(text, "over all examples"));
  return text;
}

static void check_row(const char *row)
{
  char method[40], assignment[60], more[100], expected[200], *rest = more;
  r4_settings *s = r4_settings_new();
  assert_true(set_common(s) >= 8);
  row = next_code(row, method, sizeof method);
  row = next_code(row, more, sizeof more);
  next_code(row, expected, sizeof expected);
  snprintf(assignment, sizeof assignment, "method=%s", method);
  set(s, assignment, "row");
  for (char *word; (word = strsep(&rest, " "));) set(s, word, "row");
  char *text = minimised(s), *end = strstr(text, "; ");
  assert_non_null(end);
  *end = 0;
  assert_string_equal(text, expected);
  r4_string_free(text);
  r4_settings_free(s);
}

static void objectives_are_as_written(void **state)
{
  (void)state;
  size_t rows = 0;
  const char *row = strstr(page, "\n| method | further settings |");
  assert_non_null(row);
  row = strchr(row + 1, '\n'); /* the line below the headings */
  for (row = strchr(row + 1, '\n'); row && row[1] == '|'; row = strchr(row + 1, '\n'), rows++) check_row(row);
  assert_int_equal(rows, 7);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(objectives_are_as_written)};
  return cmocka_run_group_tests_name("paper", tests, open_page, close_page);
}
