/* A host program in a locale where 1.5 is "1,5": the library reads and writes numbers as ever. The locale is the
 * system's de_DE if it has one, else one that localedef makes here, of the decimal comma alone. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "scratch.h"

/* ---- The locale ---- */

static bool has_comma(void)
{
  char text[8];
  snprintf(text, sizeof text, "%g", 1.5);
  return !strcmp(text, "1,5");
}

/* The sources of a locale with a decimal comma, in ASCII: without the package "locales" there is no other. */
static void write_sources(void)
{
  FILE *f = fopen(scratch_path("comma"), "w");
  assert_non_null(f);
  fputs("LC_NUMERIC\ndecimal_point \"<U002C>\"\nthousands_sep \"\"\ngrouping -1\nEND LC_NUMERIC\n", f);
  fclose(f);
  assert_non_null(f = fopen(scratch_path("ascii"), "w"));
  fputs("<code_set_name> ASCII\n<comment_char> %\n<escape_char> /\nCHARMAP\n", f);
  for (unsigned c = 0; c < 128; c++) fprintf(f, "<U%04X> /x%02x X\n", c, c);
  fputs("END CHARMAP\n", f);
  fclose(f);
}

static int enter(void **state)
{
  static const char *const known[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8"};
  char line[400];
  if (scratch_make(state)) return -1;
  for (size_t k = 0; k < sizeof known / sizeof *known; k++)
    if (setlocale(LC_ALL, known[k]) && has_comma()) return setenv("LC_ALL", known[k], 1);
  write_sources();
  snprintf(line, sizeof line, "cd %s && localedef -c -f ./ascii -i ./comma ./xx_XX >/dev/null 2>&1",
           scratch_folder());
  if (system(line) == -1) return -1;
  setenv("LOCPATH", scratch_folder(), 1);
  setlocale(LC_ALL, "xx_XX");
  return setenv("LC_ALL", "xx_XX", 1);
}

static int leave(void **state)
{
  setlocale(LC_ALL, "C");
  return scratch_remove(state);
}

#define NEEDS_COMMA() \
  if (!has_comma()) check_skip("no locale with a decimal comma, and localedef makes none")

/* ---- What is written and read ---- */

static double real_of(const r4_settings *s, const char *key)
{
  r4_setting_value v;
  assert_int_equal(r4_settings_get(s, key, &v, NULL), R4_OK);
  return v.real;
}

static void settings(void **state)
{
  (void)state;
  NEEDS_COMMA();
  r4_error e = {0};
  r4_settings *s = r4_settings_new(), *again = r4_settings_new();
  assert_non_null(s);
  if (r4_settings_set(s, "lambda=0.125", "test", &e)) fail_msg("%s", e.text);
  assert_true(real_of(s, "lambda") == .125);
  assert_error(&e, r4_settings_set(s, "data.val=1.5", "test", &e), "from 0 to 0.9");
  assert_error(&e, r4_settings_set(s, "lambda=0,5", "test", &e), "lambda");
  if (r4_settings_save(s, scratch_path("s.yaml"), &e)) fail_msg("%s", e.text);
  if (r4_settings_read(again, scratch_path("s.yaml"), &e)) fail_msg("%s", e.text);
  assert_true(real_of(again, "lambda") == .125);
  char *text = r4_settings_text(s);
  assert_non_null(strstr(text, "lambda: 0.125\n"));
  r4_string_free(text);
  r4_settings_free(s);
  r4_settings_free(again);
}

static void graphs(void **state)
{
  (void)state;
  NEEDS_COMMA();
  r4_error e = {0};
  r4_graph *g = r4_graph_new();
  r4_id y = r4_scale(g, r4_input(g, "x", R4_SHAPE(2)), 1.5), back;
  size_t n;
  char *text = r4_graph_text(g, 1, &y);
  assert_non_null(strstr(text, "value=1.5 "));
  r4_graph *read = r4_graph_parse(text, 1, &back, &n, &e);
  if (!read) fail_msg("%s", e.text);
  char *again = r4_graph_text(read, 1, &back);
  assert_string_equal(text, again);
  r4_string_free(text);
  r4_string_free(again);
  r4_graph_free(read);
  r4_graph_free(g);
}

static void json(void **state)
{
  (void)state;
  NEEDS_COMMA();
  r4_error e = {0};
  struct json_writer w = {0};
  struct js *root = NULL;
  double v = 0;
  jw_open(&w, NULL, '[');
  jw_real(&w, NULL, 1.5);
  jw_real(&w, NULL, 1e-7);
  jw_close(&w, ']');
  char *text = text_take(&w.text);
  assert_string_equal(text, "[1.5,1.0e-07]");
  if (js_parse("test", text, strlen(text), &root, &e)) fail_msg("%s", e.text);
  assert_true(js_number(js_at(root, 0), &v) && v == 1.5);
  assert_true(js_number(js_at(root, 1), &v) && v == 1e-7);
  js_free(root);
  r4_string_free(text);
}

static void errors(void **state)
{
  (void)state;
  NEEDS_COMMA();
  r4_error e = {0};
  const char *message = "";
  r4_fail(&e, R4_E_ARGUMENT, "the value %g", 2.5);
  assert_string_equal(e.text, "the value 2.5");
  r4_data *d = r4_data_open("digits:60", NULL, &e), *none = r4_data_fraction(d, 1.5, 0, &e);
  assert_null(none);
  assert_error(&e, e.status, "a share of 1.5");
  r4_data_free(d);
  r4_graph *g = r4_graph_new();
  r4_net *n = r4_net_open("dense 2", R4_SHAPE(2), &e);
  r4_id param[2];
  r4_net_inputs(n, g, param);
  r4_objective_build(g, n, param, &(r4_objective_options){.method = "r3", .batch = 1, .eps = -1.5});
  r4_graph_status(g, &message);
  assert_non_null(strstr(message, "-1.5"));
  r4_net_free(n);
  r4_graph_free(g);
}

/* ---- A run ---- */

static char *content(const char *name)
{
  uint8_t *bytes = NULL;
  size_t n = 0;
  r4_error e = {0};
  if (file_read(scratch_path(name), 1 << 20, &bytes, &n, &e)) fail_msg("%s", e.text);
  char *text = memcpy(malloc(n + 1), bytes, n);
  text[n] = 0;
  r4_mem_free(bytes);
  return text;
}

/* Each line is JSON, and the number of the key in the last one. */
static double last_number(char *lines, const char *key)
{
  double v = -1;
  for (char *line = lines, *end; *line; line = end + (*end == '\n')) {
    struct js *root = NULL;
    r4_error e = {0};
    end = line + strcspn(line, "\n");
    if (js_parse("line", line, (size_t)(end - line), &root, &e)) fail_msg("%s: %s", e.text, line);
    js_number(js_get(root, key), &v);
    js_free(root);
  }
  return v;
}

static void runs(void **state)
{
  (void)state;
  NEEDS_COMMA();
  static const char *const set[] = {"data=digits:200", "net=dense 10", "epochs=1", "batch=50", "rate=0.0625"};
  r4_error e = {0};
  r4_outcome end;
  r4_settings *s = r4_settings_new();
  for (size_t k = 0; k < sizeof set / sizeof *set; k++)
    if (r4_settings_set(s, set[k], "test", &e)) fail_msg("%s", e.text);
  char folder[200];
  snprintf(folder, sizeof folder, "%s", scratch_path("run"));
  if (r4_train(s, &(r4_train_options){.folder = folder}, &end, &e)) fail_msg("%s", e.text);
  char *log = content("run/log.jsonl"), *manifest = content("run/manifest.json");
  double loss = last_number(log, "loss");
  if (!(loss > 0 && loss < 10)) fail_msg("the loss is %g in %s", loss, log);
  assert_true(loss != (double)(int)loss); /* it has decimals */
  struct js *root = NULL;
  if (js_parse("manifest", manifest, strlen(manifest), &root, &e)) fail_msg("%s", e.text);
  js_free(root);
  free(log);
  free(manifest);
  r4_settings_free(s);
}

/* The data set says how it was made, in words for a shell. */
static void recipes(void **state)
{
  (void)state;
  NEEDS_COMMA();
  r4_error e = {0};
  r4_data *d = r4_data_make("decoy-mnist", &(r4_recipe_options){.from = "digits:100", .val = .25}, &e);
  if (!d) fail_msg("%s", e.text);
  assert_non_null(strstr(r4_data_about(d), "--val 0.25"));
  r4_data_free(d);
}

/* The command prints numbers for machines, whatever LC_ALL says. */
static void the_command(void **state)
{
  (void)state;
  NEEDS_COMMA();
  if (!getenv("R4")) check_skip("$R4, the command, is not set");
  char line[400];
  /* Libraries of others keep memory of such a locale to the end, which a sanitizer would tell. */
  snprintf(line, sizeof line, "ASAN_OPTIONS=detect_leaks=0 $R4 data show digits:60 --json > %s",
           scratch_path("shown"));
  assert_int_equal(system(line), 0);
  char *shown = content("shown");
  assert_non_null(strstr(shown, "\"mean\":0."));
  free(shown);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(settings),    cmocka_unit_test(graphs), cmocka_unit_test(json),
    cmocka_unit_test(errors),      cmocka_unit_test(runs),   cmocka_unit_test(recipes),
    cmocka_unit_test(the_command),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("locale", tests, enter, leave);
}
